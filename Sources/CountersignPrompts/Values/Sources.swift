public import Countersign
public import Foundation

/// What an untrusted device shows while its person signs in on another one.
public struct WaitingNumber: Hashable, Sendable {
    /// The digits to type on the trusted device; nil if no device is asked.
    public let number: String?
    /// The code to type on the page at ``page``.
    public let userCode: String
    /// The page, to be opened on any other device.
    public let page: URL
    /// The page with the code in its address, for a QR code; nil for none.
    public let pageWithCode: URL?
    /// How long the person has.
    public let timeLeft: Duration

    /// What is shown, of these parts.
    public init(number: String?, userCode: String, page: URL, pageWithCode: URL? = nil, timeLeft: Duration) {
        self.number = number
        self.userCode = userCode
        self.page = page
        self.pageWithCode = pageWithCode
        self.timeLeft = timeLeft
    }
}

/// A sign-in that is approved on another device.
public protocol ElsewhereSignIn: Sendable {
    /// Signs somebody in; returns when somebody is signed in.
    ///
    /// - Parameter show: takes what the device shows; it is called once.
    func signIn(showing show: @escaping @Sendable (WaitingNumber) async -> Void) async throws(CountersignError)
}

/// A PIN that is set or changed.
public protocol PINKeeper: Sendable {
    /// How the PIN stands, and the rules for a new one.
    func status() async throws(CountersignError) -> PINStatus
    /// Sets the first PIN.
    func set(_ pin: PIN) async throws(CountersignError)
    /// Replaces the PIN.
    func change(from old: PIN, to new: PIN) async throws(CountersignError)
}

/// How the PIN of a device stands.
public struct PINStatus: Hashable, Sendable {
    /// Whether there is one.
    public enum Kind: Hashable, Sendable {
        /// There is none.
        case none
        /// There is one, and so many wrong ones are left.
        case set(attemptsLeft: Int)
        /// It is locked.
        case locked
    }

    /// Whether there is one.
    public let kind: Kind
    /// The rules for a new one.
    public let rules: PINRules

    /// A status of these parts.
    public init(kind: Kind, rules: PINRules = .standard) {
        self.kind = kind
        self.rules = rules
    }
}

/// What a scanned text or an opened link is.
public enum ScannedKind: Hashable, Sendable {
    /// A ticket, which enrolls this device.
    case ticket
    /// The code of a challenge.
    case code
    /// Nothing of ours.
    case unknown
}

/// Reads what is scanned, and claims challenges.
public protocol ScanReader: Sendable {
    /// What a scanned text is.
    func kind(of text: String) -> ScannedKind
    /// Claims the challenge of a scanned code.
    func claim(_ text: String) async throws(CountersignError) -> any OpenQuestion
    /// Claims the challenge of a link that was opened on this device.
    func claim(link: URL) async throws(CountersignError) -> any OpenQuestion
}

/// A code that is shown to be scanned.
public struct ShownCode: Hashable, Sendable {
    /// The text of the QR code.
    public let text: String
    /// How long it is good.
    public let timeLeft: Duration

    /// A code of these parts.
    public init(text: String, timeLeft: Duration) {
        self.text = text
        self.timeLeft = timeLeft
    }
}

/// Makes codes that are shown to be scanned.
public protocol CodeSource: Sendable {
    /// A new code; the one before is good no longer than it said.
    func makeCode() async throws(CountersignError) -> ShownCode
}

/// A device that was enrolled and waits to be approved by another one, as it sees itself.
public protocol WaitingDevice: Sendable {
    /// When it becomes active, in milliseconds since 1970; nil when it is active.
    func waitingUntil() async throws(CountersignError) -> Int64?
    /// Removes it.
    func undo() async throws(CountersignError)
}

/// A custom authenticator that is registered or given up.
public protocol CustomRegistrar: Sendable {
    /// The authenticator's name.
    var name: String { get }
    /// Whether it is registered, and whether a change needs the PIN.
    func status() async throws(CountersignError) -> (isRegistered: Bool, needsPIN: Bool)
    /// Registers it; returns its data for the app, or nil.
    func register(_ data: String, pin: PIN?) async throws(CountersignError) -> String?
    /// Gives it up.
    func deregister(pin: PIN?) async throws(CountersignError)
}

/// A row of the list of pending questions.
public struct PendingRow: Hashable, Identifiable, Sendable {
    /// The challenge's id.
    public let id: String
    /// The name of the one who asks.
    public let client: String
    /// The short message; the whole question is in the prompt.
    public let message: String
    /// When it was asked, in milliseconds since 1970.
    public let askedAt: Int64
    /// How long the person has from now on.
    public let timeLeft: Duration

    /// A row of these parts.
    public init(id: String, client: String, message: String, askedAt: Int64, timeLeft: Duration) {
        self.id = id
        self.client = client
        self.message = message
        self.askedAt = askedAt
        self.timeLeft = timeLeft
    }
}

/// A pending question: its row, and how it is opened.
public struct PendingItem: Sendable {
    /// The row.
    public let row: PendingRow
    /// Fetches and verifies the question.
    public let source: any QuestionSource
    /// Whether it may be about another account than others in the list.
    public let isOfOneOfSeveral: Bool
    /// The name of its account, as the app knows it; nil for that of the list, where there is no other one.
    public let account: String?

    /// An item of these parts.
    public init(
        row: PendingRow, source: any QuestionSource, account: String? = nil, isOfOneOfSeveral: Bool = false
    ) {
        self.row = row
        self.source = source
        self.account = account
        self.isOfOneOfSeveral = isOfOneOfSeveral
    }
}

/// The questions that wait for this device.
public protocol PendingSource: Sendable {
    /// The questions that wait now, newest first.
    func pending() async throws(CountersignError) -> [PendingItem]
}

/// A row of the list of devices.
public struct DeviceRow: Hashable, Identifiable, Sendable {
    /// How the device stands.
    public enum Standing: Hashable, Sendable {
        /// It can approve.
        case active
        /// It waits until then, in milliseconds since 1970; nil if that is not known.
        case waiting(until: Int64?)
        /// It can do nothing until it is resumed.
        case suspended
    }

    /// A method that is set and does not count yet.
    public struct WaitingMethod: Hashable, Sendable {
        /// The method's name in the API: `pin`, `biometric` or `custom:` and a name.
        public let name: String
        /// The method.
        public let method: PromptMethod
        /// From when it counts, in milliseconds since 1970.
        public let countsFrom: Int64

        /// A method of these parts.
        public init(name: String, method: PromptMethod, countsFrom: Int64) {
            self.name = name
            self.method = method
            self.countsFrom = countsFrom
        }
    }

    /// The id of its enrollment.
    public let id: String
    /// What it is called.
    public let name: String
    /// Whether it is this device.
    public let isThisOne: Bool
    /// How it stands.
    public let standing: Standing
    /// When it was enrolled, in milliseconds since 1970; nil if that is not known.
    public let enrolledAt: Int64?
    /// The methods that are set.
    public let methods: [PromptMethod]
    /// The methods that are set and do not count yet, in the order of their names.
    public let waitingMethods: [WaitingMethod]

    /// A row of these parts.
    public init(
        id: String, name: String, isThisOne: Bool = false, standing: Standing = .active, enrolledAt: Int64? = nil,
        methods: [PromptMethod] = [], waitingMethods: [WaitingMethod] = []
    ) {
        self.id = id
        self.name = name
        self.isThisOne = isThisOne
        self.standing = standing
        self.enrolledAt = enrolledAt
        self.methods = methods
        self.waitingMethods = waitingMethods
    }
}

/// The devices of the person.
public struct DeviceList: Hashable, Sendable {
    /// The devices, this one first.
    public let rows: [DeviceRow]
    /// By what this device proves acts on others; empty if a tap is enough.
    public let proofs: [PromptMethod]

    /// A list of these parts.
    public init(rows: [DeviceRow], proofs: [PromptMethod] = []) {
        self.rows = rows
        self.proofs = proofs
    }
}

/// Lists the person's devices, and acts on them.
public protocol DeviceDirectory: Sendable {
    /// The devices.
    func devices() async throws(CountersignError) -> DeviceList
    /// Suspends a device.
    func suspend(_ id: String, with proof: Proof?) async throws(CountersignError)
    /// Resumes a device.
    func resume(_ id: String, with proof: Proof?) async throws(CountersignError)
    /// Removes a device, which may be this one.
    func remove(_ id: String, with proof: Proof?) async throws(CountersignError)
    /// Undoes a method, by its name in the API, that does not count yet.
    func undo(_ method: String, of id: String) async throws(CountersignError)
}
