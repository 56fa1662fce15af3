package import CountersignWire
import Encodings

extension Account {
    /// A report of a sign-in, as long as browsers in which the person has not signed in have nobody asked because of it.
    package struct Report: Sendable {
        /// When it was reported.
        package let at: Timestamp
        /// Until when only the person's own browsers have them asked.
        package let until: Timestamp
        /// The name of the client to which somebody wanted to sign in; nil where the event is not among those shown.
        package let client: ClientName?
        /// Whether it counts at that client alone, which is a third party, and not at all others.
        package let isOfClientAlone: Bool
        /// From where it was asked, as the device showed it; nil where that is not known.
        package let origin: DisplayLine?
        /// The name of the device on which it was reported; nil where that is not known.
        package let device: DisplayLine?
    }
}

extension UnitOfWork {
    /// The reports of sign-ins by which unknown browsers have nobody asked now, by the count that decides it.
    ///
    /// First parties have one count together. Those of third parties are read only where one was reported lately.
    ///
    /// - Parameters:
    ///   - user: the person.
    ///   - events: what happened to them last.
    ///   - devices: the names of their devices.
    ///   - client: finds a client.
    func lockingReports(
        of user: UserID, among events: [AuditEvent], on devices: [EnrollmentID: DisplayLine],
        client: (ClientID) throws -> Client?
    ) throws -> [Account.Report] {
        let reported = events.filter { $0.kind == .challengeReported && $0.detail["sign_in"] == true }
        var groups: [ClientID?] = [nil]
        for event in reported {
            guard event.at.adding(AttemptLimit.reportedSignIns(user, at: nil).window) > now,
                let third = try event.client.flatMap(client)?.trustGroup.thirdParty, !groups.contains(third)
            else { continue }
            groups.append(third)
        }
        return try groups.compactMap { third -> Account.Report? in
            let limit = AttemptLimit.reportedSignIns(user, at: third)
            let reports = try counted(limit)
            guard reports.isUsedUp else { return nil }
            let until = reports.count.windowEnd
            // A later report within the day makes the lock no longer.
            let since = until.adding(-limit.window)
            let event = try reported.first { event in
                try event.at == since && event.client.flatMap(client)?.trustGroup.thirdParty == third
            }
            return Account.Report(
                at: since, until: until, client: try event?.client.flatMap(client)?.name, isOfClientAlone: third != nil,
                origin: try event?.challenge.flatMap { try challenges.find($0) }?.question.context,
                device: event?.enrollment.flatMap { devices[$0] })
        }
    }
}
