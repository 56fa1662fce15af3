public import Countersign
public import Foundation

/// A label and its value.
public struct PromptFact: Hashable, Sendable {
    /// The label.
    public let label: String
    /// The value.
    public let value: String

    /// A fact of these parts.
    public init(label: String, value: String) {
        self.label = label
        self.value = value
    }
}

/// How a person approves.
public enum PromptMethod: Hashable, Sendable {
    /// By the device alone.
    case confirmation
    /// By the PIN.
    case pin
    /// By a fingerprint or a face.
    case biometric
    /// By the app's custom authenticator of this name.
    case custom(String)
}

/// Everything about a challenge that a person must see before they answer.
public struct PromptQuestion: Hashable, Sendable {
    /// How the challenge came to this device.
    public enum Origin: Hashable, Sendable {
        /// The server has asked this device.
        case asked
        /// A code was scanned.
        case code
        /// A link was opened.
        case link
    }

    /// The challenge's id.
    public let id: String
    /// The name of the one who asks.
    public let client: String
    /// What is asked.
    public let message: String
    /// Amount, payee and the like, in order.
    public let details: [PromptFact]
    /// Where it was started, such as a browser, an address and a place; nil if that is not known.
    public let context: String?
    /// Further data that the answer signs; nil for none.
    public let signingData: String?
    /// Every line of the text that the answer signs.
    public let signedLines: [String]
    /// When it was asked, in milliseconds since 1970.
    public let askedAt: Int64
    /// How long the person has from now on.
    public let timeLeft: Duration
    /// How many digits must be typed; nil for none.
    public let numberLength: Int?
    /// The ways to approve, the preferred one first.
    public let methods: [PromptMethod]
    /// How many wrong PINs are left, as far as that is known.
    public let attemptsLeft: Int?
    /// How it came to this device.
    public let origin: Origin

    /// A question of these parts.
    public init(
        id: String, client: String, message: String, details: [PromptFact] = [], context: String? = nil,
        signingData: String? = nil, signedLines: [String] = [], askedAt: Int64, timeLeft: Duration,
        numberLength: Int? = nil, methods: [PromptMethod] = [.confirmation], attemptsLeft: Int? = nil,
        origin: Origin = .asked
    ) {
        self.id = id
        self.client = client
        self.message = message
        self.details = details
        self.context = context
        self.signingData = signingData
        self.signedLines = signedLines
        self.askedAt = askedAt
        self.timeLeft = timeLeft
        self.numberLength = numberLength
        self.methods = methods
        self.attemptsLeft = attemptsLeft
        self.origin = origin
    }
}

/// What came of an approval.
public struct PromptApproval: Hashable, Sendable {
    /// What a custom authenticator returned to the app; nil for nothing.
    public let payload: String?
    /// The URL to open at once in the person's browser; nil unless the challenge was opened by a link.
    public let returnURL: URL?

    /// An approval of these parts.
    public init(payload: String? = nil, returnURL: URL? = nil) {
        self.payload = payload
        self.returnURL = returnURL
    }
}

/// A question that is still to be fetched and verified.
public protocol QuestionSource: Sendable {
    /// Fetches and verifies it.
    func open() async throws(CountersignError) -> any OpenQuestion
}

/// A verified question, which can be answered.
public protocol OpenQuestion: Sendable {
    /// What the person must see.
    var question: PromptQuestion { get }

    /// Approves it.
    func approve(with proof: Proof, number: String?) async throws(CountersignError) -> PromptApproval

    /// Denies it.
    func deny() async throws(CountersignError)

    /// Denies it, and reports that somebody else started it.
    func report() async throws(CountersignError)
}
