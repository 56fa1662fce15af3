import CountersignWire
import Encodings
import OpenPGP

/// What has changed about what binds a user to a device.
///
/// Every client that knows the user and wants to hear of it is told, so that it can tell the user by means that are
/// independent of any device. Spec: NIST SP 800-63B-4 §4.1.2.1; design 3.5.
enum BindingChange: Sendable {
    /// A device was enrolled, with or without the approval of an earlier one being waived.
    case created(isWaived: Bool)
    /// A device waits no longer.
    case approved
    /// An enrollment is over.
    case removed(RemovalReason)
    /// A device was suspended, or resumed.
    case suspended, resumed
    /// A way to answer was set, replaced, undone or removed, or counts from now on; until when it waits.
    case method(AnswerMethod, change: String, until: Timestamp? = nil)
    /// A wrong PIN was typed too often.
    case pinLocked

    private var type: String {
        switch self {
        case .created: "enrollment.created"
        case .approved: "enrollment.approved"
        case .removed: "enrollment.removed"
        case .suspended: "enrollment.suspended"
        case .resumed: "enrollment.resumed"
        case .method: "method.changed"
        case .pinLocked: "pin.locked"
        }
    }

    /// The body of the callback.
    func json(of enrollment: Enrollment, to receiver: NoticeReceiver, at now: Timestamp) -> JSONValue {
        var object = JSONObject([
            "type": .string(type), "timestamp": .string("\(now)"),
            "user": .members([
                "id": .string("\(enrollment.user)"), "external_id": receiver.externalID.map { .string($0.text) },
            ]),
            "enrollment": .string("\(enrollment.id)"), "device": enrollment.device.json,
        ])
        switch self {
        case .created(let isWaived):
            // By it a client or an operator may end the device's wait, once its user has read it to them.
            object["fingerprint"] = .string("\(enrollment.keys.primary.fingerprint)")
            object["waiver"] = .bool(isWaived)
            if !enrollment.counts(at: now) { object["waiting_until"] = .string("\(enrollment.countsFrom)") }
        case .approved, .suspended, .resumed, .pinLocked: break
        case .removed(let reason): object["reason"] = .string(reason.rawValue)
        case .method(let method, let change, let until):
            object["method"] = .string(method.rawValue)
            object["change"] = .string(change)
            object["waiting_until"] = until.map { .string("\($0)") }
        }
        return .object(object)
    }
}

extension UnitOfWork {
    /// Tells the clients that know a user, and want to hear of it, of a change.
    func tellClients(
        _ change: BindingChange, of enrollment: Enrollment
    ) throws {
        let receivers = try receivers.ofNotices(of: enrollment.user)
        for receiver in receivers {
            let body = change.json(of: enrollment, to: receiver, at: now).encoded
            try outbox.enqueue(
                OutboxMessage(
                    id: nextEventID(), content: .notice(receiver.uri, client: receiver.client, body: body),
                    dueAt: now, expiresAt: now.adding(OutboxMessage.lifetime)))
        }
        if !receivers.isEmpty { notify(.outbox) }
    }
}
