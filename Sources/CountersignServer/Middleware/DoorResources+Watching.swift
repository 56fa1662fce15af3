import CountersignCore
import CountersignWire

/// Watching a challenge, for every door whose callers may.
extension DoorResources {
    /// How many of a client's requests may wait at once.
    static let maximumClientWaits = 20_000

    /// A challenge as it is, or a wait for its end of at most some seconds.
    func look(
        at id: ChallengeID, of credential: ClientCredential, for seconds: Int64, by caller: ServerContext
    ) async throws -> WatchChallenge.Beginning {
        try await WatchChallenge.challenge(
            id, for: credential, waitingUntil: ports.time.now.adding(seconds: seconds), changes: changes(for: caller),
            ports: ports)
    }

    /// The challenge when it has ended or the time is up, or why it is shown no more; when the server shuts down, the
    /// challenge in its current state.
    func outcome(
        of wait: WatchChallenge.Wait
    ) async throws -> WatchChallenge.Outcome {
        do {
            return try await wait.outcome(ports: ports)
        } catch is CancellationError where shutdown.isOver {
            return try await WatchChallenge.challenge(wait.challenge, for: wait.caller, ports: ports)
        }
    }
}
