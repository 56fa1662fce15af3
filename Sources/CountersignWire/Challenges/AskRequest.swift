/// What a relying party asks of a user.
package struct AskRequest: Sendable {
    /// The user; nil for the one whose device presents the code, where the type has one.
    package var user: UserReference?
    /// The challenge type.
    package var type: TypeName
    /// The short message; nil for what the type says.
    package var message: DisplayMessage?
    /// The message to be shown and signed, where it is another than the short one.
    package var secureMessage: DisplayMessage?
    /// Amount, payee and the like.
    package var details: [Detail] = []
    /// Data to be signed along.
    package var signingData: SigningData?
    /// From where the user started this.
    package var context: ContextLine?
    /// What the client knows the user's browser by.
    package var browser: BrowserID?
    /// Whether a number must be typed; nil for what the type says.
    package var numberEntry: Bool?
    /// For how long; nil for what the type says.
    package var lifetime: Seconds?
    /// By which methods; nil for what the type says.
    package var methods: [AnswerMethod]?
    /// On which devices; nil for all that can.
    package var enrollments: [EnrollmentID]?
    /// Where to report the end.
    package var callbackURI: CallbackURI?
    /// In which form; a vendor's form is for the calls of that vendor alone.
    package var callbackForm = CallbackForm.native
    /// Where the device returns to that opens the code as a link; nil where the code is scanned.
    package var returnURI: ReturnURI?
    /// The telephone number a code is sent to.
    ///
    /// The client vouches that it is the user's. Nil where only devices can answer.
    package var phone: PhoneNumber?
    /// What the user's browser got for a solved captcha, where a code is sent for it alone.
    package var captchaToken: CaptchaToken?
    /// The language of the texts.
    package var locale: RequestedLanguage?
    /// Returned to the client with the challenge.
    package var clientState: String?

    /// A request for a user or, by a type with a code, for anybody; by a type, with a message or the type's own.
    package init(user: UserReference?, type: TypeName, message: DisplayMessage?) {
        self.user = user
        self.type = type
        self.message = message
    }
}
