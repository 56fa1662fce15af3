import Crypto
import Encodings
public import OpenPGP

/// What a user saw and decided, as the text that is signed.
///
/// Only the renderer, ``text``, writes this text; the parser accepts exactly what the renderer writes.
public struct Receipt: Hashable, Sendable {
    /// The first line, which distinguishes receipts from everything else that a key signs.
    public static let title = "Countersign receipt v1"

    /// The issuer.
    public let issuer: Issuer
    /// The challenge.
    public let challenge: ChallengeID
    /// The challenge's nonce.
    public let nonce: Nonce
    /// The client's id.
    public let client: ClientID
    /// The client's name.
    public let clientName: ClientName
    /// The user.
    public let user: UserID
    /// The fingerprint of the device's primary key.
    public let device: Fingerprint
    /// The user's decision.
    public let decision: Decision
    /// The SHA-256 hash of the sealed data that a custom authenticator judged; nil if there were none.
    public let customDataHash: [UInt8]?
    /// The challenge type.
    public let type: TypeName
    /// Where the user started this.
    public let context: DisplayLine?
    /// When it was asked, to the second.
    public let askedAt: Timestamp
    /// When it was answered, to the second, by the device's clock.
    public let answeredAt: Timestamp
    /// The details, in order.
    public let details: [Detail]
    /// The SHA-256 hash of the signing data's UTF-8 bytes.
    public let signingDataHash: [UInt8]?
    /// The message.
    public let message: DisplayMessage

    /// The receipt of a user's answer to a question.
    ///
    /// - Parameter customDataHash: the SHA-256 hash of the sealed data, for an approval by a custom authenticator.
    public init(
        of question: Question, user: UserID, device: Fingerprint, decision: Decision, customDataHash: [UInt8]? = nil,
        answeredAt: Timestamp
    ) {
        issuer = question.issuer
        challenge = question.challenge
        nonce = question.nonce
        client = question.client
        clientName = question.clientName
        self.user = user
        self.device = device
        self.decision = decision
        self.customDataHash = customDataHash
        type = question.type
        context = question.context
        askedAt = question.askedAt.wholeSeconds
        self.answeredAt = answeredAt.wholeSeconds
        details = question.details
        signingDataHash = question.signingData.map { Array(SHA256.hash(data: Array($0.utf8))) }
        message = question.message
    }

    /// The text that is signed: lines separated by LF, without a final LF.
    public var text: String {
        var lines = [
            Self.title,
            "issuer: \(issuer)",
            "challenge: \(challenge)",
            "nonce: \(nonce)",
            "client: \(clientName.text) (\(client))",
            "user: \(user)",
            "device: \(device)",
            "decision: \(decision.name)",
        ]
        if case .approved(let method, let number) = decision {
            lines.append("method: \(method.rawValue)")
            if let number { lines.append("number: \(number.digits)") }
        }
        if let customDataHash { lines.append("custom-data: \(HashLine.value(customDataHash))") }
        lines.append("type: \(type)")
        if let context { lines.append("context: \(context.text)") }
        lines.append("asked: \(askedAt.secondsDescription)")
        lines.append("answered: \(answeredAt.secondsDescription)")
        for detail in details { lines.append("detail: \(detail.label.text) = \(detail.value.text)") }
        if let signingDataHash { lines.append("signing-data: \(HashLine.value(signingDataHash))") }
        lines.append("message:")
        lines.append(message.text)
        return lines.joined(separator: "\n")
    }
}
