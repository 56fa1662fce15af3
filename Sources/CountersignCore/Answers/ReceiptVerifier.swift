import CountersignWire
import Encodings
import OpenPGP

/// The result of verifying an answer, for every kind of credential.
enum AnswerVerdict: Sendable {
    /// The answer is valid, and the device has decided.
    case verified(VerifiedAnswer)
    /// The answer is refused.
    case invalid(AnswerFault)
    /// The answer names the PIN as its method, but another key has signed; this counts as a wrong PIN.
    case wrongPIN(EnrolledPIN)
    /// The answer names the PIN as its method, but the PIN is locked.
    case pinLocked
    /// Everything is right except the number that the user typed.
    case wrongNumber
}

/// Checks 4 to 7 of an answer: verifies a receipt that a device with an OpenPGP certificate has signed.
///
/// The verifier reads only its own properties and the bytes of the answer. ``JWTVerifier`` gives the same verdicts on the
/// answers of devices that have JWKs. Spec: docs/protocol/challenges.md, *Checks*.
struct ReceiptVerifier: Sendable {
    /// The challenge that is answered.
    let challenge: Challenge
    /// The enrollment that answers.
    let enrollment: Enrollment
    /// The device's OpenPGP certificate in its stored form.
    let certificate: [UInt8]
    /// The issuer's keys, which decrypt the answer.
    let keys: IssuerKeys
    /// Hashes the number that the user typed.
    let hasher: KeyedHasher
    /// The current time.
    let now: Timestamp

    /// The latest permitted time of a signature.
    private var latest: UnixSeconds { now.adding(AnswerChallenge.tolerance).unixSeconds }

    /// Verifies a sealed receipt.
    func verify(_ sealed: [UInt8]) async -> AnswerVerdict {
        // 4: the answer can be decrypted and has exactly one signature, of the form that receipts have.
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
        // 5: the text byte for byte, and the time in it.
        guard let text = String(strictUTF8: message.content), let receipt = try? Receipt(reading: text),
            isExpected(text, receipt)
        else { return .invalid(.text) }
        guard receipt.answeredAt.adding(AnswerChallenge.tolerance) >= challenge.question.askedAt.wholeSeconds,
            receipt.answeredAt <= now.adding(AnswerChallenge.tolerance)
        else { return .invalid(.time) }
        // 6: an active key of this enrollment that proves the method, and a receipt that anybody can verify.
        let verdict = verifySigner(of: message, receipt, text)
        // 7: the number.
        if case .verified = verdict, case .approved(_, let number?) = receipt.decision,
            let hash = challenge.numberHash, hash != hasher.hash(of: number, challenge: challenge.id)
        {
            return .wrongNumber
        }
        return verdict
    }

    /// Whether the text is the receipt of this challenge; the device chooses only the decision with its method and
    /// number, the hash of the custom data, and the time.
    private func isExpected(_ text: String, _ receipt: Receipt) -> Bool {
        let expected = Receipt(
            of: challenge.question, user: enrollment.user, device: enrollment.fingerprint,
            decision: receipt.decision, customDataHash: receipt.customDataHash, answeredAt: receipt.answeredAt)
        return expected.text.hasSameBytes(as: text)
    }

    /// Check 6: verifies that the key that proves the decision has signed.
    ///
    /// The signature is checked only against the one key that must have signed. The PIN's key is tried only where a
    /// wrong PIN will be counted. Otherwise a reply, or its timing, could tell the PIN's key from other keys, and an
    /// attacker could test PINs without being counted.
    private func verifySigner(of message: UnverifiedMessage, _ receipt: Receipt, _ text: String) -> AnswerVerdict {
        // A denial or a report never needs a PIN.
        guard var key = enrollment.keys?.primary else { return .invalid(.credential) }
        var countedPIN: EnrolledPIN?
        if case .approved(let method, let number) = receipt.decision {
            guard challenge.methods.contains(method), (number == nil) == (challenge.numberHash == nil),
                enrollment.isLetIn(at: now), !enrollment.waits(method, at: now),
                let proving = enrollment.key(of: method)
            else { return .invalid(.method) }
            key = proving
            if method == .pin, let pin = enrollment.pin {
                // From here on, no uncounted reply may depend on whether the PIN is right.
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

    /// The evidence to store; nil unless exactly what will be served of it verifies offline as a receipt.
    ///
    /// Spec: docs/protocol/receipts.md, *What the server keeps and serves*: only what verifies becomes a receipt.
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
