public import OpenPGP

/// Why a receipt is not valid.
public enum ReceiptRefusal: Error, Equatable, Sendable {
    /// The file is not a cleartext-signed message, or its signature or signer is refused.
    case signature(OpenPGPError)
    /// The signed text is not a receipt.
    case text(ReceiptError)
    /// The certificate is not the one that `device` names.
    case wrongDevice
    /// The signing key does not belong to the method that `method` names.
    case wrongSigner
}

/// A receipt whose signature, signer and text were checked.
///
/// Only ``init(message:certificate:now:)`` makes one.
public struct VerifiedReceipt: Sendable {
    /// The receipt.
    public let receipt: Receipt
    /// The key that signed.
    public let signer: CertifiedKey

    /// Verifies a receipt from a file.
    ///
    /// - Parameters:
    ///   - message: the cleartext-signed message.
    ///   - certificate: the certificate of the device that `device` names.
    ///   - now: the current time, in seconds since 1970.
    public init(
        message: some StringProtocol, certificate: Certificate, now: UnixSeconds
    ) throws(ReceiptRefusal) {
        let signed: CleartextMessage
        do { signed = try CleartextMessage(parsing: message) } catch { throw .signature(error) }
        do { receipt = try Receipt(parsing: signed.text) } catch { throw .text(error) }
        guard receipt.device == certificate.fingerprint else { throw .wrongDevice }
        do { signer = try signed.verify(by: certificate, now: now) } catch { throw .signature(error) }
        // The key is also judged at the time that the receipt states: the signature's own time is the same device's
        // claim.
        do {
            try signer.check(.sign, at: receipt.answeredAt.unixSeconds)
        } catch {
            throw .signature(error)
        }
        switch receipt.decision {
        case .approved(.confirm, _), .approved(.custom, _), .denied, .reported:
            guard signer.fingerprint == certificate.fingerprint else { throw .wrongSigner }
        case .approved(let method, _):
            let statement = signer.statement(at: receipt.answeredAt.unixSeconds)
            guard signer.fingerprint != certificate.fingerprint,
                statement.notations == [method.notation(of: receipt.issuer)]
            else { throw .wrongSigner }
        }
    }
}
