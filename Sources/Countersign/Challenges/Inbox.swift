import CountersignWire

/// Passes challenges to all iterators of ``Authenticator/challenges()``, each once, whether they came by push or by
/// polling.
actor Inbox {
    private struct Listener {
        /// The challenges that the listener has received, until they expire.
        var seen: [ChallengeID: Timestamp] = [:]
        let hand: @Sendable (PendingChallenge) -> Void
    }

    private var listeners: [Int: Listener] = [:]
    private var looks: [Int: AsyncStream<Void>.Continuation] = [:]
    private var next = 0

    /// Adds a listener, which receives challenges until ``leave(_:)``.
    func listen(_ hand: @escaping @Sendable (PendingChallenge) -> Void) -> Int {
        next += 1
        listeners[next] = Listener(hand: hand)
        return next
    }

    func leave(_ listener: Int) {
        listeners[listener] = nil
    }

    /// Whether a challenge was passed to a listener.
    func hasOffered(_ challenge: ChallengeID, to listener: Int) -> Bool {
        listeners[listener]?.seen[challenge] != nil
    }

    /// Passes a challenge to all listeners, or to one, that have not received it; an expired one to nobody.
    func offer(_ challenge: PendingChallenge, to one: Int? = nil, at now: Timestamp) {
        guard challenge.expiresAt > now else { return }
        for (number, var listener) in listeners where one == nil || one == number {
            // An expired challenge does not come again, so its id need not be remembered.
            listener.seen = listener.seen.filter { $0.value > now }
            let isNew = listener.seen.updateValue(challenge.expiresAt, forKey: challenge.id) == nil
            listeners[number] = listener
            if isNew { listener.hand(challenge) }
        }
    }

    /// Makes all waiting polls ask the server again.
    func lookNow() {
        for look in looks.values { look.yield() }
    }

    /// Emits an element for each ``lookNow()``; ends with the task that iterates it.
    private func lookRequests() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        next += 1
        let number = next
        looks[number] = continuation
        continuation.onTermination = { _ in Task { await self.forget(number) } }
        return stream
    }

    private func forget(_ number: Int) {
        looks[number] = nil
    }

    /// Runs an operation that waits; nil when ``lookNow()`` cut it short.
    nonisolated func untilLook<Result: Sendable>(
        _ body: @escaping @Sendable () async throws(CountersignError) -> Result
    ) async throws(CountersignError) -> Result? {
        let requests = await lookRequests()
        let outcome = await withTaskGroup(of: Swift.Result<Result?, CountersignError>.self) { group in
            group.addTask {
                do throws(CountersignError) { return .success(try await body()) } catch { return .failure(error) }
            }
            group.addTask {
                for await _ in requests { return .success(nil) }
                return .failure(.cancelled)
            }
            let first = await group.next() ?? .failure(.cancelled)
            group.cancelAll()
            return first
        }
        return try outcome.get()
    }
}
