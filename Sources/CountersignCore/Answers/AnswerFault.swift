package import CountersignWire
package import OpenPGP

/// Why an answer is refused.
///
/// The device learns one code for all of it, and the audit a word; who develops one reads more, on a server of their own.
/// Spec: design 3.8.
package enum AnswerFault: Equatable, Sendable {
    /// The message is not what it must be.
    case message(OpenPGPError)
    /// Its signature has not the form of a receipt's.
    case form(AnswerSignatureRefusal)
    /// The text is not the receipt that the challenge leads to.
    case text
    /// It was answered before it was fetched, or after now, or signed before its key was there.
    case time
    /// The method is not one that may be used, or the number is missing or too much.
    case method
    /// It is signed by another key than the method's, or wrongly.
    case signer
    /// What would be served does not verify.
    case receipt
    /// The data for a custom authenticator is not what the receipt names.
    case customData
    /// The same message has answered another challenge.
    case otherChallenge
    /// The key has been replaced meanwhile.
    case replaced

    /// The word that the audit has for it.
    package var name: String {
        switch self {
        case .message: "message"
        case .form: "signature"
        case .text: "text"
        case .time: "time"
        case .method: "method"
        case .signer, .replaced: "signer"
        case .receipt: "receipt"
        case .customData: "custom_data"
        case .otherChallenge: "other_challenge"
        }
    }

    /// Which check failed, in words, for who writes a device.
    package var words: String {
        switch self {
        case .message(let error): "the message cannot be read: \(error.words)"
        case .form(let refusal): refusal.words
        case .text: "the signed text is not the receipt of this challenge, byte for byte"
        case .time: "answered before the challenge was fetched or after now, or signed before the key was bound"
        case .method:
            "the challenge does not allow the method, the method is not set, or a number is missing or too much"
        case .signer: "the signature is not by the key that proves the method"
        case .receipt: "the receipt does not verify by the device's certificate"
        case .customData: "the data for the custom authenticator is not what the receipt names"
        case .otherChallenge: "the same message has answered another challenge"
        case .replaced: "the key was replaced while the answer was on its way"
        }
    }
}
