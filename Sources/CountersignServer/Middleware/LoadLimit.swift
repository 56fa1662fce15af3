import CountersignCore
import CountersignWire
import Synchronization

/// Keeps the server from taking on more requests than it can answer in time.
///
/// A request that waits its turn too long is of no use to its caller, and keeps others waiting. So where requests have
/// lately taken more than a tenth of a second, no more are worked on at once than are answered in a tenth of a second,
/// or ``floor``; a request beyond that is refused at once. Requests that wait for something to happen are not counted
/// while they wait.
final class LoadLimit: Sendable {
    /// For how long answers are counted before the limit changes.
    static let window = Duration.milliseconds(500)
    /// For how long the admitted requests may keep the server busy.
    private static let turn = Duration.milliseconds(100)
    /// How many are worked on in any case.
    ///
    /// Where the disk is slow, requests take long however few they are, and the more there are, the more of them share
    /// a sync.
    private static let floor = 128

    static let probes = ["/healthz", "/readyz"]

    private struct State {
        var working = 0
        var refused = 0
        var limit: Int
        /// When ``busy`` was last added to.
        var counted: ContinuousClock.Instant?
        /// The time that all requests together have spent at work in this window.
        var busy = Duration.zero
        var answered = 0
        var began: ContinuousClock.Instant?
    }

    private let most: Int
    private let state: Mutex<State>

    /// A limit for a server that has not answered anything yet.
    ///
    /// - Parameter most: how many requests may be worked on at once by a server that answers them in time, or more if
    ///   it answers more than these in a tenth of a second.
    init(most: Int = 256) {
        self.most = most
        state = Mutex(State(limit: most))
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

    /// Whether there are too many requests for another one, which is then counted as refused.
    ///
    /// A load balancer that asks for the server's health always gets an answer.
    ///
    /// - Parameter target: the request's path and query.
    func isFull(for target: String, at now: ContinuousClock.Instant) -> Bool {
        guard !Self.probes.contains(target) else { return false }
        return state.withLock { state in
            measure(&state, at: now)
            guard state.working >= state.limit else { return false }
            state.refused += 1
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
        state.busy += (now - (state.counted ?? now)) * state.working
        state.counted = now
        guard let began = state.began else {
            state.began = now
            return
        }
        let length = now - began
        guard length >= Self.window else { return }
        state.limit = limit(after: state, of: length)
        (state.answered, state.busy, state.began) = (0, .zero, now)
    }

    /// The limit after a window of this length.
    private func limit(after state: State, of length: Duration) -> Int {
        // Where nothing was asked for a while, the window is longer and says nothing of what the server can do.
        guard state.answered > 0, length < Self.window * 2 else { return most }
        let inTurn = Int(Double(state.answered) * (Self.turn / length))
        let taken = state.busy / state.answered
        if taken > Self.turn { return max(min(most, Self.floor), inTurn) }
        // It rises slowly: the first window in which all was answered in time is not yet the end of the rush.
        return min(max(most, inTurn), state.limit + state.limit / 4 + 1)
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

/// Fetches clients' keys; a request that waits for them gives its place back first.
struct KeysBesidesWork: ClientKeys {
    let keys: any ClientKeys

    func fetch(_ uri: KeysURI) async -> FetchedKeys { await keys.fetch(uri) }

    func willWait() { WorkPlace.current?.leave() }
}

/// Asks the providers of captchas; a request that waits for one gives its place back before.
struct CaptchasBesidesWork: Captchas {
    let captchas: any Captchas

    var names: Set<CaptchaName> { captchas.names }

    func verify(_ token: CaptchaToken, by name: CaptchaName) async -> CaptchaVerdict {
        WorkPlace.current?.leave()
        return await captchas.verify(token, by: name)
    }
}

/// The place of one request among those that are worked on.
final class WorkPlace: Sendable {
    /// The place of the request that this task works on.
    @TaskLocal static var current: WorkPlace?

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
        guard let load, !LoadLimit.probes.contains(target) else { return }
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
