#if canImport(os)
    import os
#else
    import Synchronization
#endif

/// A value that one caller at a time reads or changes.
///
/// The app asks this library from any thread, and does not wait.
final class Guarded<Value: Sendable>: Sendable {
    #if canImport(os)
        private let value: OSAllocatedUnfairLock<Value>
    #else
        private let value: Mutex<Value>
    #endif

    init(_ value: Value) {
        #if canImport(os)
            self.value = OSAllocatedUnfairLock(initialState: value)
        #else
            self.value = Mutex(value)
        #endif
    }

    func with<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
        value.withLock { body(&$0) }
    }
}
