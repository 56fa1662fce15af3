package import CountersignCore
package import CountersignWire
import Crypto
package import Encodings
package import OpenPGP

/// A change of a device's PIN, of which a test can change every part.
package struct PINChange: Sendable {
    /// The device.
    package let device: TestDevice
    /// The method; it can also be the biometric.
    package var method = AnswerMethod.pin
    /// The nonce from the server.
    package var nonce: Nonce
    /// The current key.
    package var old: SigningKeyPair?
    /// The new key.
    package var new: SigningKeyPair?
    /// The key of the second signature; the current key by default.
    package var authorizer: SigningKeyPair?
    /// The key of the first signature; the primary key by default.
    package var signer: SigningKeyPair
    /// The certificate in the request; the correct one by default.
    package var certificate: Certificate?
    /// The secret of a ticket.
    package var ticket: Secret<String>?
    /// Changes the signed text.
    package var text: @Sendable (String) -> String = { $0 }
    /// Changes the text that the authorizer signs.
    package var authorizedText: @Sendable (String) -> String = { $0 }

    /// Creates a correct change.
    package init(of device: TestDevice, from old: SigningKeyPair? = nil, to new: SigningKeyPair?) async throws {
        self.device = device
        self.old = old
        self.new = new
        authorizer = old
        signer = device.primary
        nonce = try await device.methods().nonce
    }

    /// The device's certificate in which the new key replaces the current one.
    ///
    /// - Parameters:
    ///   - reason: the reason for revoking the current key.
    ///   - notations: the notations about the new key.
    ///   - expiresAt: when the new key expires; nil for never.
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

    /// The request with this change.
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

    package func send() async throws -> ChangeMethods.Outcome {
        try await device.send(try await request())
    }
}

extension TestDevice {
    /// A key for a PIN; the server does not see the PIN itself.
    package func newPINKey() -> SigningKeyPair {
        SigningKeyPair(P256.Signing.PrivateKey(), createdAt: world.time.now.unixSeconds)
    }

    /// The state of the device's methods.
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

    /// A sealed approval with a PIN.
    package func approval(of asked: AskedChallenge, by key: SigningKeyPair) async throws -> [UInt8] {
        let receipt = Receipt(
            of: try await world.challenge(asked).question, user: invitation.user, device: certificate.fingerprint,
            decision: .approved(.pin, number: asked.number), answeredAt: world.time.now)
        return try await seal(receipt.text, signedBy: key)
    }
}
