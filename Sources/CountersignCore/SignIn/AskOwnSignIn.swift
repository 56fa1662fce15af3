package import CountersignWire

/// Asks a device for the PIN or the biometric by which it signs its user in at a client.
///
/// It is no question to the person about somebody else's request: the device has asked for it, nobody else is asked, and
/// no number is typed. Spec: docs/protocol/signing-in.md, *With a PIN or a biometric*.
package enum AskOwnSignIn {
    /// How long it can be answered, and the sign-in completed.
    static let lifetime = Seconds.minutes(2)

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenge, which the device opens and answers like any other.
        case asked(ChallengeID)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The device waits.
        case waiting
        /// The device has neither a PIN nor a biometric that counts and that the client's sign-ins take.
        case methodMissing
        /// The client does not believe the device.
        case notConfirmed
        /// The client neither knows the user nor takes whoever signs in, or the user has allowed the third party nothing.
        case userNotLinked
        /// There is no such client, it is disabled, or nobody signs in to it by such a device.
        case clientGone
        /// The device has signed in too often; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Asks.
    ///
    /// - Parameters:
    ///   - client: where the user wants to sign in.
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func ask(at client: ClientID, by call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let id: ChallengeID = ports.random.id(at: now)
        guard let nonce = Nonce(bytes: ports.random.bytes(32)) else { preconditionFailure("a nonce has 32 bytes") }
        return try await ports.commit(at: now, as: call.actor) { work in
            let found = try work.clients.lock(client)
            try work.users.lock(call.user)
            if let refusal = try work.admit(call) { return .refused(refusal) }
            guard let found, found.disabledAt == nil, let party = try work.relyingParties.find(client) else {
                return .clientGone
            }
            let device = try work.caller(of: call)
            // check: OwnSignInTests.refused
            guard device.isLetIn(at: now) else { return .waiting }
            // check: OwnSignInTests.refused
            guard try work.isBelieved(device, at: client) else { return .notConfirmed }
            // check: OwnSignInTests.refused
            guard try work.isWelcome(device.user, at: client) else { return .userNotLinked }
            // A third party sees who is asked for it, and must not before the person has allowed it something.
            // check: OwnSignInTests.thirdParty
            guard try !found.isThirdParty || work.grants.find(device.user, for: client) != nil else {
                return .userNotLinked
            }
            guard let allowed = try work.ownSignInMethods(of: device, at: party) else { return .clientGone }
            let methods = [AnswerMethod.biometric, .pin].filter {
                allowed.contains($0) && device.counts($0, at: now)
            }
            // check: OwnSignInTests.refused
            guard !methods.isEmpty else { return .methodMissing }
            let count = try work.count(.ownSignIns(device.id))
            if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            let message = try DisplayMessage("Sign in to \(found.name.text)?")
            let question = Question(
                challenge: id, nonce: nonce, issuer: work.issuer, client: client, clientName: found.name,
                type: .ownSignIn, context: nil, askedAt: now, details: [], signingData: nil, message: message)
            let challenge = Challenge(
                question: question, user: device.user, purpose: .ownSignIn, alert: message, methods: methods,
                numberHash: nil, expiresAt: now.adding(lifetime), callbackURI: nil, clientState: nil, locale: nil,
                state: .pending)
            try work.ask(challenge, of: [device.id], telling: [])
            return .asked(id)
        }
    }
}

extension UnitOfWork {
    /// The methods by which a device may sign its user in at a client; nil if it may not at all.
    ///
    /// The type by which the client's people are asked for their sign-ins holds here, too: a client that wants a PIN gets
    /// no tokens for the possession of a device. For a type that is labelled AAL2 nothing here is good enough.
    func ownSignInMethods(of device: Enrollment, at party: RelyingParty) throws -> Set<AnswerMethod>? {
        // check: SignInDeviceTests.ways
        guard party.ways.contains(.device) else { return nil }
        // A device that signs short texts answers none of the client's other types.
        let name = device.jwks?.form == .event ? TypeName.cotter : party.type
        guard let type = try types.find(name), type.isOpen(to: party.client) else { return nil }
        // check: OwnSignInTests.type
        guard device.satisfies(type) && !type.isAAL2 else { return nil }
        // Where possession does, so does what shows more.
        return Set(type.methods + (type.methods.contains(.confirm) ? [.pin, .biometric] : []))
    }

    /// How a device has authenticated its user for a sign-in of its own; nil if it has not.
    ///
    /// - Parameters:
    ///   - id: the challenge that the device has answered; nil if its signature alone shall do.
    ///   - device: the device.
    ///   - client: where the user wants to sign in.
    ///   - methods: the methods that do there.
    func ownAuthentication(
        by id: ChallengeID?, on device: Enrollment, at client: ClientID, among methods: Set<AnswerMethod>
    ) throws -> Authentication? {
        guard let id else {
            // check: SignInDeviceTests.type
            guard methods.contains(.confirm) else { return nil }
            return Authentication(byItself: device, at: now)
        }
        guard let challenge = try challenges.find(id), case .ended(let outcome, let time) = challenge.state,
            case .approved(let method, let decider) = outcome
        else { return nil }
        // check: OwnSignInTests.type
        guard methods.contains(method) else { return nil }
        // check: OwnSignInTests.other
        guard challenge.purpose == .ownSignIn && decider == device.id && challenge.question.client == client else {
            return nil
        }
        // check: OwnSignInTests.once
        guard now < challenge.expiresAt else { return nil }
        let once = ReplayGuard("\(id)", of: "own sign-in", until: challenge.expiresAt.adding(ReplayGuard.margin))
        // check: OwnSignInTests.once
        guard try spend(once) == nil else { return nil }
        return Authentication(by: challenge, method, on: device, isAAL2: false, isCarried: false, at: time)
    }
}
