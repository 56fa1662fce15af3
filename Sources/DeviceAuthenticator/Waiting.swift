import Countersign
import Dispatch
import Foundation

/// The threads on which the SDK works while a caller's thread waits for it.
///
/// The caller's may be one of the few threads that Swift's tasks have: if all of them waited, nothing would go on.
@available(iOS 18, macOS 15, *)
private final class WaitedFor: TaskExecutor {
    static let shared = WaitedFor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// What the SDK does asynchronously, for a call that is synchronous: the thread waits.
///
/// - Parameters:
///   - seconds: for how long at most; nil for as long as it takes, where nothing but the device's storage is asked.
///   - body: what is done.
/// - Throws: `DeviceAuthenticatorError`.
func waited<Value: Sendable>(
    atMost seconds: Int? = nil, _ body: @escaping @Sendable () async throws -> Value
) throws(DeviceAuthenticatorError) -> Value {
    let outcome = Locked<Result<Value, DeviceAuthenticatorError>?>(nil)
    let isOver = DispatchSemaphore(value: 0)
    let work: @Sendable () async -> Void = {
        let result: Result<Value, DeviceAuthenticatorError>
        do { result = .success(try await body()) } catch { result = .failure(DeviceAuthenticatorError(error)) }
        outcome.withLock { $0 = result }
        isOver.signal()
    }
    if #available(iOS 18, macOS 15, *) {
        Task(executorPreference: WaitedFor.shared, operation: work)
    } else {
        Task(operation: work)
    }
    _ = isOver.wait(timeout: seconds.map { DispatchTime.now() + .seconds($0) } ?? .distantFuture)
    guard let result = outcome.withLock({ $0 }) else {
        throw .networkError(CountersignError.network("the server's keys did not come in time"))
    }
    return try result.get()
}

/// Runs something, and calls back once.
///
/// - Parameters:
///   - issuer: the server that errors name.
///   - completion: gets the outcome, on any thread.
///   - body: what is done.
func run<Value: Sendable>(
    at issuer: URL, _ completion: @escaping @Sendable (Result<Value, DeviceAuthenticatorError>) -> Void,
    _ body: @escaping @Sendable () async throws -> Value
) {
    Task {
        let result: Result<Value, DeviceAuthenticatorError>
        do { result = .success(try await body()) } catch {
            result = .failure(DeviceAuthenticatorError(error, at: issuer))
        }
        completion(result)
    }
}

/// Runs something that brings nothing but perhaps an error, and calls back once.
func run(
    at issuer: URL, _ completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void,
    _ body: @escaping @Sendable () async throws -> Void
) {
    Task {
        var failure: DeviceAuthenticatorError?
        do { try await body() } catch { failure = DeviceAuthenticatorError(error, at: issuer) }
        completion(failure)
    }
}
