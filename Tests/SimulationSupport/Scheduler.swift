import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Runs all tasks of a simulation on one thread: the next ready job is drawn from a seed, and if none is ready, the
/// time jumps to the next timer.
///
/// Tasks run here by their executor preference, which child tasks inherit, but `Task { }` does not.
final class Scheduler: TaskExecutor, @unchecked Sendable {
    private struct Timer {
        let due: Duration
        let number: Int
        let fire: () -> Void

        func isLater(than other: Timer) -> Bool { (due, number) > (other.due, other.number) }
    }

    private var ready: [UnownedJob] = []
    /// Sorted so that the next timer is last.
    private var timers: [Timer] = []
    private var nextTimer = 0
    private var chance: SeededGenerator
    private let thread = pthread_self()

    /// The simulated time since the beginning.
    private(set) var elapsed = Duration.zero
    /// How many jobs have run.
    private(set) var jobCount = 0
    /// Whether a job ran on another thread; such a run cannot be repeated.
    var hasEscaped: Bool { escapes.load(ordering: .relaxed) }
    private let escapes = Atomic(false)

    /// Creates a scheduler that draws from a seed and runs on the current thread.
    init(seed: UInt64) {
        chance = SeededGenerator(seed: seed)
    }

    /// Takes a job that is ready.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard pthread_equal(thread, pthread_self()) != 0 else {
            escapes.store(true, ordering: .relaxed)
            return
        }
        ready.append(job)
    }

    /// Runs an action at a time, or at once if that time has passed.
    func at(_ time: Duration, _ fire: @escaping () -> Void) {
        let timer = Timer(due: max(time, elapsed), number: nextTimer, fire: fire)
        nextTimer += 1
        var place = timers.count
        while place > 0, timer.isLater(than: timers[place - 1]) { place -= 1 }
        timers.insert(timer, at: place)
    }

    /// Starts a task that no other task waits for.
    @discardableResult
    func start(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(executorPreference: self) { await body() }
    }

    /// Runs ready jobs and timers until a time, or until a condition is met.
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

    /// Lets time pass while nothing runs; overdue timers fire afterwards.
    func sleep(for time: Duration) { elapsed += time }

    private func draw() -> UnownedJob? {
        guard !ready.isEmpty else { return nil }
        let index = ready.count == 1 ? 0 : Int.random(in: 0..<ready.count, using: &chance)
        ready.swapAt(index, ready.count - 1)
        return ready.removeLast()
    }

    /// Waits until a simulated time.
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

/// An event that happens once and is awaited by one task.
final class Once<Value: Sendable>: Sendable {
    private enum State {
        case awaited(CheckedContinuation<Value, any Error>)
        case ended(Result<Value, any Error>)
        case taken
    }

    private let state = Mutex<State?>(nil)

    init() {}

    /// Resumes a continuation with the result, now or later.
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

    /// Sets the result, unless it is set already.
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

/// The clock for pauses in a simulation.
struct SimulatedClock: Clock {
    /// A time since the beginning of the simulation.
    struct Instant: InstantProtocol {
        fileprivate let elapsed: Duration

        func advanced(by duration: Duration) -> Instant { Instant(elapsed: elapsed + duration) }
        func duration(to other: Instant) -> Duration { other.elapsed - elapsed }
        static func < (left: Instant, right: Instant) -> Bool { left.elapsed < right.elapsed }
    }

    private let scheduler: Scheduler

    init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    var now: Instant { Instant(elapsed: scheduler.elapsed) }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await scheduler.wait(until: deadline.elapsed)
    }
}
