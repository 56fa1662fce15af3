package import CountersignWire
package import Encodings
import WebAuthn

/// What a ceremony with a passkey is bound to: our origin, and one page in one browser.
package struct PasskeyCeremony: Sendable {
    private let site: PasskeyRelyingParty
    private let challenge: CeremonyChallenge

    /// The ceremony of a page; nil where browsers have no passkeys, because the issuer's host is an address.
    ///
    /// Its challenge is computed from what the page carries, sealed: nobody else could make that, each page carries
    /// another one, and no row is written for a visit.
    ///
    /// - Parameters:
    ///   - sealed: what the page carries.
    ///   - ports: the external dependencies.
    package init?(of sealed: String, ports: Ports) {
        guard let site = ports.issuer.passkeySite,
            let challenge = CeremonyChallenge(ports.hasher.code(of: "passkey \(sealed)"))
        else { return nil }
        self.site = site
        self.challenge = challenge
    }

    /// The options to sign in with whichever passkey the person has.
    package var requestOptions: JSONValue { site.requestOptions(challenge: challenge, allowing: []) }

    /// The options to register a passkey.
    ///
    /// - Parameters:
    ///   - user: whose it will be.
    ///   - name: what tells the accounts of one person apart, as an address does.
    ///   - existing: the user's passkeys; an authenticator that holds one of them makes no other.
    package func creationOptions(for user: UserID, named name: String, excluding existing: [RegisteredPasskey])
        -> JSONValue
    {
        site.creationOptions(
            for: PasskeyUser(handle: user.passkeyHandle, name: name, displayName: name), challenge: challenge,
            excluding: existing.map { PasskeyDescriptor($0.credential, transports: $0.transports) })
    }

    /// Verifies what the browser sent to register a passkey.
    func verify(_ response: RegistrationResponse) throws(WebAuthnError) -> VerifiedRegistration {
        try site.verify(response, challenge: challenge)
    }

    /// Verifies what the browser sent to sign in.
    func verify(_ response: AssertionResponse, by passkey: RegisteredPasskey) throws(WebAuthnError) -> VerifiedAssertion
    {
        try site.verify(
            response, challenge: challenge,
            by: Passkey(
                credentialID: passkey.credential, publicKey: passkey.publicKey, userHandle: passkey.user.passkeyHandle,
                signCount: passkey.signCount, isBackupEligible: passkey.isBackupEligible), of: nil)
    }

    /// Lets the ceremony bring something once.
    ///
    /// - Returns: false if it has before.
    func spend(in work: UnitOfWork) throws -> Bool {
        try work.nonces.spend(
            nonce: Base64URL.encode(challenge.bytes), of: "passkey", until: work.now.adding(Authorization.lifetime))
    }
}

extension Issuer {
    /// The site that passkeys are for; nil where the host is an address.
    fileprivate var passkeySite: PasskeyRelyingParty? { PasskeyRelyingParty(origin: description, name: host) }

    /// Whether browsers have passkeys for the pages.
    package var hasPasskeys: Bool { passkeySite != nil }
}

extension RelyingParty {
    /// Whether people sign in to the client by passkeys.
    package func takesPasskeys(at issuer: Issuer) -> Bool { ways.contains(.passkey) && issuer.hasPasskeys }
}

extension UserID {
    /// What a passkey keeps and tells at every sign-in: the user's id, which says nothing about the person.
    ///
    /// Spec: WebAuthn Level 3 §5.4.3, §14.6.1.
    fileprivate var passkeyHandle: UserHandle {
        guard let handle = UserHandle(Array(description.utf8)) else { preconditionFailure("an id has 30 bytes") }
        return handle
    }
}
