/// Page: os/osallocatedunfairlock iOS 16.0 macOS 13.0
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
    /// Page: os/osallocatedunfairlock/init(initialstate:) iOS 16.0 macOS 13.0
    public init(initialState: State) where State: Sendable {}

    /// Page: os/osallocatedunfairlock/withlock(_:) iOS 16.0 macOS 13.0
    public func withLock<R: Sendable>(_ body: @Sendable (inout State) throws -> R) rethrows -> R {
        preconditionFailure()
    }
}
