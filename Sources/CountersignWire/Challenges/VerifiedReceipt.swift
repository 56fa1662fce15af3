public import OpenPGP

/// Why a receipt does not count.
public enum ReceiptRefusal: Error, Equatable, Sendable {
    /// The file is not a cleartext-signed message, or its signature or signer is refused.
    case signature(OpenPGPError)
    /// The signed text is not a receipt.
    case text(ReceiptError)
    /// `device` names another certificate than the one given.
    case wrongDevice
    /// The key that signed does not prove what `method` says.
    case wrongSigner
}

/// A receipt whose signature, signer and text were all checked.
///
/// Only ``init(message:certificate:now:)`` makes one.
public struct VerifiedReceipt: Sendable {
    /// What was signed.
    public let receipt: Receipt
    /// The key that signed.
    public let signer: CertifiedKey

    /// Verifies a receipt as a file holds it.
    ///
    /// - Parameters:
    ///   - message: the cleartext-signed message.
    ///   - certificate: the certificate of the device that `device` names.
    ///   - now: the present, in seconds since 1970.
    public init(
        message: some StringProtocol, certificate: Certificate, now: UnixSeconds
    ) throws(ReceiptRefusal) {
        let signed: CleartextMessage
        do { signed = try CleartextMessage(parsing: message) } catch { throw .signature(error) }
        do { receipt = try Receipt(parsing: signed.text) } catch { throw .text(error) }
        guard receipt.device == certificate.fingerprint else { throw .wrongDevice }
        do { signer = try signed.verify(by: certificate, now: now) } catch { throw .signature(error) }
        // Judged at the time the receipt says, too: the signature's own time is the same device's word.
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
