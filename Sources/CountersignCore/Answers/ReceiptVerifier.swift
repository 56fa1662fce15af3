import CountersignWire
import Encodings
import OpenPGP

/// What a verifier finds out about an answer, whatever kind of credential the device has.
enum AnswerVerdict: Sendable {
    /// The answer is good: the device has decided.
    case verified(VerifiedAnswer)
    /// It is refused.
    case invalid(AnswerFault)
    /// It claims the PIN as its method, and another key has signed: it counts as a wrong PIN.
    case wrongPIN(EnrolledPIN)
    /// It claims the PIN as its method, and the PIN is locked.
    case pinLocked
    /// All is right but the number that was typed.
    case wrongNumber
}

/// Checks 4 to 7 of an answer: verifies a receipt, which a device with an OpenPGP certificate has signed.
///
/// It decides by bytes and facts alone. Devices with another kind of credential get a verifier of their own, which gives
/// the same verdicts. Spec: design 3.8 and 3.9.
struct ReceiptVerifier: Sendable {
    /// The challenge that is answered.
    let challenge: Challenge
    /// When the device first fetched it; nil while it has not.
    let fetchedAt: Timestamp?
    /// Who answers.
    let enrollment: Enrollment
    /// The device's OpenPGP certificate as it is stored.
    let certificate: [UInt8]
    /// The issuer's keys, which open the answer.
    let keys: IssuerKeys
    /// Hashes the number that was typed.
    let hasher: KeyedHasher
    /// The present.
    let now: Timestamp

    /// The latest time that a signature may be made at.
    private var latest: UnixSeconds { now.adding(AnswerChallenge.tolerance).unixSeconds }

    /// Verifies a sealed receipt.
    func verify(_ sealed: [UInt8]) async -> AnswerVerdict {
        // 4: decrypts, exactly one signature, of the form that receipts have.
        let message: UnverifiedMessage
        do {
            message = try await keys.openWithoutVerifying(sealed, intendedRecipient: nil)
        } catch {
            return .invalid(.message(error as? OpenPGPError ?? .decryptionFailed))
        }
        do throws(AnswerSignatureRefusal) {
            try AnswerSignature.check(
                message.signature, for: keys.certificate.fingerprint, asked: challenge.question.askedAt, now: now)
        } catch {
            return .invalid(.form(error))
        }
        // 5: the text, byte for byte, and the time in it.
        guard let text = String(strictUTF8: message.content), let receipt = try? Receipt(parsing: text),
            isExpected(text, receipt)
        else { return .invalid(.text) }
        guard let fetchedAt, receipt.answeredAt.adding(AnswerChallenge.tolerance) >= fetchedAt.wholeSeconds,
            receipt.answeredAt <= now.adding(AnswerChallenge.tolerance)
        else { return .invalid(.time) }
        // 6: an active key of this enrollment that proves the method, and a receipt that proves it to others.
        let verdict = verifySigner(of: message, receipt, text)
        // 7: the number.
        if case .verified = verdict, case .approved(_, let number?) = receipt.decision,
            let hash = challenge.numberHash, hash != hasher.hash(of: number, challenge: challenge.id)
        {
            return .wrongNumber
        }
        return verdict
    }

    /// Renders what the challenge must have shown; only decision, method, number and time are the device's to choose.
    private func isExpected(_ text: String, _ receipt: Receipt) -> Bool {
        let expected = Receipt(
            of: challenge.question, user: enrollment.user, device: enrollment.keys.primary.fingerprint,
            decision: receipt.decision, customDataHash: receipt.customDataHash, answeredAt: receipt.answeredAt)
        return expected.text.hasSameBytes(as: text)
    }

    /// Check 6: whether the key has signed that proves the decision.
    ///
    /// Only the key that must have signed is tried, and the PIN's key only where a wrong PIN will count. A reply, or the
    /// time until it, that told the PIN's key from others would otherwise allow PINs to be tried without being counted.
    private func verifySigner(of message: UnverifiedMessage, _ receipt: Receipt, _ text: String) -> AnswerVerdict {
        // A denial or report never needs a PIN.
        var key = enrollment.keys.primary
        var countedPIN: EnrolledPIN?
        if case .approved(let method, let number) = receipt.decision {
            guard challenge.methods.contains(method), (number == nil) == (challenge.numberHash == nil),
                enrollment.isLetIn(at: now), !enrollment.waits(method, at: now),
                let proving = enrollment.key(of: method)
            else { return .invalid(.method) }
            key = proving
            if method == .pin, let pin = enrollment.pin {
                // From now on no reply says whether a PIN is the right one.
                guard pin.lockedAt == nil else { return .pinLocked }
                countedPIN = pin
            }
        }
        guard let certificate = try? Certificate(previouslyVerified: certificate),
            AnswerSignature.couldSign(key.fingerprint, of: certificate, at: message.signature.createdAt)
        else { return .invalid(.time) }
        do throws(OpenPGPError) {
            _ = try message.verified(signers: [key], now: latest)
        } catch {
            if error == .unknownSigner, let countedPIN { return .wrongPIN(countedPIN) }
            return .invalid(.signer)
        }
        guard let evidence = evidence(text, message.signature, by: key, certificate) else { return .invalid(.receipt) }
        return .verified(
            VerifiedAnswer(
                decision: receipt.decision, answeredAt: receipt.answeredAt, customDataHash: receipt.customDataHash,
                evidence: evidence))
    }

    /// The evidence to keep, if exactly what will be served of it verifies offline as a receipt.
    ///
    /// Spec: design 3.4: only what verifies becomes a receipt.
    private func evidence(
        _ text: String, _ signature: Signature, by key: CertifiedKey, _ certificate: Certificate
    ) -> Evidence? {
        guard let kept = try? signature.canonical(by: key.fingerprint),
            let message = try? CleartextMessage(text: text, signature: kept),
            let served = try? VerifiedReceipt(message: message.encoded, certificate: certificate, now: latest),
            served.signer.fingerprint == key.fingerprint
        else { return nil }
        return .receipt(message, certificate: certificate.encoded)
    }
}
