import CountersignWire
import Encodings
import OpenPGP

/// A change to the binding between a user and a device.
///
/// Every client that is linked to the user and has registered for notices is told, so that it can tell the user by
/// means that do not depend on any device. Spec: NIST SP 800-63B-4 §4.1.2.1; docs/protocol/relying-party.md, *Notices*.
enum BindingChange: Sendable {
    /// A device was enrolled; `isWaived` says whether its ticket waived the approval on an earlier device.
    case created(isWaived: Bool)
    /// The wait of a device has ended.
    case approved
    /// The user has confirmed a device, so that it counts for all clients, or no longer.
    case confirmed, unconfirmed
    /// The user has said by an address that a device is theirs, so that it counts for all clients from this time on.
    case confirming(from: Timestamp)
    /// An enrollment was removed.
    case removed(RemovalReason)
    /// A device was suspended, or resumed.
    case suspended, resumed
    /// A method was set, replaced, undone or removed, or counts from now on; `until` is the end of its wait, if any.
    case method(AnswerMethod, change: String, until: Timestamp? = nil)
    /// A wrong PIN was typed too often.
    case pinLocked

    private var type: String {
        switch self {
        case .created: "enrollment.created"
        case .approved: "enrollment.approved"
        case .confirmed: "enrollment.confirmed"
        case .confirming: "enrollment.confirming"
        case .unconfirmed: "enrollment.unconfirmed"
        case .removed: "enrollment.removed"
        case .suspended: "enrollment.suspended"
        case .resumed: "enrollment.resumed"
        case .method: "method.changed"
        case .pinLocked: "pin.locked"
        }
    }

    /// The body of the notice as JSON.
    ///
    /// - Parameters:
    ///   - enrollment: the enrollment that has changed.
    ///   - receiver: the client that is told.
    ///   - now: when the change was made.
    func json(of enrollment: Enrollment, to receiver: NoticeReceiver, at now: Timestamp) -> JSONValue {
        var object = JSONObject([
            "type": .string(type), "timestamp": .string("\(now)"),
            "user": receiver.json(of: enrollment.user),
            "enrollment": .string("\(enrollment.id)"), "device": enrollment.device.json,
        ])
        switch self {
        case .created(let isWaived):
            // A client or an operator that waives the wait names this fingerprint, which the user has read to them.
            object["fingerprint"] = .string("\(enrollment.fingerprint)")
            object["waiver"] = .bool(isWaived)
            if !enrollment.counts(at: now) { object["waiting_until"] = .string("\(enrollment.countsFrom)") }
        case .confirmed: object["fingerprint"] = .string("\(enrollment.fingerprint)")
        case .confirming(let time):
            object["fingerprint"] = .string("\(enrollment.fingerprint)")
            object["waiting_until"] = .string("\(time)")
        case .approved, .unconfirmed, .suspended, .resumed, .pinLocked: break
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
    /// Enqueues notices of a change for the clients that are linked to the user, have registered for notices, and
    /// believe the device.
    func tellClients(
        _ change: BindingChange, of enrollment: Enrollment
    ) throws {
        try tell(
            change, of: enrollment,
            to: try receivers.ofNotices(of: enrollment.user).filter { enrollment.isBelieved(in: $0.trustGroup) })
    }

    /// The same for all clients that are linked to the user, whether they believe the device yet or not.
    func tellAllClients(_ change: BindingChange, of enrollment: Enrollment) throws {
        try tell(change, of: enrollment, to: try receivers.ofNotices(of: enrollment.user))
    }

    private func tell(_ change: BindingChange, of enrollment: Enrollment, to receivers: [NoticeReceiver]) throws {
        try tell(receivers) { change.json(of: enrollment, to: $0, at: now) }
    }
}
