import Crypto
public import CountersignWire
import Encodings
public import Foundation
import OpenPGP

/// How the user proves to be there.
public enum Proof: Sendable {
    /// By possession of the device alone.
    case confirmation
    /// By the PIN of the enrollment, too.
    case pin(PIN)
    /// By a biometric of the user, too; what the system's prompt says.
    case biometric(prompt: String)
    /// By a custom authenticator of this name, which the one who runs the app judges by this data.
    case custom(String, data: String)
}

/// What came of an approval that was taken.
public struct Approved: Sendable {
    /// What a custom authenticator says to the app; nil for nothing.
    public let payload: String?
    /// What the app opens at once, with the user's browser; nil where nothing is held back.
    ///
    /// It is there for links (``OpenedChallenge/isLink``): until the browser is there, nobody is told of the approval.
    /// It works once, for two minutes. It leads to the place that the signed challenge names, with a code that was sealed
    /// to this device.
    public let returnURL: URL?
}

/// A challenge that was fetched, decrypted and verified: the only thing that can be approved or denied.
///
/// Everything to be shown is in it, and everything in it is signed.
public struct OpenedChallenge: Sendable {
    /// Who asks.
    public struct Client: Hashable, Sendable {
        /// The id.
        public let id: String
        /// The name.
        public let name: String
    }

    /// A label and its value.
    public struct Detail: Hashable, Sendable {
        /// The label.
        public let label: String
        /// The value.
        public let value: String
    }

    /// The challenge's id.
    public var id: ChallengeID { body.question.challenge }
    /// Who asks.
    public var client: Client { Client(id: "\(body.question.client)", name: body.question.clientName.text) }
    /// What is asked.
    public var message: String { body.question.message.text }
    /// Amount, payee and the like, in order.
    public var details: [Detail] {
        body.question.details.map { Detail(label: $0.label.text, value: $0.value.text) }
    }
    /// From where it was asked.
    public var context: String? { body.question.context?.text }
    /// The name of the challenge type.
    public var type: String { "\(body.question.type)" }
    /// Data to be signed along.
    public var signingData: String? { body.question.signingData }
    /// How it may be approved, in the order the client prefers.
    public var methods: [AnswerMethod] { body.methods }
    /// How many wrong PINs are left, as it stood when the challenge was opened; nil where a PIN does not approve it.
    public var attemptsLeft: Int? { body.attemptsLeft }
    /// How many digits must be typed; nil for none.
    public var numberLength: Int? { body.numberEntry }
    /// Whether it was claimed by its code; then the user goes on only if that was on a screen of their own, where they
    /// started this themselves.
    public var isClaimed: Bool { body.isClaimed }
    /// Whether it was claimed by a link, on the device where it was started; then the user goes on only if they followed
    /// the link themselves, where they started this.
    public var isLink: Bool { body.isLink }
    /// When it was asked.
    public var askedAt: Timestamp { body.question.askedAt }
    /// When it ends unanswered.
    public var expiresAt: Timestamp { body.expiresAt }

    /// The text that is signed, line by line, without the lines that the decision adds.
    public var signedLines: [String] {
        let receipt = Receipt(
            of: body.question, user: stored.user, device: stored.certificate.fingerprint, decision: .denied,
            answeredAt: askedAt)
        // Field lines come first; the message is free to hold lines that look like one.
        var isMessage = false
        return receipt.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init).filter { line in
            isMessage = isMessage || line == "message:"
            return isMessage || !(line.hasPrefix("decision: ") || line.hasPrefix("answered: "))
        }
    }

    private let body: ChallengeBody
    private let stored: StoredEnrollment
    private let authenticator: Authenticator

    init(_ body: ChallengeBody, stored: StoredEnrollment, authenticator: Authenticator) {
        self.body = body
        self.stored = stored
        self.authenticator = authenticator
    }

    /// Whether it may be approved on a notification that showed this.
    func category(showing alert: PushAlert) -> PushCategory {
        PushCategory(
            body.question, methods: body.methods, asksNumber: body.numberEntry != nil, isClaimed: body.isClaimed,
            showing: alert)
    }

    /// Approves.
    ///
    /// - Parameters:
    ///   - proof: how the user proves to be there.
    ///   - number: the digits the user typed, where ``numberLength`` asks for them.
    /// - Throws: ``CountersignError/numberIncorrect`` when the number was wrong, which ends the challenge;
    ///   ``CountersignError/pinIncorrect(attemptsLeft:)`` when the PIN was, and then the same challenge can be approved
    ///   again unless no attempt is left. ``CountersignError/customRetry(attemptsLeft:payload:)``,
    ///   ``CountersignError/customFailed(payload:)``, ``CountersignError/customNotRegistered`` and
    ///   ``CountersignError/customUnavailable`` leave the challenge open, too: it can be approved by another of its
    ///   ``methods``.
    /// - Returns: what is to be done with it; for the app to look at where it claims by links or has custom
    ///   authenticators.
    @discardableResult
    public func approve(with proof: Proof, number: String? = nil) async throws(CountersignError) -> Approved {
        var typed: EntryNumber?
        if let length = body.numberEntry {
            guard let number = number.flatMap({ EntryNumber($0) }) else { throw .numberRequired(length: length) }
            typed = number
        }
        let method: AnswerMethod
        switch proof {
        case .confirmation: method = .confirm
        case .pin: method = .pin
        case .biometric: method = .biometric
        case .custom(let name, _):
            guard let name = AuthenticatorName(name) else {
                throw .configurationInvalid("\"\(name)\" is no name of an authenticator")
            }
            method = .custom(name)
        }
        guard body.methods.contains(method) else {
            throw .notHandleable(reason: "it cannot be answered by \(method.rawValue)")
        }
        let taken = try await answer(.approved(method, number: typed), by: proof)
        let target = taken.returnCode.flatMap { body.returnURI?.bringing($0) }
        return Approved(payload: taken.reply.payload, returnURL: target.flatMap { URL(string: $0.reveal()) })
    }

    /// Says no.
    public func deny() async throws(CountersignError) {
        _ = try await answer(.denied)
    }

    /// Says no, and that somebody else started this.
    public func report() async throws(CountersignError) {
        _ = try await answer(.reported)
    }

    private func answer(
        _ decision: Decision, by proof: Proof = .confirmation
    ) async throws(CountersignError) -> TakenAnswer {
        let taken = try await authenticator.answer(
            body.question, decision, by: proof, for: stored, until: body.expiresAt, isLink: body.isLink)
        let status = taken.reply.status
        switch (decision, status.state) {
        case (.approved, "approved"), (.denied, "denied"), (.reported, "denied"): return taken
        case (_, "failed") where status.reason == "wrong_number": throw .numberIncorrect
        default: throw CountersignError(ended: status.state, reason: status.reason)
        }
    }
}
