import CountersignWire
import Encodings

extension Authenticator {
    /// How long the server may hold a request for pending challenges, in seconds.
    private static let longPoll: Int64 = 30

    /// The challenges for this device as they arrive: each once, for all enrollments, without expired ones.
    ///
    /// The sequence continues through network failures and never throws; ``connectionStates`` reports the state of the
    /// connection. It ends with the task that iterates it, or with the last enrollment.
    public func challenges() -> Challenges {
        Challenges(authenticator: self)
    }

    /// The challenges that wait for this device, newest first.
    ///
    /// An enrollment that fails, because it was removed for example, does not hide the challenges of the others;
    /// ``Enrollment/pendingChallenges()`` throws the error of one enrollment.
    ///
    /// - Throws: the error of the first enrollment, if all of them failed.
    public func pendingChallenges() async throws(CountersignError) -> [PendingChallenge] {
        var pending: [PendingChallenge] = []
        var failure: CountersignError?
        var isAnyRead = false
        for stored in await roster.all {
            do throws(CountersignError) {
                pending += try await pendingChallenges(for: stored)
                isAnyRead = true
            } catch {
                failure = failure ?? error
            }
        }
        if let failure, !isAnyRead { throw failure }
        return pending.sorted { $0.id > $1.id }
    }

    fileprivate func pendingChallenges(
        for stored: StoredEnrollment
    ) async throws(CountersignError) -> [PendingChallenge] {
        try await tellApp(of: stored)
        let pulled = try await pull(for: stored, cursor: nil, waiting: 0) { _ in false }
        if let failure = pulled.failure, pulled.challenges.isEmpty { throw failure }
        return pulled.challenges
    }

    /// What came of asking for the pending challenges of an enrollment.
    private struct Pulled: Sendable {
        var challenges: [PendingChallenge] = []
        let cursor: String?
        /// Why challenges are missing that the list named and did not bring.
        var failure: CountersignError?
    }

    /// Gets the pending challenges of an enrollment.
    ///
    /// - Parameters:
    ///   - stored: the enrollment.
    ///   - cursor: the list that the app has.
    ///   - waiting: for how long the server may wait for another list, in seconds.
    ///   - isKnown: whether the app has a challenge already, which is then not fetched again.
    private func pull(
        for stored: StoredEnrollment, cursor: String?, waiting: Int64,
        _ isKnown: @Sendable (ChallengeID) async -> Bool
    ) async throws(CountersignError) -> Pulled {
        var path = "/v1/enrollments/self/challenges?wait=\(waiting)"
        if let cursor { path += "&cursor=\(cursor)" }
        let json = try await send("GET", path, for: stored, waiting: waiting).json()
        var pulled = Pulled(cursor: json["cursor"]?.string)
        for element in json["challenges"]?.array ?? [] {
            guard let entry = try? PendingEntry(element, at: "") else { continue }
            if entry.message == nil, await isKnown(entry.challenge) { continue }
            do throws(CountersignError) {
                pulled.challenges.append(
                    PendingChallenge(try await body(of: entry, for: stored), authenticator: self))
            } catch {
                // One bad challenge does not hide the others; a key that is not the server's hides all of them.
                if error.isOfOneChallenge { continue }
                if case .serverChanged = error { throw error }
                // The list could be had; what it did not bring comes when the network allows.
                pulled.failure = error
                break
            }
        }
        return pulled
    }

    private func body(
        of entry: PendingEntry, for stored: StoredEnrollment
    ) async throws(CountersignError) -> ChallengeBody {
        guard let message = entry.message else { return try await fetch(entry.challenge, for: stored) }
        return try await unseal(message, naming: entry.challenge, for: stored)
    }

    /// Polls for one enrollment until it is gone or the task is cancelled.
    fileprivate func poll(_ id: EnrollmentID, for listener: Int) async {
        var cursor: String?
        var backoff = Backoff()
        while !Task.isCancelled, let stored = await roster[id] {
            let start = ContinuousClock.now
            do throws(CountersignError) {
                let isFirst = backoff.failures > 0 || cursor == nil
                let list = try await inbox.untilLook { [cursor] () throws(CountersignError) in
                    if isFirst { try await self.resume(for: stored) }
                    return try await self.pull(for: stored, cursor: cursor, waiting: Self.longPoll) { id in
                        await self.inbox.hasOffered(id, to: listener)
                    }
                }
                let now = await connection.now
                for challenge in (list?.challenges ?? []).reversed() {
                    await inbox.offer(challenge, to: listener, at: now)
                }
                if let failure = list?.failure { throw failure }
                cursor = list?.cursor
                backoff = Backoff()
            } catch .deviceDeregistered {
                return
            } catch {
                var held = Duration.zero
                if case .network = error { held = start.duration(to: .now) }
                backoff.fail(after: held)
                do throws(CountersignError) {
                    let pause = backoff.pause
                    _ = try await inbox.untilLook { () throws(CountersignError) in try await self.sleep(for: pause) }
                } catch { return }
            }
        }
    }

    /// Sends what an earlier run or a failed network left unsent.
    private func resume(for stored: StoredEnrollment) async throws(CountersignError) {
        try await resumeAnswers(for: stored)
        try await tellApp(of: stored)
        do throws(CountersignError) {
            try await tellPush(of: stored)
        } catch {
            // A device that polls does not depend on its push registration.
            guard error.retryHelps || error.isDeregistration else { return }
            throw error
        }
    }
}

extension CountersignError {
    /// Whether the error says that a challenge has ended meanwhile, or cannot be shown; the others are not concerned.
    fileprivate var isOfOneChallenge: Bool {
        switch self {
        case .challengeNotFound, .challengeExpired, .alreadyAnswered, .challengeEnded, .notHandleable: true
        default: false
        }
    }
}

extension Enrollment {
    /// The challenges that wait for this user, newest first.
    public func pendingChallenges() async throws(CountersignError) -> [PendingChallenge] {
        try await authenticator.pendingChallenges(for: stored).sorted { $0.id > $1.id }
    }
}

/// The challenges for a device, as they arrive.
///
/// See ``Authenticator/challenges()``.
public struct Challenges: AsyncSequence, Sendable {
    /// A challenge that waits for an answer.
    public typealias Element = PendingChallenge
    /// The sequence never throws.
    public typealias Failure = Never

    fileprivate let authenticator: Authenticator

    /// Waits for challenges.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var stream: AsyncStream<PendingChallenge>.AsyncIterator

        fileprivate init(_ authenticator: Authenticator) {
            let (stream, continuation) = AsyncStream.makeStream(of: PendingChallenge.self)
            let driver = Task {
                let listener = await authenticator.inbox.listen { continuation.yield($0) }
                await Challenges.drive(authenticator, for: listener)
                await authenticator.inbox.leave(listener)
                continuation.finish()
            }
            continuation.onTermination = { _ in driver.cancel() }
            self.stream = stream.makeAsyncIterator()
        }

        /// The next challenge, or nil when the task is cancelled or the last enrollment is gone.
        public mutating func next() async -> PendingChallenge? {
            await stream.next()
        }
    }

    /// Starts to poll.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(authenticator)
    }

    /// Polls for every enrollment, including new ones, until the last is gone.
    private static func drive(_ authenticator: Authenticator, for listener: Int) async {
        await withDiscardingTaskGroup { group in
            var polled: Set<EnrollmentID> = []
            for await enrollments in await authenticator.roster.changes() {
                let ids = enrollments.map(\.id)
                guard !ids.isEmpty else { break }
                for id in ids where polled.insert(id).inserted {
                    group.addTask { await authenticator.poll(id, for: listener) }
                }
                polled.formIntersection(ids)
            }
            group.cancelAll()
        }
    }
}
