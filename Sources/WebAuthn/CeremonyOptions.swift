package import Encodings

/// How a passkey is named in options.
package struct PasskeyDescriptor: Sendable {
    let id: CredentialID
    let transports: [String]

    /// A passkey with the ways to reach it that the browser said when it was registered.
    package init(_ id: CredentialID, transports: [String]) {
        self.id = id
        self.transports = transports
    }

    /// Spec: WebAuthn Level 3 §5.8.3.
    fileprivate var json: JSONValue {
        [
            "type": "public-key", "id": .string(Base64URL.encode(id.bytes)),
            "transports": .array(transports.map { .string($0) }),
        ]
    }
}

/// Who registers a passkey.
package struct PasskeyUser: Sendable {
    let handle: UserHandle
    let name: String
    let displayName: String

    /// A user.
    ///
    /// - Parameters:
    ///   - handle: what the passkey keeps and tells us at every sign-in; it must not say who the person is.
    ///   - name: what tells accounts of one person apart, as an address does.
    ///   - displayName: what the person is called; may be empty.
    package init(handle: UserHandle, name: String, displayName: String) {
        self.handle = handle
        self.name = name
        self.displayName = displayName
    }
}

extension PasskeyRelyingParty {
    /// The least and the usual time for a ceremony, in milliseconds.
    ///
    /// Spec: WebAuthn Level 3 §15.1.
    package static let timeout: Int64 = 300_000

    /// What `PublicKeyCredential.parseCreationOptionsFromJSON()` takes to register a passkey.
    ///
    /// It must be discoverable and verify the user; nobody is asked to vouch for the authenticator.
    /// Spec: WebAuthn Level 3 §5.4 and §5.4.4.
    ///
    /// - Parameters:
    ///   - user: who registers it.
    ///   - challenge: random bytes for this ceremony alone.
    ///   - existing: the user's passkeys; an authenticator that holds one of them makes no other.
    ///   - timeout: how long the browser waits, in milliseconds.
    package func creationOptions(
        for user: PasskeyUser, challenge: CeremonyChallenge, excluding existing: [PasskeyDescriptor],
        timeout: Int64 = timeout
    ) -> JSONValue {
        [
            "rp": ["id": .string(id), "name": .string(name)],
            "user": [
                "id": .string(Base64URL.encode(user.handle.bytes)), "name": .string(user.name),
                "displayName": .string(user.displayName),
            ],
            "challenge": .string(Base64URL.encode(challenge.bytes)),
            "pubKeyCredParams": .array(
                CredentialPublicKey.Algorithm.allCases.map { ["type": "public-key", "alg": .integer($0.rawValue)] }),
            "timeout": .integer(timeout),
            "excludeCredentials": .array(existing.map(\.json)),
            "authenticatorSelection": [
                "residentKey": "required", "requireResidentKey": true, "userVerification": "required",
            ],
            "attestation": "none",
            "extensions": ["credProps": true],
        ]
    }

    /// What `PublicKeyCredential.parseRequestOptionsFromJSON()` takes to sign in with a passkey.
    ///
    /// Spec: WebAuthn Level 3 §5.5.
    ///
    /// - Parameters:
    ///   - challenge: random bytes for this ceremony alone.
    ///   - allowed: the passkeys that may be used; none for whichever the person has.
    ///   - timeout: how long the browser waits, in milliseconds.
    package func requestOptions(
        challenge: CeremonyChallenge, allowing allowed: [PasskeyDescriptor], timeout: Int64 = timeout
    ) -> JSONValue {
        [
            "challenge": .string(Base64URL.encode(challenge.bytes)),
            "timeout": .integer(timeout),
            "rpId": .string(id),
            "allowCredentials": .array(allowed.map(\.json)),
            "userVerification": "required",
        ]
    }
}
