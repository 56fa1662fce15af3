import CountersignCore
import CountersignStorage
import CountersignWire
import Encodings

/// What must follow from how the rows have changed: written down once more here, and not by the code that does it.
struct Expectation: Equatable {
    /// Events of the audit, of the kinds that rows tell.
    var events: [String] = []
    /// What leaves.
    var messages: [String] = []
    var topics: Set<ChangeTopic> = []

    /// The kinds of events that no row tells: an operation has written nothing else.
    private static let untold: Set<AuditEventKind> = [
        .clientUpdated, .clientSecretRenewed, .callbackSecretRenewed, .issuerKeyChanged, .bootstrapTokenRenewed,
        .typeSet, .typeRemoved, .userExported, .enrollmentWaived, .enrollmentUpdated, .methodChangeRefused,
        .answerRefused, .askingUnlocked, .messageRetried, .messageTested, .customAccepted, .customRefused,
    ]
    /// The kinds that clients are told of.
    private static let noticed: Set<AuditEventKind> = [
        .enrollmentCreated, .enrollmentApproved, .enrollmentSuspended, .enrollmentResumed, .enrollmentRemoved,
        .methodChanged, .pinLocked,
    ]

    private let commit: WatchedCommit

    static func == (one: Expectation, other: Expectation) -> Bool {
        one.events.sorted() == other.events.sorted() && one.messages.sorted() == other.messages.sorted()
            && one.topics == other.topics
    }

    /// What is here and not there, and the other way round.
    func differences(from expected: Expectation) -> String {
        func words(_ found: [String], _ wanted: [String]) -> [String] {
            let change = found.sorted().difference(from: wanted.sorted())
            return change.map { change in
                switch change {
                case .insert(_, let text, _): "too much: \(text)"
                case .remove(_, let text, _): "missing: \(text)"
                }
            }
        }
        let notified = topics.map { "notified \($0)" }
        return
            (words(events, expected.events) + words(messages, expected.messages)
            + words(notified, expected.topics.map { "notified \($0)" })).joined(separator: "; ")
    }

    /// What is there.
    init(of commit: WatchedCommit, openedBy sealer: Sealer) throws {
        self.commit = commit
        events = commit.events.filter { event in !Self.untold.contains { $0.rawValue == event.kind } }.map(\.line)
        messages = try commit.messages.map { try $0.line(openedBy: sealer) }
        topics = Set(commit.topics)
    }

    /// What must be there.
    init(from commit: WatchedCommit, isSweep: Bool, at now: Timestamp) {
        self.commit = commit
        for (id, challenge) in commit.after.challenges { expect(challenge, id) }
        for (id, enrollment) in commit.after.enrollments { expect(enrollment, id, isSweep: isSweep, at: now) }
        for (id, client) in commit.after.clients { expect(client, id) }
        expectUsers()
        expectByEvents()
        for message in commit.messages { wake(message.kind) }
    }

    private mutating func expect(
        _ kind: AuditEventKind, client: String?, user: String?, enrollment: String? = nil, challenge: String? = nil
    ) {
        events.append(
            EventRow(
                kind: kind.rawValue, actor: "", client: client, user: user, enrollment: enrollment,
                challenge: challenge, detail: ""
            ).line)
        guard Self.noticed.contains(kind), let user, let enrollment else { return }
        notice(kind, of: enrollment, user)
    }

    private mutating func notice(_ kind: AuditEventKind, of enrollment: String, _ user: String) {
        for receiver in commit.after.receivers[user] ?? [] {
            messages.append("notice \(receiver) \(kind.rawValue) \(enrollment)")
        }
    }

    private mutating func notify(_ enrollment: String) {
        if let id = EnrollmentID(enrollment) { topics.insert(.enrollment(id)) }
    }

    private mutating func notify(challenge: String) {
        if let id = ChallengeID(challenge) { topics.insert(.challenge(id)) }
    }
}

/// Challenges.
extension Expectation {
    private mutating func expect(_ challenge: RowState.ChallengeRow, _ id: String) {
        let before = commit.before.challenges[id]
        func event(_ kind: AuditEventKind, by enrollment: String? = nil) {
            expect(kind, client: challenge.client, user: challenge.user, enrollment: enrollment, challenge: id)
        }
        if before == nil {
            event(.challengeAsked)
            challenge.targets.keys.forEach { notify($0) }
            if challenge.channel == "text" { messages.append("personal \(challenge.client)") }
        }
        if let before, !before.isClaimed, challenge.isClaimed {
            for device in challenge.targets.keys where before.targets[device] == nil {
                event(.challengeClaimed, by: device)
                notify(device)
            }
            notify(challenge: id)
        }
        for (device, target) in challenge.targets {
            let earlier = before?.targets[device]
            if earlier?.isFetched != true, target.isFetched { event(.challengeFetched, by: device) }
            if target.push == "queued", earlier?.push != "queued", !commit.has(.messageRetried) {
                messages.append("push \(id) \(device)")
            }
        }
        if challenge.isPending, let device = challenge.decidedBy, before?.decidedBy == nil {
            event(.challengeReturning, by: device)
            notify(challenge: id)
        }
        if before?.isPending != false, !challenge.isPending { expectEnd(of: challenge, id, before) }
    }

    private mutating func expectEnd(
        of challenge: RowState.ChallengeRow, _ id: String, _ before: RowState.ChallengeRow?
    ) {
        let kind: AuditEventKind =
            switch (challenge.state, challenge.reason) {
            case ("approved", _): .challengeApproved
            case ("denied", "reported"): .challengeReported
            case ("denied", _): .challengeDenied
            case ("failed", _): .challengeFailed
            case ("cancelled", _): .challengeCancelled
            default: .challengeExpired
            }
        expect(
            kind, client: challenge.client, user: challenge.user, enrollment: challenge.decidedBy, challenge: id)
        if challenge.hasCallback { messages.append("callback \(challenge.client) \(id) \(challenge.state)") }
        notify(challenge: id)
        for device in challenge.targets.keys {
            if device != challenge.decidedBy { notify(device) }
            guard kind != .challengeExpired, before?.targets[device]?.push == "accepted",
                device != challenge.decidedBy
            else { continue }
            messages.append("withdrawal \(id) \(device)")
        }
    }
}

/// Devices.
extension Expectation {
    private mutating func expect(
        _ enrollment: RowState.EnrollmentRow, _ id: String, isSweep: Bool, at now: Timestamp
    ) {
        func event(_ kind: AuditEventKind) {
            expect(kind, client: enrollment.client, user: enrollment.user, enrollment: id)
        }
        guard let before = commit.before.enrollments[id] else { return event(.enrollmentCreated) }
        if enrollment.wrongPINs > before.wrongPINs { event(.pinIncorrect) }
        if enrollment.isLocked, !before.isLocked { event(.pinLocked) }
        if enrollment.isRemoved {
            guard !before.isRemoved else { return }
            event(.enrollmentRemoved)
            return notify(id)
        }
        if enrollment.isSuspended != before.isSuspended {
            event(enrollment.isSuspended ? .enrollmentSuspended : .enrollmentResumed)
            notify(id)
        }
        if enrollment.pin != before.pin {
            event(.methodChanged)
            if enrollment.pin == nil { notify(id) }
        }
        for (method, until) in before.waits where enrollment.waits[method] == nil {
            if method == AnswerMethod.confirm.rawValue {
                notify(id)
                if isSweep || before.countsFrom > now.milliseconds { event(.enrollmentApproved) }
            } else if enrollment.pin == before.pin {
                // What counts with its device is told, and not audited: the device's approval is.
                if isSweep {
                    event(.methodChanged)
                } else if until > now.milliseconds {
                    notice(.methodChanged, of: id, enrollment.user)
                }
            }
        }
    }
}

/// Clients, users, and what only the audit tells.
extension Expectation {
    private mutating func expect(_ client: RowState.ClientRow, _ id: String) {
        let before = commit.before.clients[id]
        if before == nil { expect(.clientCreated, client: id, user: nil) }
        guard let before else { return }
        if before.isDisabled != client.isDisabled, !client.isDeleted {
            expect(client.isDisabled ? .clientDisabled : .clientEnabled, client: id, user: nil)
            if !client.isDisabled { topics.formUnion(OutboxMessage.Kind.allCases.map(ChangeTopic.outbox)) }
            notifyWatchers(of: id)
        }
        if !before.isDeleted, client.isDeleted {
            expect(.clientDeleted, client: id, user: nil)
            notifyWatchers(of: id)
        }
    }

    private mutating func notifyWatchers(of client: String) {
        for (id, challenge) in commit.before.challenges
        where challenge.client == client && challenge.isPending && challenge.purpose == "relying_party" {
            notify(challenge: id)
        }
    }

    private mutating func expectUsers() {
        for (id, isDeleted) in commit.after.users {
            if commit.before.users[id] == nil { expect(.userCreated, client: nil, user: id) }
            if isDeleted, commit.before.users[id] == false { expect(.userDeleted, client: nil, user: id) }
        }
        for (link, isBlocked) in commit.after.links {
            guard let before = commit.before.links[link], before != isBlocked else { continue }
            expect(
                isBlocked ? .enrollmentBlocked : .enrollmentUnblocked, client: nil,
                user: link.split(separator: " ").first.map(String.init))
        }
        for (enrollment, ticket) in commit.after.tickets where commit.before.tickets[enrollment] == nil {
            expect(.ticketCreated, client: ticket[0], user: ticket[1], enrollment: enrollment)
        }
    }

    private mutating func wake(_ kind: String) {
        OutboxMessage.Kind(rawValue: kind).map { _ = topics.insert(.outbox($0)) }
    }

    private mutating func expectByEvents() {
        for event in commit.events {
            switch AuditEventKind(rawValue: event.kind) {
            case .enrollmentWaived: event.enrollment.map { notify($0) }
            case .clientSecretRenewed: event.client.map { notifyWatchers(of: $0) }
            case .clientUpdated: if event.detail.contains("\"rights\"") { event.client.map { notifyWatchers(of: $0) } }
            case .messageRetried:
                let message = (try? JSONValue(parsing: Array(event.detail.utf8)))?["message"]?.string
                message.flatMap { commit.after.outbox[$0] }.map { wake($0) }
            case .messageTested: messages.append("personal \(event.client ?? "")")
            default: break
            }
        }
    }
}

extension WatchedCommit {
    fileprivate func has(_ kind: AuditEventKind) -> Bool { events.contains { $0.kind == kind.rawValue } }
}

extension EventRow {
    /// The event in words; whom an event concerns that rows do not tell is left out.
    fileprivate var line: String {
        let isTold = ![
            "enrollment.removed", "user.created", "user.deleted", "enrollment.blocked", "enrollment.unblocked",
        ]
        .contains(kind)
        return "\(kind) \(isTold ? client ?? "-" : "*") \(user ?? "-") \(enrollment ?? "-") \(challenge ?? "-")"
    }
}

extension MessageRow {
    fileprivate func line(openedBy sealer: Sealer) throws -> String {
        let content = try JSONValue(parsing: try sealer.open(payload, for: "outbox \(id)"))
        switch kind {
        case "callback":
            let body = try JSONValue(parsing: Array((content["body"]?.string ?? "").utf8))
            if content["for"]?.string == CallbackPurpose.notices.rawValue {
                return "notice \(client) \(body["type"]?.string ?? "") \(body["enrollment"]?.string ?? "")"
            }
            let challenge = body["challenge"]
            return "callback \(client) \(challenge?["id"]?.string ?? "") \(challenge?["state"]?.string ?? "")"
        case "push":
            let word = content["withdraws"] == true ? "withdrawal" : "push"
            return "\(word) \(content["challenge"]?.string ?? "") \(content["enrollment"]?.string ?? "")"
        default: return "personal \(client)"
        }
    }
}
