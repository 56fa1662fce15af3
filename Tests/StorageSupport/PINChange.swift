package import CountersignCore
package import CountersignWire
import Crypto
package import Encodings
package import OpenPGP

/// A change of a device's PIN, every part of which a test can make wrong.
package struct PINChange: Sendable {
    /// Whose PIN.
    package let device: TestDevice
    /// The PIN, unless a test means the biometric.
    package var method = AnswerMethod.pin
    /// What the server said.
    package var nonce: Nonce
    /// The key there is.
    package var old: SigningKeyPair?
    /// The key there shall be.
    package var new: SigningKeyPair?
    /// Who signs besides the primary key; the old key unless a test says otherwise.
    package var authorizer: SigningKeyPair?
    /// Who signs first; the primary key unless a test says otherwise.
    package var signer: SigningKeyPair
    /// The certificate that is sent; the right one unless a test says otherwise.
    package var certificate: Certificate?
    /// The secret of a ticket.
    package var ticket: Secret<String>?
    /// What becomes of the text that is signed.
    package var text: @Sendable (String) -> String = { $0 }
    /// What becomes of the text that the authorizer signs.
    package var authorizedText: @Sendable (String) -> String = { $0 }

    /// A right change.
    package init(of device: TestDevice, from old: SigningKeyPair? = nil, to new: SigningKeyPair?) async throws {
        self.device = device
        self.old = old
        self.new = new
        authorizer = old
        signer = device.primary
        nonce = try await device.methods().nonce
    }

    /// The device's certificate with the old key superseded and the new one bound.
    ///
    /// - Parameters:
    ///   - reason: why the old key is revoked.
    ///   - notations: what is stated about the new key.
    ///   - expiresAt: when the new key ends; nil for never.
    package func grown(
        because reason: RevocationReason = .superseded, notations: [Notation]? = nil, expiresAt: UnixSeconds? = nil
    ) async throws -> Certificate {
        let now = device.world.time.now.unixSeconds
        let right = [method.notation(of: device.world.ports.issuer)]
        var certificate = device.certificate
        if let old {
            certificate = try await certificate.adding(.signing(old, notations: right), by: device.primary, at: now)
                .revoking(old.publicKey.fingerprint, because: reason, by: device.primary, at: now)
        }
        if let new {
            certificate = try await certificate.adding(
                .signing(new, notations: notations ?? right), expiresAt: expiresAt, by: device.primary, at: now)
        }
        return certificate
    }

    /// The request.
    package func request() async throws -> MethodChangeRequest {
        let change = MethodChange(
            ChangeHeader(issuer: device.world.ports.issuer, enrollment: device.enrollment, nonce: nonce),
            method: method,
            old: old?.publicKey.fingerprint, new: new?.publicKey.fingerprint,
            certificate: try await (certificate == nil ? grown() : certificate)?.encoded ?? [])
        let text = self.text(change.text)
        var authorization: [UInt8]?
        if let authorizer {
            authorization = try await device.seal(authorizedText(text), signedBy: authorizer)
        }
        return MethodChangeRequest(
            message: try await device.seal(text, signedBy: signer), authorization: authorization, ticket: ticket)
    }

    /// Sends it.
    package func send() async throws -> ChangeMethods.Outcome {
        try await device.send(try await request())
    }
}

extension TestDevice {
    /// The key of a PIN; which PIN that is does not matter to the server.
    package func newPINKey() -> SigningKeyPair {
        SigningKeyPair(P256.Signing.PrivateKey(), createdAt: world.time.now.unixSeconds)
    }

    /// How its methods stand.
    package func methods() async throws -> MethodsReply {
        try await ShowMethods.show(to: try await call(), ports: world.ports).get()
    }

    /// Sends a change.
    package func send(_ request: MethodChangeRequest) async throws -> ChangeMethods.Outcome {
        try await ChangeMethods.change(request, by: try await call(), ports: world.ports)
    }

    /// Sets a PIN and returns its key.
    package func setPIN() async throws -> SigningKeyPair {
        let key = newPINKey()
        guard case .changed = try await PINChange(of: self, to: key).send() else { throw World.Broken("PIN") }
        return key
    }

    /// An approval by a PIN, sealed.
    package func approval(of asked: AskedChallenge, by key: SigningKeyPair) async throws -> [UInt8] {
        let receipt = Receipt(
            of: try await world.challenge(asked).question, user: invitation.user, device: certificate.fingerprint,
            decision: .approved(.pin, number: asked.number), answeredAt: world.time.now)
        return try await seal(receipt.text, signedBy: key)
    }
}
