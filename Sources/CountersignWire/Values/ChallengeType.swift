package import Encodings

/// A policy a client may ask by.
///
/// Requests can tighten it and never loosen it.
package struct ChallengeType: Hashable, Sendable {
    /// Its name.
    package let name: TypeName
    /// The methods allowed, in order.
    package let methods: [AnswerMethod]
    /// How its challenges reach whoever answers them; those by text message leave no receipt.
    package let channel: ChannelKind
    /// How long a challenge lives, and the longest a request may ask for.
    package let lifetime: Seconds
    /// Whether a number shown by the asking side must be typed on the device.
    package let numberEntry: Bool
    /// Whether a request may bring signing data.
    package let signingData: Bool
    /// The least an answer must prove.
    package let assurance: Assurance
    /// Whether it is labelled AAL2: then NIST SP 800-63B-4 accepts it, and devices with keys in software are not asked.
    package let isAAL2: Bool
    /// The type that is asked by where no device can answer by this one; nil for none.
    package let fallback: TypeName?
    /// The type with a code that is asked by where the user has approved nothing from the browser at hand before; nil
    /// where browsers do not matter.
    package let unknownBrowser: TypeName?
    /// How many challenges of one client may be open for one user.
    package let maximumPending: Int
    /// How often a client may ask a user within an hour without being approved once.
    package let maximumAsks: Int
    /// How long a client must wait after a user's second denial in a row; twice as long after each further one.
    package let denialPause: Seconds
    /// How often a challenge may be answered wrongly, by PINs and custom authenticators together, before it fails; nil
    /// for as often as those allow.
    package let attempts: Int?
    /// How often a challenge may be announced again.
    package let maximumResends: Int
    /// What is asked, by language, where a request says nothing itself.
    package let texts: [LanguageTag: DisplayMessage]
    /// Who may ask by it; nil for every client.
    package let clients: Set<ClientID>?
    /// The captcha that must have been solved before a code is sent by text message; nil for none.
    package let captcha: CaptchaName?

    /// How many languages it may have texts in, and how many clients it may name.
    package static let (maximumTexts, maximumClients) = (100, 1000)
    /// How long unapproved asks count.
    package static let askWindow = Seconds.hours(1)
    /// The longest any challenge may live.
    package static let longestLifetime = Seconds.days(1)
    /// The longest a challenge with a code may live.
    ///
    /// Spec: docs/protocol/codes-and-links.md, *The code*.
    package static let longestCode = Seconds.minutes(3)
    /// The longest six digits that were sent may be typed.
    ///
    /// Spec: NIST SP 800-63B-4 §3.1.3.2.
    package static let longestText = Seconds.minutes(10)

    /// The type that possession of the device answers.
    package static let confirm = ChallengeType(name: .confirm)
    /// Every type that exists from the start.
    package static let builtIn = [
        confirm, ChallengeType(name: .pin, methods: [.pin]),
        ChallengeType(name: .biometric, methods: [.biometric, .pin]),
        ChallengeType(name: .qr, channel: .code, lifetime: longestCode),
    ]

    /// A type of these parts; what is left out is as in ``confirm``, as far as that fits the channel.
    package init(
        name: TypeName, methods: [AnswerMethod]? = nil, channel: ChannelKind = .devices, lifetime: Seconds? = nil,
        numberEntry: Bool? = nil, signingData: Bool? = nil, assurance: Assurance? = nil, isAAL2: Bool = false,
        fallback: TypeName? = nil, unknownBrowser: TypeName? = nil, maximumPending: Int? = nil,
        maximumAsks: Int? = nil, denialPause: Seconds? = nil, attempts: Int? = nil, maximumResends: Int? = nil,
        texts: [LanguageTag: DisplayMessage] = [:], clients: Set<ClientID>? = nil, captcha: CaptchaName? = nil
    ) {
        let isText = channel == .text
        self.name = name
        self.methods = methods ?? (isText ? [] : [.confirm])
        self.channel = channel
        self.lifetime = lifetime ?? (isText ? 300 : 120)
        // What is scanned has come from the screen where the user started it: no number need be typed, too.
        self.numberEntry = numberEntry ?? (channel == .devices)
        self.signingData = signingData ?? !isText
        self.assurance = assurance ?? (isText ? .event : .receipt)
        self.isAAL2 = isAAL2
        self.fallback = fallback
        self.unknownBrowser = unknownBrowser
        self.maximumPending = maximumPending ?? 3
        self.maximumAsks = maximumAsks ?? 10
        self.denialPause = denialPause ?? 30
        self.attempts = attempts
        self.maximumResends = maximumResends ?? 3
        self.texts = texts
        self.clients = clients
        self.captcha = captcha
    }

    /// The type as JSON.
    package var json: JSONValue {
        .members([
            "name": .string("\(name)"), "methods": .array(methods.map { .string($0.rawValue) }),
            "qr": .bool(channel == .code), "text_code": .bool(channel == .text), "expires_in": .integer(lifetime.value),
            "number_entry": .bool(numberEntry),
            "signing_data": .bool(signingData),
            "assurance": .string(assurance.rawValue), "aal2": .bool(isAAL2),
            "fallback": fallback.map { .string("\($0)") },
            "unknown_browser": unknownBrowser.map { .string("\($0)") }, "max_pending": .integer(Int64(maximumPending)),
            "max_asks": .integer(Int64(maximumAsks)), "denial_pause": .integer(denialPause.value),
            "attempts": attempts.map { .integer(Int64($0)) }, "max_resends": .integer(Int64(maximumResends)),
            "texts": textsJSON, "clients": clients.map { .array($0.sorted().map { .string("\($0)") }) },
            "captcha": captcha.map { .string("\($0)") },
        ])
    }

    private var textsJSON: JSONValue {
        var object = JSONObject()
        for (language, text) in texts.sorted(by: { $0.key.description < $1.key.description }) {
            object[language.description] = .string(text.text)
        }
        return .object(object)
    }
}
