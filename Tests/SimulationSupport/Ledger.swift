import CountersignWire

/// Records what each party of a simulation was told and what it did.
package final class Ledger {
    /// How often each kind of event happened.
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
        package var signedIn = 0
        package var redeemed = 0
        package var refreshed = 0
        package var allowed = 0
        package var withdrawn = 0
        package var askedByServers = 0
        package var givenToServers = 0
        package var slowedDown = 0
        package var pushedTokens = 0
        package var authorized = 0

        package init() {}
    }

    /// The state of a challenge, as a party was told.
    struct Told: Equatable {
        let state: String
        let reason: String?

        var isEnd: Bool { state != "pending" }
    }

    /// A callback as it arrived the first time.
    struct Arrived {
        let body: [UInt8]
        let challenge: String?
        let told: Told?
        /// Whether the receiver has accepted it.
        var isTaken: Bool
    }

    var counts = Counts()
    var clockSteps = 0
    var auditor: Auditor?
    /// The end of each challenge that a party was told first.
    private(set) var ends: [ChallengeID: (told: Told, who: String)] = [:]
    /// Whether a party was told the end of a challenge, by party and challenge.
    private var heard: [String: Bool] = [:]
    /// The challenges by the idempotency key of the request.
    private(set) var asked: [String: ChallengeID] = [:]
    private(set) var callbacks: [String: Arrived] = [:]
    /// The nonces and codes that were used; each works only once.
    private var used: Set<String> = []
    /// How often an event has happened, and since when.
    private var times: [String: (since: Duration, number: Int)] = [:]
    /// What a server must be shown before an approval, and was shown.
    var shown: Set<String> = []
    /// The browser of each request, and the telephone to which its code goes, by the request's key.
    var browsers: [String: String] = [:]
    var telephones: [String: PhoneNumber] = [:]
    /// The browsers, with client and user, in which something was approved and nothing reported since.
    var known: Set<String> = []
    /// How many answers are on their way through a node by which a user, by user and client, allows something.
    var answering: [String: Int] = [:]
    /// The token families that there were when their user ended what their client may have.
    var withdrawn: Set<String> = []
    /// What clients' servers have asked.
    var servers = ServerRequests()
    /// The details that phones have signed with a yes.
    var signed: [ChallengeID: [Detail]] = [:]
    /// The secrets that must not appear anywhere.
    private(set) var secrets: Set<String> = []
    private(set) var latestSecret: String?

    /// Records that a party was told the state of a challenge.
    ///
    /// - Returns: the number of the broken invariant and its description; nil if none is broken.
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

    /// Records that a request, by its key, became a challenge.
    func ask(_ key: String, became id: ChallengeID) -> (Int, String)? {
        guard let earlier = asked[key] else {
            asked[key] = id
            counts.asked += 1
            return nil
        }
        return earlier == id ? nil : (4, "by \(key) \(earlier) and \(id) were asked")
    }

    /// Records that a callback has arrived.
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

    /// Records that a request was accepted with its nonce.
    func use(_ nonce: String, by enrollment: EnrollmentID) -> (Int, String)? {
        used.insert(nonce).inserted ? nil : (5, "a request of \(enrollment) was let in twice")
    }

    /// Records that a code was accepted.
    func use(_ code: String) -> (Int, String)? { used.insert(code).inserted ? nil : (5, "\(code) worked twice") }

    /// Records that a client got tokens for a code.
    func redeem(_ code: String) -> (Int, String)? {
        used.insert(code).inserted ? nil : (15, "a code gave tokens twice")
    }

    /// Records that a client was told that tokens are good.
    ///
    /// - Parameters:
    ///   - family: the tokens.
    ///   - wasWithdrawn: whether their user had ended them when the client asked.
    func use(family: String, wasWithdrawn: Bool) -> (Int, String)? {
        wasWithdrawn ? (15, "\(family) was good, after its user had ended it") : nil
    }

    /// Counts an event that may happen a limited number of times, in total or within a window that begins with its
    /// first time.
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
