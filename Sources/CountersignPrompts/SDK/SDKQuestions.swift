public import Countersign
import CountersignWire
public import Foundation

/// A pending challenge of the SDK, as a prompt opens it.
public struct PendingQuestion: QuestionSource {
    private let pending: PendingChallenge
    private let authenticator: Authenticator

    /// The question of a challenge.
    public init(_ pending: PendingChallenge, of authenticator: Authenticator) {
        self.pending = pending
        self.authenticator = authenticator
    }

    /// See ``QuestionSource/open()``.
    public func open() async throws(CountersignError) -> any OpenQuestion {
        SDKQuestion(try await pending.open(), at: await authenticator.millisecondsSince1970)
    }
}

/// An opened challenge of the SDK, as a prompt answers it.
public struct SDKQuestion: OpenQuestion {
    /// See ``OpenQuestion/question``.
    public let question: PromptQuestion
    private let opened: OpenedChallenge

    /// The question of a challenge.
    ///
    /// - Parameters:
    ///   - opened: the challenge.
    ///   - now: the time, as `Authenticator.millisecondsSince1970` gives it.
    public init(_ opened: OpenedChallenge, at now: Int64) {
        self.opened = opened
        question = PromptQuestion(
            id: "\(opened.id)", client: opened.client.name, message: opened.message,
            details: opened.details.map { PromptFact(label: $0.label, value: $0.value) }, context: opened.context,
            signingData: opened.signingData, signedLines: opened.signedLines, askedAt: opened.askedAt.milliseconds,
            timeLeft: .milliseconds(max(0, opened.expiresAt.milliseconds - now)), numberLength: opened.numberLength,
            methods: opened.methods.map { PromptMethod($0) }, attemptsLeft: opened.attemptsLeft,
            origin: opened.isLink ? .link : opened.isClaimed ? .code : .asked)
    }

    /// See ``OpenQuestion/approve(with:number:)``.
    public func approve(with proof: Proof, number: String?) async throws(CountersignError) -> PromptApproval {
        let approved = try await opened.approve(with: proof, number: number)
        return PromptApproval(payload: approved.payload, returnURL: approved.returnURL)
    }

    /// See ``OpenQuestion/deny()``.
    public func deny() async throws(CountersignError) { try await opened.deny() }

    /// See ``OpenQuestion/report()``.
    public func report() async throws(CountersignError) { try await opened.report() }
}

/// The pending challenges of an authenticator, of all its enrollments.
public struct SDKPending: PendingSource {
    private let authenticator: Authenticator
    private let account: @Sendable (String) -> String?

    /// The challenges of an authenticator.
    ///
    /// - Parameters:
    ///   - authenticator: the authenticator.
    ///   - account: the name of an enrollment's account, by the enrollment's id, as the app knows it; nil for none.
    public init(_ authenticator: Authenticator, account: @escaping @Sendable (String) -> String? = { _ in nil }) {
        self.authenticator = authenticator
        self.account = account
    }

    /// See ``PendingSource/pending()``.
    public func pending() async throws(CountersignError) -> [PendingItem] {
        let now = await authenticator.millisecondsSince1970
        let isOne = await authenticator.enrollments.count == 1
        return try await authenticator.pendingChallenges().map { item($0, at: now, isOfOneOfSeveral: !isOne) }
    }

    /// The item of a challenge that has arrived, for ``PendingListModel/take(_:)``.
    public func item(_ pending: PendingChallenge) async -> PendingItem {
        let isOne = await authenticator.enrollments.count == 1
        return item(pending, at: await authenticator.millisecondsSince1970, isOfOneOfSeveral: !isOne)
    }

    private func item(_ pending: PendingChallenge, at now: Int64, isOfOneOfSeveral: Bool) -> PendingItem {
        PendingItem(
            row: PendingRow(
                id: "\(pending.id)", client: pending.clientName, message: pending.message,
                askedAt: pending.askedAt.milliseconds,
                timeLeft: .milliseconds(max(0, pending.expiresAt.milliseconds - now))),
            source: PendingQuestion(pending, of: authenticator), account: account("\(pending.enrollment)"),
            isOfOneOfSeveral: isOfOneOfSeveral)
    }
}

/// Reads codes and links for an enrollment.
public struct SDKScanReader: ScanReader {
    private let enrollment: Enrollment
    private let authenticator: Authenticator

    /// A reader for an enrollment.
    public init(_ enrollment: Enrollment, of authenticator: Authenticator) {
        self.enrollment = enrollment
        self.authenticator = authenticator
    }

    /// See ``ScanReader/kind(of:)``.
    public func kind(of text: String) -> ScannedKind {
        if Authenticator.isChallengeCode(text) { return .code }
        return EnrollmentInvitation(text) == nil ? .unknown : .ticket
    }

    /// See ``ScanReader/claim(_:)``.
    public func claim(_ text: String) async throws(CountersignError) -> any OpenQuestion {
        SDKQuestion(try await enrollment.claim(text), at: await authenticator.millisecondsSince1970)
    }

    /// See ``ScanReader/claim(link:)``.
    public func claim(link: URL) async throws(CountersignError) -> any OpenQuestion {
        SDKQuestion(try await enrollment.claim(link: link), at: await authenticator.millisecondsSince1970)
    }
}

extension PromptMethod {
    /// The method of the SDK's name.
    init(_ method: AnswerMethod) {
        switch method {
        case .confirm: self = .confirmation
        case .pin: self = .pin
        case .biometric: self = .biometric
        case .custom(let name): self = .custom("\(name)")
        }
    }
}
