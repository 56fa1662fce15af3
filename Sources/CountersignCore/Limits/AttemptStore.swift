public import CountersignWire

/// The attempts that are counted.
///
/// All throw ``StoreError``.
public protocol AttemptStore {
    /// What is counted in the current window, if there is one.
    func find(_ key: String, at: Timestamp) throws -> AttemptCount?
    /// Counts an attempt in the current window of this many seconds.
    ///
    /// A window that ends later than two of them from now is of a clock that was ahead, and a new one begins.
    func count(_ key: String, window: Int64, at: Timestamp) throws -> AttemptCount
    func forget(_ key: String) throws
}
