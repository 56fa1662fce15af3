import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs all tasks of a simulated world on one thread: which of those that are ready goes next is drawn from a seed,
/// and time jumps to the next timer when none is.
///
/// Tasks come here by their executor preference, which child tasks inherit and `Task { }` does not.
final class Scheduler: TaskExecutor, @unchecked Sendable {
    private struct Timer {
        let due: Duration
        let number: Int
        let fire: () -> Void

        func isLater(than other: Timer) -> Bool { (due, number) > (other.due, other.number) }
    }

    private var ready: [UnownedJob] = []
    /// The next one last.
    private var timers: [Timer] = []
    private var nextTimer = 0
    private var chance: SeededGenerator
    private let thread = pthread_self()

    /// How long the world has been there.
    private(set) var elapsed = Duration.zero
    /// How many jobs have run.
    private(set) var jobCount = 0
    /// Whether something ran on another thread, where nothing could be repeated.
    var hasEscaped: Bool { escapes.load(ordering: .relaxed) }
    private let escapes = Atomic(false)

    /// A scheduler that draws from a seed, for the thread that makes it.
    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
    }

    /// Takes a job that can run.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard pthread_equal(thread, pthread_self()) != 0 else {
            escapes.store(true, ordering: .relaxed)
            return
        }
        ready.append(job)
    }

    /// Does something at a time, or at once where that is over.
    func at(_ time: Duration, _ fire: @escaping () -> Void) {
        let timer = Timer(due: max(time, elapsed), number: nextTimer, fire: fire)
        nextTimer += 1
        var place = timers.count
        while place > 0, timer.isLater(than: timers[place - 1]) { place -= 1 }
        timers.insert(timer, at: place)
    }

    /// Begins something that nobody waits for.
    @discardableResult
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await body() }
    }

    /// Runs what is ready, and goes from timer to timer, until a time, or until something has happened.
    func run(until end: Duration, or hasHappened: () -> Bool = { false }) {
        while !hasHappened() {
            if let job = draw() {
                jobCount += 1
                job.runSynchronously(on: asUnownedTaskExecutor())
            } else if let timer = timers.last, timer.due <= end {
                timers.removeLast()
                elapsed = max(elapsed, timer.due)
                timer.fire()
            } else {
                elapsed = max(elapsed, end)
                return
            }
        }
    }

    /// Nothing happens for so long, and what should have does afterwards.
    func sleep(for time: Duration) { elapsed += time }

    private func draw() -> UnownedJob? {
        guard !ready.isEmpty else { return nil }
        let index = ready.count == 1 ? 0 : Int.random(in: 0..<ready.count, using: &chance)
        ready.swapAt(index, ready.count - 1)
        return ready.removeLast()
    }

    /// Waits for a time of the world.
    func wait(until time: Duration) async throws {
        let pause = Once<Void>()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                pause.wait(continuation)
                at(time) { pause.end(.success(())) }
                if Task.isCancelled { pause.end(.failure(CancellationError())) }
            }
        } onCancel: {
            pause.end(.failure(CancellationError()))
        }
    }
}

/// Something that is waited for by one, and comes once.
final class Once<Value: Sendable>: Sendable {
    private enum State {
        case awaited(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex<State?>(nil)

    init() {}

    /// Has a continuation resumed by what comes, or came.
    func wait(_ continuation: CheckedContinuation<Value, any Error>) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            guard case .ended(let result) = state else {
                state = .awaited(continuation)
                return nil
            }
            state = .taken
            return result
        }
        if let result { continuation.resume(with: result) }
    }

    /// What comes, unless something did before.
    func end(_ result: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            switch state {
            case nil: state = .ended(result)
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .ended, .taken: break
            }
            return nil
        }
        continuation?.resume(with: result)
    }
}

/// The clock by which pauses of a simulated world last.
struct SimulatedClock: Clock {
    /// A moment since the world began.
    struct Instant: InstantProtocol {
        fileprivate let elapsed: Duration

        func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    private let scheduler: Scheduler

    /// The clock of a scheduler.
    init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    var now: Instant { Instant(elapsed: scheduler.elapsed) }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await scheduler.wait(until: deadline.elapsed)
    }
}
