import Foundation

/// How long the server is killed and restarted, and the seed.
struct KillSettings: Sendable {
    /// The duration in `make test`, in seconds.
    private static let fullLength = 90.0
    /// The duration in a plain `swift test`, in seconds.
    private static let shortLength = 5.0

    let seed: UInt64
    let seconds: Double
    let maximumKills: Int
    /// What was left out, for the log; nil for a full run.
    let shortened: String?

    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        seed = environment["COUNTERSIGN_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...999_999)
        seconds = environment["COUNTERSIGN_KILL_SECONDS"].flatMap { Double($0) } ?? Self.shortLength
        maximumKills = environment["COUNTERSIGN_KILLS"].flatMap { Int($0) } ?? .max
        shortened =
            seconds < Self.fullLength
            ? "shortened to \(seconds) s; in full: COUNTERSIGN_KILL_SECONDS=\(Int(Self.fullLength)) swift test "
                + "--filter KillTests" : nil
    }
}
