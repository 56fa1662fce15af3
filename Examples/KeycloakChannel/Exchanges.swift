/// The requests that Keycloak waits for, in memory alone: a file of them would hold tokens that can say yes.
actor Exchanges {
    /// What becomes of a request.
    enum Acceptance {
        /// A person is asked, and Keycloak will be told.
        case taken
        /// It has come before.
        case repeated
        /// Another request has come with the same token.
        case different
        /// There are too many.
        case full
    }

    /// How many there may be.
    static let most = 1000

    private let keycloak: Keycloak
    private let asker: Asker
    /// Those whose time has not ended, by the names of their tokens.
    private var taken: [String: (digest: [UInt8], end: ContinuousClock.Instant)] = [:]

    init(keycloak: Keycloak, asker: Asker) {
        self.keycloak = keycloak
        self.asker = asker
    }

    /// Takes a request on; the person is asked afterwards, so that the reply says nothing about them.
    func take(_ request: ChannelRequest, of token: ChannelToken) -> Acceptance {
        if let earlier = taken[token.id] { return earlier.digest == request.digest ? .repeated : .different }
        let now = ContinuousClock.now
        taken = taken.filter { $0.value.end > now }
        guard taken.count < Self.most else { return .full }
        taken[token.id] = (request.digest, token.end)
        Task {
            let status = await asker.answer(to: request, of: token)
            await keycloak.report(status, of: token)
        }
        return .taken
    }
}
