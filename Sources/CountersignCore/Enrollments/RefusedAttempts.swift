import CountersignWire

/// How often a device may send what is refused.
enum RefusedAttempts {
    /// How many of a kind within ``window``.
    static let maximum = 10
    /// In seconds.
    static let window: Int64 = 60
}

extension StoreWriter {
    /// Counts something that is refused.
    ///
    /// - Parameters:
    ///   - kind: what it is; each is counted for itself.
    ///   - enrollment: whose device sent it.
    ///   - now: when.
    /// - Returns: after how many seconds to come again where there were too many; nil where there were not.
    func countRefused(_ kind: String, of enrollment: EnrollmentID, at now: Timestamp) throws -> Int64? {
        let attempts = try countAttempt("\(kind) \(enrollment)", window: RefusedAttempts.window, at: now)
        return attempts.number > RefusedAttempts.maximum ? RefusedAttempts.window : nil
    }
}
