import CountersignCore
import Synchronization

/// Keeps the server from taking on more requests than it can answer in time.
///
/// A request that waits its turn too long is of no use to its caller, and keeps others waiting. So no more requests are
/// worked on at once than the server has lately answered in a tenth of a second; a request beyond that is refused at
/// once. A server that has had little to do takes ``least`` at once. Requests that wait for something to happen are not
/// counted while they wait.
final class LoadLimit: Sendable {
    /// For how long answers are counted before the limit changes.
    static let window = Duration.milliseconds(500)
    /// How long a request may take when as many are worked on as may be.
    private static let turn = Duration.milliseconds(100)

    private struct State {
        var working = 0
        var refused = 0
        var limit: Int
        var answered = 0
        var began: ContinuousClock.Instant?
        var toldAt: ContinuousClock.Instant?
    }

    private let least: Int
    private let state: Mutex<State>

    /// A limit for a server that has not answered anything yet.
    ///
    /// - Parameter least: how many requests may be worked on at once in any case.
    init(least: Int = 256) {
        self.least = least
        state = Mutex(State(limit: least))
    }

    /// How many requests are worked on now.
    var working: Int { state.withLock { $0.working } }
    /// How many requests were refused since the start.
    var refused: Int { state.withLock { $0.refused } }

    /// Admits a request, unless there are too many.
    ///
    /// - Returns: whether it is admitted; call ``leave(at:)`` when it is answered or waits.
    func enter(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            measure(&state, at: now)
            guard state.working < state.limit else {
                state.refused += 1
                return false
            }
            state.working += 1
            return true
        }
    }

    /// Whether the log should be told of a refusal, which is once a second.
    func tells(at now: ContinuousClock.Instant) -> Bool {
        state.withLock { state in
            if let toldAt = state.toldAt, now - toldAt < .seconds(1) { return false }
            state.toldAt = now
            return true
        }
    }

    /// Counts an admitted request as answered.
    func leave(at now: ContinuousClock.Instant) {
        state.withLock { state in
            measure(&state, at: now)
            state.working -= 1
            state.answered += 1
        }
    }

    private func measure(_ state: inout State, at now: ContinuousClock.Instant) {
        guard let began = state.began else {
            state.began = now
            return
        }
        let length = now - began
        guard length >= Self.window else { return }
        // Where nothing was asked for a while, the window is longer and says less about what the server can do.
        state.limit = max(least, length < Self.window * 2 ? Int(Double(state.answered) * (Self.turn / length)) : 0)
        (state.answered, state.began) = (0, now)
    }
}

/// Asks hooks, and gives the place of the asking request back before: a hook that hangs holds up no other caller.
struct HooksBesidesWork: AuthenticatorHooks {
    let hooks: any AuthenticatorHooks

    func ask(_ question: HookQuestion) async -> HookVerdict? {
        WorkPlace.current?.leave()
        return await hooks.ask(question)
    }
}

/// The place of one request among those that are worked on.
final class WorkPlace: Sendable {
    /// The place of the request that this task works on.
    @TaskLocal static var current: WorkPlace?

    /// A load balancer that asks for the server's health always gets an answer.
    private static let probes = ["/healthz", "/readyz"]

    private let load: LoadLimit?
    private let isTaken = Mutex(false)

    /// A place that is not taken.
    ///
    /// - Parameter load: counts the places; nil for a request that is not counted.
    init(in load: LoadLimit?) {
        self.load = load
    }

    /// Takes the place of a request that has arrived completely.
    ///
    /// - Parameter target: the request's path and query.
    /// - Throws: ``RequestFailure/overloaded`` if there are too many.
    func take(for target: String) throws(RequestFailure) {
        guard let load, !Self.probes.contains(target) else { return }
        guard load.enter(at: .now) else { throw .overloaded }
        isTaken.withLock { $0 = true }
    }

    /// Gives the place back, if it is taken.
    func leave() {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = false }
            return isTaken
        }
        if wasTaken { load?.leave(at: .now) }
    }
}
