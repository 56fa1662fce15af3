import CountersignCore
import CountersignWire

/// Watching a challenge, for the doors whose callers may do so.
extension DoorResources {
    /// The most requests of one client that may wait at the same time.
    static let maximumClientWaits = 20_000

    /// Returns a challenge in its current state, or a wait for its end, at most this long.
    func look(
        at id: ChallengeID, of credential: ClientCredential, for length: Seconds, by caller: ServerContext
    ) async throws -> WatchChallenge.Beginning {
        try await WatchChallenge.challenge(
            id, for: credential, waitingUntil: ports.time.now.adding(length), changes: changes(for: caller),
            ports: ports)
    }

    /// The challenge after it has ended or the time is up, or why the client may no longer see it.
    ///
    /// When the server shuts down, this is the challenge in its current state.
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
