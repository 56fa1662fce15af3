import CountersignWire

/// What each party of a simulated world was told, and what it did.
package final class Ledger {
    /// How much there was of what.
    package struct Counts: Sendable {
        package var asked = 0
        package var approved = 0
        package var ended = 0
        package var enrolled = 0
        package var removed = 0
        package var callbacks = 0
        package var callbackRepeats = 0
        package var pushes = 0
        package var wrongPINs = 0
        package var clientCalls = 0
        package var thefts = 0
        package var entered = 0
        package var released = 0
        package var judged = 0
        package var methods = 0
        package var deletedUsers = 0

        package init() {}
    }

    /// Where a challenge stands, as somebody was told.
    struct Told: Equatable {
        let state: String
        let reason: String?

        var isEnd: Bool { state != "pending" }
    }

    /// A callback as it arrived first.
    struct Arrived {
        let body: [UInt8]
        let challenge: String?
        let told: Told?
        /// Whether the receiver has said that it has it.
        var isTaken: Bool
    }

    var counts = Counts()
    var clockSteps = 0
    var auditor: Auditor?
    /// By challenge: the end that somebody was told first.
    private(set) var ends: [ChallengeID: (told: Told, who: String)] = [:]
    /// By who was told, and of what: whether it was an end.
    private var heard: [String: Bool] = [:]
    /// The challenges by the key that asked for them.
    private(set) var asked: [String: ChallengeID] = [:]
    private(set) var callbacks: [String: Arrived] = [:]
    /// What works once and has.
    private var used: Set<String> = []
    /// How often something happened since a time.
    private var times: [String: (since: Duration, number: Int)] = [:]
    /// What was shown to a server that must be shown before something is approved.
    var shown: Set<String> = []
    /// By the key of an asking: from which browser it came, and to which telephone a code goes.
    var browsers: [String: String] = [:]
    var telephones: [String: PhoneNumber] = [:]
    /// The browsers, each with client and user, from which something was approved and nothing reported since.
    var known: Set<String> = []
    /// What must stand nowhere.
    private(set) var secrets: Set<String> = []
    private(set) var latestSecret: String?

    /// Somebody was told how a challenge stands.
    ///
    /// - Returns: what is wrong with it, and the number of the promise; nil for nothing.
    func tell(_ who: String, of id: ChallengeID, _ told: Told) -> (Int, String)? {
        let key = "\(who) \(id)"
        if heard[key] == true, !told.isEnd { return (10, "\(who) was told that \(id) is open, after its end") }
        heard[key] = told.isEnd || heard[key] == true
        guard told.isEnd else { return nil }
        guard let earlier = ends[id] else {
            ends[id] = (told, who)
            return nil
        }
        guard earlier.told == told else {
            return (1, "\(earlier.who) was told that \(id) is \(earlier.told), \(who) that it is \(told)")
        }
        return nil
    }

    /// A portal heard that what it asked by a key became a challenge.
    func ask(_ key: String, became id: ChallengeID) -> (Int, String)? {
        guard let earlier = asked[key] else {
            asked[key] = id
            counts.asked += 1
            return nil
        }
        return earlier == id ? nil : (4, "by \(key) \(earlier) and \(id) were asked")
    }

    /// A callback has arrived.
    func arrive(_ id: String, _ callback: Arrived) -> (Int, String)? {
        guard var earlier = callbacks[id] else {
            callbacks[id] = callback
            counts.callbacks += 1
            return nil
        }
        counts.callbackRepeats += 1
        earlier.isTaken = earlier.isTaken || callback.isTaken
        callbacks[id] = earlier
        return earlier.body == callback.body ? nil : (9, "callback \(id) came with two bodies")
    }

    /// A request was let in by its nonce.
    func use(_ nonce: String, by enrollment: EnrollmentID) -> (Int, String)? {
        used.insert(nonce).inserted ? nil : (5, "a request of \(enrollment) was let in twice")
    }

    /// A code has worked.
    func use(_ code: String) -> (Int, String)? { used.insert(code).inserted ? nil : (5, "\(code) worked twice") }

    /// Something has happened that may happen so often, or so often within a time from its first time on.
    func count(
        _ what: String, atMost limit: Int, each window: Duration = .seconds(1_000_000), at time: Duration = .zero
    ) -> (Int, String)? {
        var counted = times[what] ?? (time, 0)
        if time >= counted.since + window { counted = (time, 0) }
        counted.number += 1
        times[what] = counted
        return counted.number > limit ? (6, "\(counted.number) \(what)") : nil
    }

    func keepSecret(_ text: String) {
        secrets.insert(text)
        latestSecret = text
    }
}
