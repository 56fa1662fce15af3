#if canImport(os)
    import os
#else
    import Synchronization
#endif

/// A value that one thread at a time reads or changes.
final class Locked<Value: Sendable>: Sendable {
    #if canImport(os)
        private let lock: OSAllocatedUnfairLock<Value>
    #else
        private let lock: Mutex<Value>
    #endif

    init(_ value: Value) {
        #if canImport(os)
            lock = OSAllocatedUnfairLock(initialState: value)
        #else
            lock = Mutex(value)
        #endif
    }

    func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        lock.withLock { body(&$0) }
    }
}
