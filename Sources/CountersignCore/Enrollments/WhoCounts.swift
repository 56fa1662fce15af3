package import CountersignWire

// All rules on when a device and its methods count are in this file. A device key or a method counts when the server
// accepts its answers; before that it waits. Every operation that changes which devices, PINs or biometrics count locks
// the user's row first.
//
// A request can be older than the rows that it finds: it took the time before it waited for the lock, or on a node
// whose clock is behind. So a device that does not wait counts as soon as it is there, and its methods count from when
// it was made.
//
// A sentence of the rule that opens a way in if it is left out is a guard, whose mark names the test that plays that way.
//
// Spec: docs/decisions/0046-approval-of-devices.md.

extension Enrollment {
    /// How long after an enrollment was made the setting of a method is a part of enrolling.
    static let enrolling = Seconds.minutes(10)

    /// Whether the time has come from which something of it counts; a request may be older than the device.
    func hasCome(_ time: Timestamp, at now: Timestamp) -> Bool { time <= max(now, createdAt) }

    /// Whether its primary key counts, even while it is suspended.
    package func counts(at now: Timestamp) -> Bool { isPresent && hasCome(countsFrom, at: now) }

    /// Whether it is let in: its primary key counts, and it is neither suspended nor removed.
    ///
    /// Only a device that is let in is asked, can approve, and can act on other devices.
    package func isLetIn(at now: Timestamp) -> Bool {
        // check: WhoCountsTests.suspendedDoesNothing
        guard state == .active else { return false }
        return counts(at: now)
    }

    /// From when a method counts; nil if it is not set.
    func countsFrom(_ method: AnswerMethod) -> Timestamp? {
        switch method {
        case .confirm: countsFrom
        case .pin: pin?.countsFrom
        case .biometric: biometric?.countsFrom
        case .custom(let name): customs[name]?.countsFrom
        }
    }

    /// Whether a method is set and does not wait; it counts only if the device counts, too.
    func counts(_ method: AnswerMethod, at now: Timestamp) -> Bool {
        countsFrom(method).map { hasCome($0, at: now) } ?? false
    }

    /// Whether a method is set and still waits.
    func waits(_ method: AnswerMethod, at now: Timestamp) -> Bool {
        countsFrom(method) != nil && !counts(method, at: now)
    }

    /// The methods that are set, whether they count or wait, without `confirm`.
    package var methods: [AnswerMethod] {
        [AnswerMethod.pin, .biometric].filter { countsFrom($0) != nil } + customs.keys.sorted().map(AnswerMethod.custom)
    }

    /// The methods that are set and still wait, each with the time from which it counts.
    package func waiting(at now: Timestamp) -> [(method: AnswerMethod, until: Timestamp)] {
        methods.compactMap { method in waits(method, at: now) ? countsFrom(method).map { (method, $0) } : nil }
    }

    /// Whether it has a PIN or a biometric that counts, whose signature proves more than possession of the device.
    ///
    /// A locked PIN counts here, because otherwise whoever has the device could end the protection by wrong guesses.
    func guards(at now: Timestamp) -> Bool { counts(at: now) && (counts(.pin, at: now) || counts(.biometric, at: now)) }

    /// From when a method counts that is set now.
    ///
    /// - Parameters:
    ///   - now: the current time.
    ///   - end: the end of the wait, ``TrustState/waitEnds``.
    ///   - isProved: whether a method of the same device, which counts, has signed, or the wait is waived.
    func newMethodCounts(at now: Timestamp, waitingUntil end: Timestamp, isProved: Bool) -> Timestamp {
        if methodsCount, now < createdAt.adding(Self.enrolling) { return createdAt }
        // A ticket is authority to ask and no strength, for a PIN, a biometric and a custom authenticator alike.
        // check: WhoCountsTests.ticketIsNoStrength
        guard isProved else { return end }
        return createdAt
    }
}

/// The facts about a user's devices that decide how an approval must be signed, and whether a new device waits, for the
/// clients of one group, or for all clients.
struct TrustState: Sendable {
    /// The user's enrollments that are not removed, and are believed in the group.
    let enrollments: [Enrollment]
    /// The records of removed enrollments that were believed in the group, taken together; nil if none still counts.
    let leftBehind: LeftBehind?
    /// How long a new device or method waits.
    let wait: Seconds
    /// When the facts were read.
    let now: Timestamp

    /// From when an enrollment counts that is made now; nil if it counts at once.
    ///
    /// Spec: docs/protocol/enrollment.md, *Waiting for approval*; docs/decisions/0046-approval-of-devices.md.
    var newEnrollmentCounts: Timestamp? {
        // check: WhoCountsTests.hasOne
        guard !enrollments.contains(where: { $0.counts(at: now) }) else { return waitEnds }
        // check: WhoCountsTests.hadOne
        guard leftBehind == nil else { return waitEnds }
        return nil
    }

    /// From when a device or a method counts that waits from now on.
    ///
    /// A record under an external id may be of an earlier user, whose wait was longer.
    var waitEnds: Timestamp { max(now.adding(wait), leftBehind?.until ?? now) }

    /// Whether an approval of a new device, or an act on another device, needs the signature of a PIN or a biometric.
    ///
    /// Spec: docs/protocol/devices.md, *An act*; docs/decisions/0046-approval-of-devices.md.
    func isGuarded() -> Bool {
        // check: WhoCountsTests.needsMethod
        guard !enrollments.contains(where: { $0.guards(at: now) }) else { return true }
        // check: WhoCountsTests.guardLooksBack
        guard leftBehind?.hadMethod != true else { return true }
        return false
    }
}

/// The record that a removed enrollment leaves behind, or several such records taken together.
///
/// It is kept under the user's id and under each external id that names the user, so that a removal shortens no wait.
package struct LeftBehind: Hashable, Sendable {
    /// Until when the record counts.
    package let until: Timestamp
    /// Whether an enrollment had a PIN or a biometric that counted.
    package let hadMethod: Bool

    /// A record of these parts.
    package init(until: Timestamp, hadMethod: Bool) {
        self.until = until
        self.hadMethod = hadMethod
    }
}

extension UnitOfWork {
    /// The facts about a user's devices.
    ///
    /// A caller that decides by them has locked the user's row.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - group: whose clients believe the devices; nil for devices that any client believes.
    ///   - all: the user's enrollments that are not removed; nil to read them.
    ///   - besides: an enrollment that is to be removed or suspended, so that neither its methods count here nor those
    ///     that it had; nil for none.
    func trustState(
        of user: UserID, in group: TrustGroup?, among all: [Enrollment]? = nil, besides: EnrollmentID? = nil
    ) throws -> TrustState {
        TrustState(
            enrollments: try (all ?? enrollments.active(of: user)).filter { device in
                device.id != besides && group.map(device.isBelieved) ?? true
            },
            leftBehind: try waits.leftBehind(by: try subjects(of: user), besides: besides, in: group, at: now),
            wait: try wait(of: user), now: now)
    }

    /// How long a new device or method of a user waits.
    ///
    /// This is the longest cooling-off of the clients that are linked to the user, or were until recently.
    func wait(of user: UserID) throws -> Seconds {
        try waits.longestCoolingOff(of: user, at: now) ?? Client.standardCoolingOff
    }

    /// The names under which the records of a user's removed enrollments are kept: the user's id, and a keyed hash of
    /// each external id.
    fileprivate func subjects(of user: UserID) throws -> [String] {
        try ["\(user)"] + links.externalIDs(of: user).map { hasher.name(of: $0.externalID, client: $0.client) }
    }
}

extension UnitOfWork {
    /// Keeps the record of an enrollment that is being removed, or whose biometric a token ends.
    ///
    /// One that does not count leaves none.
    ///
    /// Spec: docs/decisions/0046-approval-of-devices.md.
    func leaveBehind(_ enrollment: Enrollment) throws {
        guard let left = try remains(of: enrollment) else { return }
        for subject in try subjects(of: enrollment.user) { try waits.keep(left, of: enrollment, by: subject) }
    }

    /// Keeps records under an external id that will no longer name a user.
    ///
    /// The next user whom the external id names waits as if the enrollments had been their own and were removed now.
    ///
    /// Spec: docs/decisions/0046-approval-of-devices.md.
    ///
    /// The caller has locked the user's row, and unlinks or renames afterwards.
    func leaveBehind(
        _ externalID: ExternalID, by client: ClientID, of user: UserID
    ) throws {
        let subject = hasher.name(of: externalID, client: client)
        for enrollment in try enrollments.active(of: user) {
            guard let left = try remains(of: enrollment) else { continue }
            try waits.keep(left, of: enrollment, by: subject)
        }
        try waits.copyLeftBehind(from: try subjects(of: user), to: subject, at: now)
    }

    /// The record of an enrollment that is removed now, or that an external id leaves; nil if it does not count.
    private func remains(of enrollment: Enrollment) throws -> LeftBehind? {
        // check: WhoCountsTests.leftBehind
        guard !enrollment.counts(at: now) else {
            return LeftBehind(
                until: now.adding(try wait(of: enrollment.user)), hadMethod: enrollment.guards(at: now))
        }
        return nil
    }

    /// Ends a client's link to a user.
    ///
    /// The client's cooling-off is kept for as long as it lasts. Records are kept under the client's external id for
    /// the user.
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
