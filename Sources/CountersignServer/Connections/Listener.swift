import NIOCore
import ServiceLifecycle

/// Lets a task work on an event loop instead of Swift's pool of threads.
private final class EventLoopTaskExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

/// Runs a listener whose accepting task works on an event loop.
///
/// Swift's pool of threads serves its tasks one after the other. There the accepting task would wait, for about ten
/// connections at a time, behind all requests that are worked on. ``HTTPConnection`` gives the work on a connection
/// back to the pool.
struct Listener: Service {
    let server: any Service
    let loop: any EventLoop

    func run() async throws {
        try await withTaskExecutorPreference(EventLoopTaskExecutor(loop)) { try await server.run() }
    }
}
