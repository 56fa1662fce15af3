import CountersignWire

/// Hands announcements to whoever iterates ``Authenticator/challenges()``, each once, whether they came by push or by
/// asking.
actor Inbox {
    private struct Listener {
        /// What it was handed, until it is over.
        var seen: [ChallengeID: Timestamp] = [:]
        let hand: @Sendable (PendingChallenge) -> Void
    }

    private var listeners: [Int: Listener] = [:]
    private var looks: [Int: AsyncStream<Void>.Continuation] = [:]
    private var next = 0

    /// Begins to hand announcements on; ends with ``leave(_:)``.
    func listen(_ hand: @escaping @Sendable (PendingChallenge) -> Void) -> Int {
        next += 1
        listeners[next] = Listener(hand: hand)
        return next
    }

    func leave(_ listener: Int) {
        listeners[listener] = nil
    }

    /// Hands an announcement to everybody, or to one, who has not had it; one that is over to nobody.
    func offer(_ challenge: PendingChallenge, to one: Int? = nil, at now: Timestamp) {
        guard challenge.expiresAt > now else { return }
        for (number, var listener) in listeners where one == nil || one == number {
            // What is over does not come again; remembering it would only grow.
            listener.seen = listener.seen.filter { $0.value > now }
            let isNew = listener.seen.updateValue(challenge.expiresAt, forKey: challenge.id) == nil
            listeners[number] = listener
            if isNew { listener.hand(challenge) }
        }
    }

    /// Has everybody who waits for the server ask it anew.
    func lookNow() {
        for look in looks.values { look.yield() }
    }

    /// Tells when to ask anew; ends with the task that iterates it.
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

    /// Runs something that waits; nil when it was cut short by ``lookNow()``.
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
