import Encodings

/// The content of a message; its kind determines how a signature covers it.
public enum MessageContent: Hashable, Sendable {
    /// Bytes, signed as they are.
    case binary([UInt8])
    /// A text: its lines are separated by LF here, and by CR LF in messages and under the signature.
    case text(String)

    var signatureType: SignatureType {
        switch self {
        case .binary: .binary
        case .text: .text
        }
    }

    var signed: SignedContent {
        switch self {
        case .binary(let bytes): .document(bytes)
        case .text(let text): .text(Array(text.utf8))
        }
    }

    /// The content of the literal data packet for it.
    func literalData(at time: UnixSeconds) -> [UInt8] {
        switch self {
        case .binary(let bytes):
            LiteralData.encode(bytes, format: .binary, at: time)
        case .text(let text):
            LiteralData.encode(CanonicalText.withNetworkLineEnds(Array(text.utf8)), format: .utf8, at: time)
        }
    }
}

/// A message whose only signature was verified.
///
/// Only ``SignedMessage/open(_:signers:now:)`` and ``EncryptedMessage/open(_:with:signers:intendedRecipient:now:)``
/// make one.
public struct VerifiedMessage: Sendable {
    /// The content; for a text, lines are separated by LF.
    public let content: [UInt8]
    /// The signature that was verified.
    public let signature: Signature
    /// The key that made it.
    public let signer: CertifiedKey
}
