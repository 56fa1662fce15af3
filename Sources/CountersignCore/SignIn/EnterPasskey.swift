package import CountersignWire
package import Encodings
import WebAuthn

/// Signs a person in by a passkey.
package enum EnterPasskey {
    /// A passkey's answer, and the sign-in that it is for.
    package struct Request: Sendable {
        /// What the browser sent.
        package let response: JSONValue
        /// The ceremony of the page.
        package let ceremony: PasskeyCeremony
        /// What the page carried.
        package let carried: CarriedSignIn
        /// What the browser's cookie holds.
        package let browser: BrowserID
        /// From where the sign-in was started.
        package let place: ContextLine?
        /// The language of the page; nil for the operator's default.
        package let language: LanguageTag?
        /// The caller's network.
        package let network: [UInt8]?

        /// A request of these parts.
        package init(
            _ response: JSONValue, in ceremony: PasskeyCeremony, _ carried: CarriedSignIn, browser: BrowserID,
            place: ContextLine?, language: LanguageTag? = nil, network: [UInt8]?
        ) {
            self.response = response
            self.ceremony = ceremony
            self.carried = carried
            self.browser = browser
            self.place = place
            self.language = language
            self.network = network
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The person is authenticated, and the browser can go on with this sign-in.
        case authenticated(AuthorizationID)
        /// There is no such passkey, it did not sign this, or it does not count for the client.
        case refused
        /// The passkey counts from this time on.
        case waiting(until: Timestamp)
        /// The client is disabled, uses the provider no more, or does not have the way.
        case clientGone
        /// The earlier sign-in is another browser's, or is over.
        case tooLate
        /// The network has started too many sign-ins; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// Takes a passkey's answer.
    ///
    /// - Throws: ``StoreError``.
    package static func enter(_ request: Request, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        guard let response = try? AssertionResponse(request.response) else { return .refused }
        let new: AuthorizationID = ports.random.id(at: now)
        var wanted = request.carried.wanted
        wanted.askedFrom = request.place?.worded(in: request.language)
        wanted.askedIn = request.language
        return try await ports.commit(at: now, as: .system) { [wanted] work in
            guard let (client, party) = try work.clients.lockWithParty(wanted.client), client.disabledAt == nil,
                party.ways.contains(.passkey)
            else { return .clientGone }
            if let network = request.network {
                let count = try work.count(.signInsFrom(network))
                if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
            }
            guard let passkey = try work.passkeys.find(response.credentialID),
                let verified = try? request.ceremony.verify(response, by: passkey)
            else { return .refused }
            // check: PasskeyTests.replay
            guard try request.ceremony.spend(in: work) else { return .refused }
            // check: PasskeyTests.waits
            guard passkey.counts(at: now) else { return .waiting(until: passkey.countsFrom) }
            // check: PasskeyTests.thirdParty
            guard passkey.isBelieved(in: client.trustGroup) else { return .refused }
            // check: PasskeyTests.closed
            guard try work.isWelcome(passkey.user, at: client.id) else { return .refused }
            let browser = work.hasher.hash(of: request.browser, client: client.id)
            if let earlier = request.carried.signIn {
                guard let open = try work.open(earlier, in: browser),
                    try work.authorizations.advance(earlier, to: .refused, at: now)
                else { return .tooLate }
                try work.endAsk(of: open)
            }
            try work.passkeys.use(
                passkey.id, signCount: verified.signCount, isBackedUp: verified.isBackedUp, at: now)
            try work.authorizations.insert(
                Authorization(
                    id: new, wanted: wanted, browser: browser, user: passkey.user, ask: nil,
                    state: .authenticated(Authentication(by: passkey, at: now)),
                    expiresAt: now.adding(Authorization.lifetime)))
            return .authenticated(new)
        }
    }
}
