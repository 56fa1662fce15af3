package import CountersignWire
package import OpenPGP

/// Why an answer is refused.
///
/// The device gets one error code for all faults, and the audit records ``name``. A server in development mode also
/// sends ``words`` to the device. Spec: docs/protocol/challenges.md, *Checks*.
package enum AnswerFault: Equatable, Sendable {
    /// The message cannot be read: it is malformed, or cannot be decrypted.
    case message(OpenPGPError)
    /// The signature does not have the form that a receipt's signature must have.
    case form(AnswerSignatureRefusal)
    /// The text is not the receipt of this challenge.
    case text
    /// The answer's time is before the asking or after now, or the signature is older than its key.
    case time
    /// The method may not be used, or the number is missing, or a number is given where none is asked for.
    case method
    /// The signature is by another key than the method's, or does not verify.
    case signer
    /// The receipt, in the form in which it would be served, does not verify.
    case receipt
    /// The data for a custom authenticator are missing, cannot be opened, or are not those that the receipt names.
    case customData
    /// The same message has answered another challenge before.
    case otherChallenge
    /// The key was replaced after the answer was verified.
    case replaced
    /// A claim of the signed JWT is missing, is not that of this challenge and device, or decides nothing.
    case claim(JWTAnswer.Claim)
    /// The device's keys sign no answers of this form, or too little for what is asked.
    case credential
    /// The device, or its custom authenticator, counts only in the group of the client that enrolled it.
    case notConfirmed

    /// The word for the fault in the audit.
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
        case .claim: "claim"
        case .credential: "credential"
        case .notConfirmed: "not_confirmed"
        }
    }

    /// The failed check in words, for developers of devices.
    package var words: String {
        switch self {
        case .message(let error): "the message cannot be read: \(error.words)"
        case .form(let refusal): refusal.words
        case .text: "the signed text is not the receipt of this challenge, byte for byte"
        case .time: "answered before the challenge was asked or after now, or signed before the key was bound"
        case .method:
            "the challenge does not allow the method, the method is not set, or a number is missing or too much"
        case .signer: "the signature is not by the key that proves the method"
        case .receipt: "the receipt does not verify by the device's certificate"
        case .customData: "the data for the custom authenticator is not what the receipt names"
        case .otherChallenge: "the same message has answered another challenge"
        case .replaced: "the key was replaced while the answer was on its way"
        case .claim(let claim): "the claim \(claim.rawValue) is not the one that an answer to this challenge has"
        case .credential: "the device's keys sign no answers of this form, or less than what is asked needs"
        case .notConfirmed: "its user has not confirmed the device, and another client enrolled it"
        }
    }
}
