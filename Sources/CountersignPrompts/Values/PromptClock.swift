/// The time by which a prompt counts down.
///
/// It never goes back, and it goes on while the device sleeps.
public protocol PromptClock: Sendable {
    /// The time since some moment that stays the same.
    var now: Duration { get }

    /// Waits.
    ///
    /// - Throws: when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The system's clock.
public struct SystemPromptClock: PromptClock {
    private let start = ContinuousClock.now

    /// The system's clock.
    public init() {}

    /// See ``PromptClock/now``.
    public var now: Duration { start.duration(to: .now) }

    /// See ``PromptClock/sleep(for:)``.
    public func sleep(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}

/// The time that a person has, and what is said of it.
struct Countdown: Sendable {
    /// The marks at which a screen reader is told, in seconds.
    private static let marks: [(seconds: Int64, word: PromptWord)] = [
        (10, .sayTenSeconds), (30, .sayHalfMinute), (60, .sayMinute),
    ]

    /// When it is over.
    let end: Duration
    private var told: Int64

    /// A countdown from now.
    init(_ length: Duration, from now: Duration) {
        end = now + length
        // A mark that has passed before the start is not told.
        told = Self.marks.first { length <= .seconds($0.seconds) }?.seconds ?? .max
    }

    /// What is left, and never less than nothing.
    func left(at now: Duration) -> Duration { max(.zero, end - now) }

    /// What a screen reader says now; nil between the marks.
    mutating func announcement(at now: Duration) -> PromptWord? {
        let left = left(at: now)
        guard let mark = Self.marks.first(where: { left <= .seconds($0.seconds) }), mark.seconds < told else {
            return nil
        }
        told = mark.seconds
        return mark.word
    }
}
