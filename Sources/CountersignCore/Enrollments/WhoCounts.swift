package import CountersignWire

// When a device and its methods count, whole: nothing else decides it. Each act locks the user's row first.
//
// Spec: design 13.

extension Enrollment {
    /// How long after it was made methods belong to its enrolling.
    static let enrolling = Seconds.minutes(10)

    /// Whether its device key counts: it is asked, and says yes, unless it is suspended.
    package func counts(at now: Timestamp) -> Bool { isPresent && countsFrom <= now }

    /// Whether it does what a device can do: its key counts, and it is neither suspended nor removed.
    package func isLetIn(at now: Timestamp) -> Bool { state == .active && countsFrom <= now }

    /// From when a method that is set counts; nil where none is set.
    func countsFrom(_ method: AnswerMethod) -> Timestamp? {
        switch method {
        case .confirm: countsFrom
        case .pin: pin?.countsFrom
        case .biometric: biometric?.countsFrom
        case .custom(let name): customs[name]?.countsFrom
        }
    }

    /// Whether a method is set, and counts where the device does.
    func counts(_ method: AnswerMethod, at now: Timestamp) -> Bool { countsFrom(method).map { $0 <= now } ?? false }

    /// Whether a method is set and waits.
    func waits(_ method: AnswerMethod, at now: Timestamp) -> Bool { countsFrom(method).map { $0 > now } ?? false }

    /// The methods that are set, whether they count or wait.
    package var methods: [AnswerMethod] {
        [AnswerMethod.pin, .biometric].filter { countsFrom($0) != nil } + customs.keys.sorted().map(AnswerMethod.custom)
    }

    /// What is set and waits, with the time from which it counts.
    package func waiting(at now: Timestamp) -> [(method: AnswerMethod, until: Timestamp)] {
        methods.compactMap { method in countsFrom(method).flatMap { $0 > now ? (method, $0) : nil } }
    }

    /// Whether it has a method that guards: one whose signature proves more than possession.
    ///
    /// A PIN that is locked guards on, since whoever guesses wrongly often enough would take the guard away.
    func guards(at now: Timestamp) -> Bool { counts(at: now) && (counts(.pin, at: now) || counts(.biometric, at: now)) }

    /// From when a method counts that is set now, where the wait of its user is this long.
    ///
    /// - Parameters:
    ///   - now: when it is set.
    ///   - wait: how long what is new waits.
    ///   - isProved: whether a method of the same device that counts has signed, or a waiver ends the wait.
    func newMethodCounts(at now: Timestamp, after wait: Seconds, isProved: Bool) -> Timestamp {
        let enrolls = now < createdAt.adding(Self.enrolling)
        return isProved || (enrolls && methodsCount) ? now : now.adding(wait)
    }
}

/// What decides how strong a yes must be, and whether what is new waits.
struct TrustState: Sendable {
    /// The user's enrollments that are not removed.
    let enrollments: [Enrollment]
    /// What removed ones have left behind; nil for nothing.
    let leftBehind: LeftBehind?
    /// How long what is new waits.
    let wait: Seconds
    /// When this is so.
    let now: Timestamp

    /// From when an enrollment counts that is made now; nil for at once.
    ///
    /// Spec: design 13 §1.1 and §1.2.
    var newEnrollmentCounts: Timestamp? {
        guard leftBehind != nil || enrollments.contains(where: { $0.counts(at: now) }) else { return nil }
        // What was left behind under an external id may be of a user who had to wait longer.
        return max(now.adding(wait), leftBehind?.until ?? now)
    }

    /// Whether a yes needs a method's signature.
    ///
    /// Spec: design 13 §1.3.
    ///
    /// - Parameter besides: the enrollment that is taken away, whose methods do not count.
    func isGuarded(besides: EnrollmentID? = nil) -> Bool {
        leftBehind?.hadMethod == true || enrollments.contains { $0.id != besides && $0.guards(at: now) }
    }
}

/// What removed enrollments of a user, or of an external id that named them, have left behind.
package struct LeftBehind: Hashable, Sendable {
    /// Until when it counts.
    package let until: Timestamp
    /// Whether one of them had a method that counted.
    package let hadMethod: Bool

    /// What is left behind until a time.
    package init(until: Timestamp, hadMethod: Bool) {
        self.until = until
        self.hadMethod = hadMethod
    }
}

extension UnitOfWork {
    /// How the devices of a user count.
    ///
    /// The caller has locked the user's row.
    func trustState(of user: UserID) throws -> TrustState {
        TrustState(
            enrollments: try enrollments.active(of: user),
            leftBehind: try waits.leftBehind(by: try subjects(of: user), at: now),
            wait: try wait(of: user), now: now)
    }

    /// How long what is new of a user waits: the longest that a client has, which knows the user or did
    /// within its own time.
    func wait(of user: UserID) throws -> Seconds {
        try waits.longestCoolingOff(of: user, at: now) ?? Client.standardCoolingOff
    }

    /// By what a user is known again whose enrollments were removed.
    fileprivate func subjects(of user: UserID) throws -> [String] {
        try ["\(user)"] + links.externalIDs(of: user).map { hasher.name(of: $0.externalID, client: $0.client) }
    }
}

extension UnitOfWork {
    /// Keeps what an enrollment leaves behind that is removed now; it has counted.
    ///
    /// Spec: design 13 §2.5.
    func leaveBehind(_ enrollment: Enrollment) throws {
        guard enrollment.counts(at: now) else { return }
        let left = LeftBehind(
            until: now.adding(try wait(of: enrollment.user)), hadMethod: enrollment.guards(at: now))
        for subject in try subjects(of: enrollment.user) { try waits.keep(left, of: enrollment, by: subject) }
    }

    /// An external id names a user no more: whoever it names next finds the user's enrollments as if removed.
    ///
    /// Spec: design 13 §2.5.
    ///
    /// The caller has locked the user's row, and unlinks or renames afterwards.
    func leaveBehind(
        _ externalID: ExternalID, by client: ClientID, of user: UserID
    ) throws {
        let subject = hasher.name(of: externalID, client: client)
        let until = now.adding(try wait(of: user))
        for enrollment in try enrollments.active(of: user) where enrollment.counts(at: now) {
            try waits.keep(LeftBehind(until: until, hadMethod: enrollment.guards(at: now)), of: enrollment, by: subject)
        }
        try waits.copyLeftBehind(from: try subjects(of: user), to: subject, at: now)
    }

    /// A client's link to a user ends: its cooling-off counts for as long as it is, and so does what its name for the
    /// user leaves behind.
    func endLink(
        of user: UserID, to client: ClientID
    ) throws {
        for known in try links.externalIDs(of: user) where known.client == client {
            try leaveBehind(known.externalID, by: client, of: user)
        }
        try waits.keepCoolingOff(of: client, for: user, at: now)
        try links.delete(user, from: client)
    }
}
