/// The page that asks for the six-digit code from a message.
///
/// It reads the same for known and unknown users.
package struct CodePage: HostedPage {
    /// The field with the code, in which blanks do not count.
    package static let field = "code"

    /// How the code is sent.
    package enum Channel: Hashable, Sendable {
        /// By email, whose link works too.
        case email
        /// By text message.
        case text
    }

    /// What is wrong with what was sent.
    package enum Problem: Hashable, Sendable {
        /// Not six digits.
        case malformed
        /// Another code than the last one.
        case wrong(triesLeft: Int)
        /// Too late, or too many tries.
        case expired
        /// A new code was asked for too early.
        case tooEarly(seconds: Int)
    }

    /// How the code was sent.
    package var channel: Channel
    /// Where it was sent, if anybody is known there.
    package var address: String
    /// Until when the code is good, in seconds since 1970.
    package var expiresAt: Int
    /// Where the form posts to.
    package var action: String
    /// Where "Send a new code" posts to.
    package var resendAction: String
    /// The wait before a new code can be asked for; nil where it is over.
    package var resendWait: PageCountdown?
    /// Where "Use another way" posts to.
    package var anotherWayAction: String?
    /// What was typed before.
    package var typed: String?
    /// What was wrong with it.
    package var problem: Problem?

    /// Creates the page.
    package init(
        channel: Channel, address: String, expiresAt: Int, action: String, resendAction: String,
        resendWait: PageCountdown? = nil, anotherWayAction: String? = nil, typed: String? = nil,
        problem: Problem? = nil
    ) {
        self.channel = channel
        self.address = address
        self.expiresAt = expiresAt
        self.action = action
        self.resendAction = resendAction
        self.resendWait = resendWait
        self.anotherWayAction = anotherWayAction
        self.typed = typed
        self.problem = problem
    }

    /// Whether something is wrong.
    package var hasError: Bool { problem != nil }

    /// The values of the page.
    package func values(in frame: PageFrame) -> [String: Any] {
        let values: [String: Any?] = [
            "isEmail": channel == .email, "address": address, "action": action, "resend": resendAction,
            "hasResendWait": resendWait != nil, "anotherWay": anotherWayAction, "typed": typed ?? "",
        ]
        return (resendWait?.values(in: frame) ?? [:]).merging(Dictionary(present: values)) { $1 }
            .merging(problemValues) { $1 }.merging(["until": frame.timeOfDay(expiresAt)]) { $1 }
    }

    private var problemValues: [String: Any] {
        switch problem {
        case .malformed: ["hasFieldError": true, "isMalformed": true]
        case .wrong(triesLeft: 1): ["hasFieldError": true, "isWrongOnce": true]
        case .wrong(let tries): ["hasFieldError": true, "isWrong": true, "tries": String(tries)]
        case .expired: ["isGone": true]
        case .tooEarly(seconds: 1): ["isTooEarlyOnce": true]
        case .tooEarly(let seconds): ["isTooEarly": true, "seconds": String(seconds)]
        case nil: [:]
        }
    }

    /// The template of the page.
    package static let template = PageTemplate(
        "code", heading: heading, scripts: [.clock],
        main: """
            {{^isGone}}
            <p>{{#isEmail}}[[codeTextEmail]]{{/isEmail}}{{^isEmail}}[[codeTextText]]{{/isEmail}}</p>
            {{/isGone}}
            \(form)
            {{#anotherWay}}
            <p class="acts"><button class="link" form="other" formaction="{{anotherWay}}">[[useAnotherWay]]</button></p>
            {{/anotherWay}}
            </div>
            """)

    /// The heading, which ``AddressCodePage`` has too.
    static let heading = "{{#isEmail}}[[codeHeadingEmail]]{{/isEmail}}{{^isEmail}}[[codeHeadingText]]{{/isEmail}}"

    /// The field and what sends a new code, for ``AddressCodePage`` too; the last element is open for other ways out.
    ///
    /// A code that is no longer good has no field: sending a new one is all that can be done.
    static let form = """
        {{#isGone}}
        \(PageFrame.refusing("[[codeGone]]"))
        <div>
        {{/isGone}}
        {{^isGone}}
        <form method="post" action="{{action}}" novalidate="novalidate">\(PageFrame.sealedRequest)
        <label for="code">[[codeLabel]]</label>
        {{#hasFieldError}}
        <p class="error" id="problem">\(Icons.sign)<span>\
        {{#isMalformed}}[[codeMalformed]]{{/isMalformed}}{{#isWrong}}[[codeWrong]]{{/isWrong}}\
        {{#isWrongOnce}}[[codeWrongOnce]]{{/isWrongOnce}}</span></p>
        {{/hasFieldError}}
        <input class="code" id="code" name="code" value="{{typed}}" inputmode="numeric" \
        autocomplete="one-time-code" spellcheck="false" dir="ltr"\
        {{#hasFieldError}} aria-invalid="true" aria-describedby="problem" autofocus="autofocus"{{/hasFieldError}} />
        <p class="acts"><button class="filled">[[continueButton]]</button></p>
        </form>
        <div class="rule">
        <p>{{#isEmail}}[[nothingThereEmail]]{{/isEmail}}{{^isEmail}}[[nothingThereText]]{{/isEmail}}</p>
        {{/isGone}}
        {{#hasResendWait}}
        <p class="small if-live" data-begins="{{begins}}" data-ends="{{ends}}" data-now="{{now}}" \
        data-shows="resend" data-says-end="[[sayResend|plain]]">[[resendWait]]</p>
        {{/hasResendWait}}
        <div class="acts{{#hasResendWait}} if-still{{/hasResendWait}}" id="resend">
        {{#isTooEarly}}
        <p class="error">\(Icons.sign)<span>[[resendTooEarly]]</span></p>
        {{/isTooEarly}}
        {{#isTooEarlyOnce}}
        <p class="error">\(Icons.sign)<span>[[resendTooEarlyOnce]]</span></p>
        {{/isTooEarlyOnce}}
        <button class="{{#isGone}}filled{{/isGone}}{{^isGone}}outlined{{/isGone}}" form="other" \
        formaction="{{resend}}">[[sendNewCode]]</button>
        </div>
        """
}
