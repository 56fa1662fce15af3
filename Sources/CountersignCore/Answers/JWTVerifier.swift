import CountersignWire
import Encodings

/// Checks 4 to 7 of an answer by a device that has JWKs: whether a signed JWT decides this challenge.
///
/// The verifier reads only its own properties and the answer. It gives the verdicts of ``ReceiptVerifier``, but no wrong
/// PIN and no wrong number: such a device has no PIN and is put no challenge with a number.
/// Spec: docs/protocol/jwk-devices.md, *Checks*.
struct JWTVerifier: Sendable {
    /// The challenge that is answered.
    let challenge: Challenge
    /// The type of the challenge as it is now; nil if it is there no more.
    let type: ChallengeType?
    /// The enrollment that answers.
    let enrollment: Enrollment
    /// Its keys, of which one has signed.
    let keys: DeviceJWKs
    /// Whom an answer must be for.
    let issuer: Issuer
    /// The current time.
    let now: Timestamp

    /// Verifies an answer whose signature is good.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - token: the token that it was read from.
    func verify(_ answer: JWTAnswer, _ token: String) -> AnswerVerdict {
        guard let type else { return .invalid(.credential) }
        // Such a device is asked no other questions; here it holds whatever has become of the type, or of the rule.
        // check: AnswerByJWTTests.neverAnswers
        guard enrollment.satisfies(type) && !challenge.needsReceipt else { return .invalid(.credential) }
        // check: AnswerByJWTTests.claims
        guard answer.audience.hasSameBytes(as: issuer.description) else { return .invalid(.claim(.audience)) }
        // check: AnswerByJWTTests.claims
        guard answer.user == enrollment.user else { return .invalid(.claim(.subject)) }
        // check: AnswerByJWTTests.claims
        guard answer.challenge == challenge.id else { return .invalid(.claim(.challenge)) }
        // check: AnswerByJWTTests.claims
        guard constantTimeEqual(answer.nonce.bytes, challenge.question.nonce.bytes) else {
            return .invalid(.claim(.nonce))
        }
        // check: AnswerByJWTTests.times
        guard answer.isTimely(at: now, tolerance: AnswerChallenge.tolerance) else {
            return .invalid(.claim(.expiresAt))
        }
        guard let decision = answer.decision else { return .invalid(.claim(.consent)) }
        if case .approved(let method, _) = decision {
            // check: AnswerByJWTTests.methods
            guard challenge.methods.contains(method), enrollment.isLetIn(at: now), enrollment.counts(method, at: now)
            else { return .invalid(.method) }
        }
        return .verified(
            VerifiedAnswer(
                decision: decision, answeredAt: Timestamp(seconds: answer.issuedAt),
                evidence: .jwt(token, keys: keys.json.encoded)))
    }
}
