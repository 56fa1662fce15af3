package import CountersignWire

/// Counts attempts.
///
/// All methods throw ``StoreError``.
package protocol AttemptStore {
    /// The count in the current window, if there is a window.
    func find(_ key: String, at: Timestamp) throws -> AttemptCount?
    /// Counts an attempt in the current window of this length.
    ///
    /// A window that ends more than two window lengths from now was begun by a clock that was ahead: a new window
    /// replaces it.
    func count(_ key: String, window: Seconds, at: Timestamp) throws -> AttemptCount
    func forget(_ key: String) throws
}
