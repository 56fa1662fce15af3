package import CountersignWire

/// Finds what an app has asked that was written for Cotter.
///
/// Spec: docs/decisions/0108-cotters-door.md.
package enum FindEvent {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The event.
        case event(ShownEvent)
        /// There is no such event of the client, or it is over.
        case unknown
        /// The network has brought too many wrong numbers; try again after some seconds.
        case tooMany(retryAfter: Seconds)
    }

    /// The event of the number that the app has got which asked.
    ///
    /// - Parameters:
    ///   - number: the number.
    ///   - client: the client, which the caller has identified.
    ///   - network: the caller's network.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func find(
        _ number: Int64, of client: ClientID, from network: [UInt8]?, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let outcome: Outcome? = try await ports.store.read { reader in
            if let wait = try reader.wait(of: network, at: now) { return .tooMany(retryAfter: wait) }
            guard let id = try reader.authorizations.find(userCode: ports.hasher.hash(ofEvent: number)),
                let found = try reader.authorizations.find(id), found.client == client
            else { return nil }
            // Whoever knew the number has not guessed it.
            return ShownEvent(found, number: number, at: now).map { Outcome.event($0) } ?? .unknown
        }
        if let outcome { return outcome }
        try await countWrong(from: network, at: now, ports)
        return .unknown
    }

    /// Counts a wrong number.
    static func countWrong(from network: [UInt8]?, at now: Timestamp, _ ports: Ports) async throws {
        guard let network else { return }
        try await ports.commit(at: now, as: .system) { work in _ = try work.count(.wrongEventsFrom(network)) }
    }
}

extension Stores {
    /// After how long a network may bring another number; nil for at once.
    func wait(of network: [UInt8]?, at now: Timestamp) throws -> Seconds? {
        guard let network else { return nil }
        let wrong = try counted(.wrongEventsFrom(network), at: now)
        return wrong.isUsedUp ? wrong.retryAfter(at: now) : nil
    }
}
