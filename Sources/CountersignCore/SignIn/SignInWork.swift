package import CountersignWire
import Crypto
import Encodings
import Logging
import Synchronization

/// When a browser that is not the person's must do some work before a page sends a message or asks devices for it.
package enum WorkLimit: Hashable, Sendable {
    /// Never.
    case off
    /// For ten minutes after as many sign-ins as this in one, over all clients and nodes, and for a way by which a client
    /// has sent half of what it may in an hour.
    case after(Int)
    /// Always; it gets harder after the default number of sign-ins.
    case always

    /// The default: ten a second.
    package static let usual = 600

    /// How many sign-ins of a minute make the work a step harder; nil where there is none.
    var step: Int? {
        switch self {
        case .off: nil
        case .after(let number): number
        case .always: Self.usual
        }
    }
}

/// What a browser must do before a page sends a message or asks devices for it, while many pages do so.
///
/// The puzzle is the sealed request of the page itself, so that nothing is stored of it: a number has to be found with
/// which a hash begins with enough zero bits. What is sealed belongs to one browser, one name, one way and one moment,
/// and so does the solution. Where no script runs, a wait does instead, of which there are few.
///
/// Spec: docs/decisions/0082-proof-of-work.md.
package struct SignInWork: Hashable, Sendable {
    /// For how long a solution is taken.
    package static let lifetime = Seconds.minutes(5)
    /// The highest level.
    package static let highestLevel = AttemptLimit.workSteps.maximum

    /// The way for which it is done.
    package let way: SignInWay
    /// How hard it is: from 1 to ``highestLevel``.
    package let level: Int
    /// When it was given.
    package let givenAt: Timestamp

    /// Work of these parts.
    package init(way: SignInWay, level: Int, givenAt: Timestamp) {
        self.way = way
        self.level = level
        self.givenAt = givenAt
    }

    /// Why the answer to a puzzle does not count.
    package enum Problem: Hashable, Sendable {
        /// The browser has not waited long enough; it can go on after some seconds.
        case early(Seconds)
        /// The number does not solve the puzzle.
        case wrong
    }

    /// With how many zero bits the hash must begin: 2^18 to 2^20 hashes on average.
    ///
    /// A browser on one core of a slow machine makes 2^20 in a second.
    package var bits: Int { 17 + min(max(level, 1), Self.highestLevel) }

    /// After how long a browser goes on that does not solve the puzzle.
    package func wait(at now: Timestamp) -> Seconds {
        max(0, givenAt.adding(Seconds(Int64(30 * level))) - now)
    }

    /// What the number is hashed with: the SHA-256 of the sealed request.
    package static func seed(of sealed: String) -> [UInt8] { Array(SHA256.hash(data: Array(sealed.utf8))) }

    /// Whether a number solves the puzzle: one hash, whatever was sent.
    func isSolved(by nonce: UInt32, seed: [UInt8]) -> Bool {
        let number = withUnsafeBytes(of: nonce.bigEndian) { Array($0) }
        let first = SHA256.hash(data: seed + number).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return first.leadingZeroBitCount >= bits
    }

    /// The level at which work is needed now, over all nodes; 0 where none is.
    ///
    /// - Throws: ``StoreError``.
    package static func level(ports: Ports) async throws -> Int {
        let (now, limit) = (ports.time.now, ports.limits.work)
        return try await ports.read(at: now, as: .system) { try $0.workLevel(limit) }
    }
}

/// The form in which it travels with a page.
extension SignInWork {
    var json: JSONValue {
        .members([
            "way": .string(way.rawValue), "level": .integer(Int64(level)), "at": .integer(givenAt.milliseconds),
        ])
    }

    /// Reads the form; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard let way = json["way"]?.string.flatMap({ SignInWay(rawValue: $0) }), let level = json["level"]?.integer,
            let at = json["at"]?.integer
        else { return nil }
        self.init(way: way, level: Int(level), givenAt: Timestamp(milliseconds: at))
    }
}

extension SignInWay {
    /// Whether somebody gets a message or a question by it who has not asked for it.
    var reachesSomebody: Bool {
        switch self {
        case .device, .email, .text: true
        case .qr, .passkey: false
        }
    }

    /// Whether somebody can be reached by it from a browser that is not known, by the form and the settings alone.
    func reachesSomebody(named name: SignInName?, at party: RelyingParty) -> Bool {
        reachesSomebody && (self != .device || name != nil && party.askedBrowsers == .all)
    }
}

extension UnitOfWork {
    /// The level at which work is needed; 0 where none is.
    func workLevel(_ limit: WorkLimit) throws -> Int {
        if limit == .off { return 0 }
        let level = min(try counted(.workSteps).number, SignInWork.highestLevel)
        return limit == .always ? max(1, level) : level
    }

    /// Counts a sign-in by which somebody is reached, in a browser that is not theirs.
    ///
    /// Each time that a minute has had so many, the next ones need work, or harder work.
    func countForWork(_ limit: WorkLimit) throws {
        guard let step = limit.step else { return }
        if try count(.strangersSignIns(maximum: step)).number.isMultiple(of: step) { _ = try count(.workSteps) }
    }

    /// What is missing of the work for a sign-in; nil where nothing is.
    ///
    /// - Parameters:
    ///   - request: what is asked, with what the browser has done for it.
    ///   - level: the level at which work is needed now.
    ///   - limit: the operator's setting.
    func missingWork(
        for request: AskSignIn.Request, at level: Int, _ limit: WorkLimit
    ) throws -> AskSignIn.Outcome? {
        let another = AskSignIn.Outcome.needsWork(SignInWork(way: request.way, level: level, givenAt: now), nil)
        guard let (work, seed) = request.carried.work else { return another }
        // check: SignInWorkTests.otherWay
        guard work.way == request.way else { return another }
        // check: SignInWorkTests.expired
        guard now < work.givenAt.adding(SignInWork.lifetime) else { return another }
        if let nonce = request.nonce {
            // check: SignInWorkTests.wrong
            guard work.isSolved(by: nonce, seed: seed) else { return .needsWork(work, .wrong) }
        } else if let refusal = try refusal(ofWaitFor: work, from: request.network, limit) {
            return refusal
        }
        // check: SignInWorkTests.replayed
        guard try !count(.solvedWork(Hex.encode(seed), lifetime: SignInWork.lifetime)).isExceeded else {
            return another
        }
        return nil
    }

    /// Why a browser that only waits cannot go on; nil if it can.
    ///
    /// Waiting costs nothing, so that there is little of it: for a network, and over all as much as is free without a
    /// flood.
    private func refusal(
        ofWaitFor work: SignInWork, from network: [UInt8]?, _ limit: WorkLimit
    ) throws -> AskSignIn.Outcome? {
        let wait = work.wait(at: now)
        // check: SignInWorkTests.waits
        guard wait <= 0 else { return .needsWork(work, .early(wait)) }
        let budgets = [
            network.map { AttemptLimit.waitsForWorkFrom($0) }, .waitsForWork(maximum: limit.step ?? WorkLimit.usual),
        ]
        for budget in budgets.compactMap(\.self) {
            let count = try count(budget)
            if count.isExceeded { return .tooMany(retryAfter: count.retryAfter(at: now)) }
        }
        return nil
    }
}

/// Tells the operator's log when work begins or ends to be needed, as this node sees it.
final class WorkLog: Sendable {
    private let last = Mutex((level: 0, since: Timestamp(seconds: 0)))

    /// Notes the level that an operation has read.
    ///
    /// Of operations at the same time, the one that read first may end last: within a minute the level only rises.
    func note(_ read: Int, at now: Timestamp, _ logger: Logger) {
        let isNew = last.withLock { last in
            guard read > last.level || read < last.level && now >= last.since.adding(.minutes(1)) else { return false }
            last = (read, now)
            return true
        }
        guard isNew else { return }
        logger.warning(
            read == 0
                ? "Sign-ins from unknown browsers need no proof of work any more."
                : "There are many sign-ins from unknown browsers: the next ones need a proof of work.",
            metadata: ["level": "\(read)"])
    }
}
