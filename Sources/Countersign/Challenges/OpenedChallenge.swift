import Crypto
public import CountersignWire
import Encodings
public import Foundation
import OpenPGP

/// How the user proves an approval.
public enum Proof: Sendable {
    /// Possession of the device alone.
    case confirmation
    /// Possession, and the PIN of the enrollment.
    case pin(PIN)
    /// Possession, and a biometric of the user; `prompt` is the text of the system's prompt.
    case biometric(prompt: String)
    /// Possession, and data that the custom authenticator of this name judges; the app's operator runs the
    /// authenticator.
    case custom(String, data: String)
}

/// The result of an approval that the server has accepted.
public struct Approved: Sendable {
    /// The data that a custom authenticator returned to the app; nil for none.
    public let payload: String?
    /// The URL to open at once in the user's browser; nil if the challenge was not opened by a link.
    ///
    /// For a link (``OpenedChallenge/isLink``) the relying party sees the approval only when the browser has opened
    /// this URL. The URL works once, for two minutes. It leads to the place that the signed challenge names, with a
    /// return code that was sealed to this device.
    public let returnURL: URL?
}

/// A challenge that the server has sent, decrypted and verified: only such a challenge can be approved or denied.
///
/// It holds everything to be shown, and the answer signs everything it holds.
public struct OpenedChallenge: Sendable {
    /// The relying party that asks.
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
    /// The relying party that asks.
    public var client: Client { Client(id: "\(body.question.client)", name: body.question.clientName.text) }
    /// The text of the challenge.
    public var message: String { body.question.message.text }
    /// Amount, payee and the like, in order.
    public var details: [Detail] {
        body.question.details.map { Detail(label: $0.label.text, value: $0.value.text) }
    }
    /// Where the user started what the challenge is about, such as a place and a browser.
    public var context: String? { body.question.context?.text }
    /// The name of the challenge type.
    public var type: String { "\(body.question.type)" }
    /// Further data that the answer signs.
    public var signingData: String? { body.question.signingData }
    /// The methods that may approve it, in the client's order of preference.
    public var methods: [AnswerMethod] { body.methods }
    /// How many wrong PINs are left, as far as the server knew when it sent the challenge; nil if it takes no PIN.
    public var attemptsLeft: Int? { body.attemptsLeft }
    /// How many digits the user must type; nil for none.
    public var numberLength: Int? { body.numberEntry }
    /// Whether the challenge was claimed by its code; then the user may go on only if the code was on a screen of their
    /// own, where they started this themselves.
    public var isClaimed: Bool { body.isClaimed }
    /// Whether the challenge was claimed by a link, on the device where it was started; then the user may go on only if
    /// they followed the link themselves, where they started this.
    public var isLink: Bool { body.isLink }
    /// When it was asked.
    public var askedAt: Timestamp { body.question.askedAt }
    /// When it expires.
    public var expiresAt: Timestamp { body.expiresAt }

    /// The lines of the text that the answer signs, without those that the decision adds.
    public var signedLines: [String] {
        let receipt = Receipt(
            of: body.question, user: stored.user, device: stored.certificate.fingerprint, decision: .denied,
            answeredAt: askedAt)
        // Field lines come first; the message may hold lines that look like fields.
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

    /// The category of a notification that shows this alert: whether it may offer to approve the challenge.
    func category(showing alert: PushAlert) -> PushCategory {
        PushCategory(
            body.question, methods: body.methods, asksNumber: body.numberEntry != nil, isClaimed: body.isClaimed,
            showing: alert)
    }

    /// Approves the challenge.
    ///
    /// - Parameters:
    ///   - proof: the user's proof.
    ///   - number: the digits that the user typed, if ``numberLength`` is not nil.
    /// - Throws: ``CountersignError/numberIncorrect`` when the number was wrong, which ends the challenge;
    ///   ``CountersignError/pinIncorrect(attemptsLeft:)`` when the PIN was wrong: the same challenge can be approved
    ///   again unless no attempt is left. ``CountersignError/customRetry(attemptsLeft:payload:)``,
    ///   ``CountersignError/customFailed(payload:)``, ``CountersignError/customNotRegistered`` and
    ///   ``CountersignError/customUnavailable`` leave the challenge open, too: it can be approved by another of its
    ///   ``methods``.
    /// - Returns: the result. An app that handles links or custom authenticators must look at it.
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

    /// Denies the challenge.
    public func deny() async throws(CountersignError) {
        _ = try await answer(.denied)
    }

    /// Denies the challenge, and reports that somebody else started this.
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
