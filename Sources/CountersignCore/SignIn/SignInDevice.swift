package import CountersignWire
package import Encodings
package import JOSE
import OpenPGP

/// Signs a user in at a client by an assertion that their device has signed.
///
/// Nobody is asked, so it shows possession of the device and no more, unless the device has answered a challenge before:
/// ``AskOwnSignIn``. Spec: RFC 7523 §2.1 and §3;
/// docs/protocol/signing-in.md.
package enum SignInDevice {
    /// The scopes that such a sign-in does not give: a device can always sign anew, and enrolls no other one.
    private static let neverGiven: Set<String> = [TokenFamily.offlineAccess, Ticket.scope]

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The client gets tokens.
        case signedIn(UnsignedTokens)
        /// The assertion is not good or came before, or its device may not sign its user in at the client.
        case invalid
        /// Of what the client wants, nothing is given for such a sign-in, or it names an API and none of its scopes.
        case scopeMissing
        /// The person has not allowed the client what it wants.
        case notAllowed
        /// The client may have no tokens for a resource that it names, or for more than one at once.
        case unknownResource
        /// A scope is that of an API that the request does not name.
        case scopeOfAnother(String)
        /// The client must prove a key, or its proof came before.
        case unproved(KeyProofRefusal)
        /// The device has signed in too often; try again after some seconds.
        case tooMany(retryAfter: Seconds)
        /// The client is disabled, or uses the provider no more.
        case clientGone
    }

    /// Signs in.
    ///
    /// - Parameters:
    ///   - assertion: what the device has signed.
    ///   - named: the scopes that the client wants.
    ///   - resources: the resources that the access token is for; none for us.
    ///   - client: the client, which the caller has authenticated.
    ///   - key: the key that the client has proved to have; nil for none.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func signIn(
        by assertion: Secret<String>, scopes named: [String], for resources: [String] = [], at client: ClientID,
        with key: ProvedKey? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let assertion = try await verified(assertion.reveal(), for: client, at: now, ports: ports) else {
            return .invalid
        }
        let shown = Shown(
            enrollment: assertion.enrollment, user: assertion.user, challenge: assertion.challenge,
            once: ReplayGuard(
                assertion.name, of: "assertion \(assertion.enrollment)",
                until: Timestamp(seconds: assertion.expiresAt).adding(ReplayGuard.margin)))
        return try await signIn(shown, scopes: named, for: resources, at: client, with: key, at: now, ports)
    }

    /// Signs in by the event that a device of an app has signed that was written for Cotter, once.
    ///
    /// - Parameters:
    ///   - event: what the device has signed; only an approval of the last minutes is good.
    ///   - signature: its signature.
    ///   - key: the device's key.
    ///   - client: the client, which the caller has identified.
    ///   - network: the caller's network.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func signIn(
        by event: SignedEvent, signed signature: [UInt8], by key: JWSPublicKey, at client: ClientID,
        from network: [UInt8]?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let found = try await ports.store.read { reader -> (wait: Seconds?, device: Enrollment?) in
            if let wait = try reader.wait(of: network, at: now) { return (wait, nil) }
            guard let thumbprint = Base64URL.decode(key.thumbprint),
                let id = try reader.enrollments.find(thumbprint: thumbprint),
                let device = try reader.enrollments.find(id), device.jwks?.form == .event,
                try reader.person(called: event.user, at: client, ports.hasher) == device.user
            else { return (nil, nil) }
            return (nil, device)
        }
        if let wait = found.wait { return .tooMany(retryAfter: wait) }
        let end = Timestamp(seconds: event.timestamp).adding(eventTolerance)
        // check: CotterEventTests.ownTimes
        guard now < end && end <= now.adding(eventTolerance + eventTolerance) && event.isApproved else {
            return .invalid
        }
        guard let device = found.device else { return try await countedWrong(from: network, at: now, ports) }
        // check: CotterEventTests.ownTimes
        guard key.isValid(derSignature: signature, for: Array(event.text.utf8)) else {
            return try await countedWrong(from: network, at: now, ports)
        }
        let shown = Shown(
            enrollment: device.id, user: device.user, challenge: nil, once: event.once(by: device.id))
        return try await signIn(shown, scopes: [TokenFamily.openID], for: [], at: client, with: nil, at: now, ports)
    }

    /// What no device has signed counts for the network that it comes from.
    private static func countedWrong(
        from network: [UInt8]?, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        try await FindEvent.countWrong(from: network, at: now, ports)
        return .invalid
    }

    /// How far the clocks of such a device and a server may be apart.
    private static let eventTolerance = Seconds.minutes(5)

    /// What a device has signed by itself, after its signature was verified.
    private struct Shown: Sendable {
        let enrollment: EnrollmentID
        let user: UserID
        let challenge: ChallengeID?
        let once: ReplayGuard
    }

    private static func signIn(
        _ assertion: Shown, scopes named: [String], for resources: [String], at client: ClientID,
        with key: ProvedKey?, at now: Timestamp, _ ports: Ports
    ) async throws -> Outcome {
        let keys = try ports.keys.current().tokens
        let id: TokenFamilyID = ports.random.id(at: now)
        return try await ports.commit(at: now, as: .device(assertion.enrollment)) { work in
            guard let (found, party) = try work.clients.lockWithParty(client), found.disabledAt == nil
            else { return .clientGone }
            try keys.require(party.idTokenAlgorithm)
            // check: BoundTokenTests.required
            guard key != nil || !party.bindsTokens else { return .unproved(.missing) }
            let own: [String]
            let apis: [ResourceAccess]
            switch try work.stores.access(named, at: resources, for: party, issuer: work.issuer) {
            case .scopes(let scopes, let access): (own, apis) = (scopes.filter { !neverGiven.contains($0) }, access)
            case .unknownResource: return .unknownResource
            case .nothing: return .scopeMissing
            case .scopeOfAnother(let scope): return .scopeOfAnother(scope)
            }
            // To nothing a person need not agree.
            // check: SignInDeviceTests.nothing
            guard !own.isEmpty || !apis.isEmpty else { return .scopeMissing }
            let target = try work.stores.target(resources, of: own, at: apis, for: party, issuer: work.issuer)
            guard let target else { return .unknownResource }
            // Whoever removes or suspends the device has this lock, too.
            try work.users.lock(assertion.user)
            guard let device = try work.enrollments.find(assertion.enrollment) else { return .invalid }
            // check: SignInDeviceTests.waiting
            guard device.isLetIn(at: now) else { return .invalid }
            // What is refused so spends nothing, and is good once there is room; what came before takes up no room.
            // The user's lock keeps another request from taking it meanwhile.
            let before = try work.counted(.ownSignIns(device.id))
            if before.isUsedUp { return .tooMany(retryAfter: before.retryAfter(at: now)) }
            // check: SignInDeviceTests.once
            guard try work.spend(assertion.once) == nil else { return .invalid }
            // check: BoundTokenTests.replayed
            guard try work.spend(key) else { return .unproved(.replayed) }
            _ = try work.count(.ownSignIns(device.id))
            guard let methods = try work.ownSignInMethods(of: device, at: party) else { return .invalid }
            let shown = try work.ownAuthentication(by: assertion.challenge, on: device, at: client, among: methods)
            guard let authentication = shown else { return .invalid }
            // check: SignInDeviceTests.waiting
            guard try work.isGood(authentication.evidence, device.user, at: client) else { return .invalid }
            var wanted = Wanted(client: client, redirectURI: "", scopes: own)
            wanted.resources = apis
            // check: SignInDeviceTests.consent
            guard try !work.needsConsent(of: device.user, to: wanted, by: found) else { return .notAllowed }
            // check: SignInDeviceTests.waiting
            guard try work.admit(device.user, to: client) else { return .invalid }
            let family = TokenFamily(
                id: id, client: client, session: nil, sid: nil, scopes: own, resources: apis,
                authentication: authentication, boundTo: key?.thumbprint, at: now)
            try work.families.insert(family)
            try work.raise(.signedInByDevice(family))
            try work.raise(.tokensGiven(family))
            return .signedIn(
                UnsignedTokens(
                    family: family, target: target, isIdentified: own.contains(TokenFamily.openID), nonce: nil,
                    party: party, keyThumbprint: key?.thumbprint))
        }
    }

    /// An assertion that is good for a client, of a device that there is or was; nil for any other.
    private static func verified(
        _ text: String, for client: ClientID, at now: Timestamp, ports: Ports
    ) async throws -> DeviceAssertion? {
        guard let id = DeviceAssertion.enrollment(namedBy: text), let device = try await ports.knownDevice(id)?.device,
            case .ecdsa(let key) = device.key.publicKey.material,
            let assertion = DeviceAssertion(
                text, by: key, at: ports.issuer, for: "\(client)", now: now, tolerance: ReplayGuard.tolerance.value)
        else { return nil }
        return assertion.user == device.user ? assertion : nil
    }
}
