import CountersignWire
import Encodings

/// A change to the binding between a user and a passkey, of which clients are told as of a device's.
///
/// Spec: NIST SP 800-63B-4 §4.1.2.1; docs/protocol/relying-party.md, *Notices*.
enum PasskeyNotice: String, Sendable {
    case created = "passkey.created"
    case removed = "passkey.removed"
}

extension UnitOfWork {
    /// Enqueues notices of a change for the clients that are linked to the user, have registered for notices, and
    /// believe the passkey.
    func tellClients(_ notice: PasskeyNotice, of passkey: RegisteredPasskey) throws {
        let receivers = try receivers.ofNotices(of: passkey.user).filter { passkey.isBelieved(in: $0.trustGroup) }
        try tell(receivers) { receiver in
            var object: JSONObject = [
                "type": .string(notice.rawValue), "timestamp": .string("\(now)"),
                "user": receiver.json(of: passkey.user), "passkey": .string("\(passkey.id)"),
                "name": .string(passkey.name.text),
            ]
            if notice == .created, !passkey.counts(at: now) {
                object["waiting_until"] = .string("\(passkey.countsFrom)")
            }
            return .object(object)
        }
    }
}
