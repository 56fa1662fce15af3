package import CountersignWire
import Encodings

/// What is still to be erased of what a client asked a user whom it is linked to no more.
package struct Erasure: Hashable, Sendable {
    /// The user.
    package let user: UserID
    /// The client.
    package let client: ClientID
    /// When the client let the user go: what it has asked since is not meant.
    package let since: Timestamp
    /// Whether the user is gone altogether.
    package let isDeleted: Bool

    /// An erasure of these parts.
    package init(user: UserID, client: ClientID, since: Timestamp, isDeleted: Bool) {
        self.user = user
        self.client = client
        self.since = since
        self.isDeleted = isDeleted
    }
}

/// Erases what is personal of users who are gone: messages, names, addresses.
///
/// What evidence needs stays: that something was asked and how it ended, the receipt, the devices' public keys. Which
/// column is which says `docs/security/privacy.md`. It is done in batches after the transaction that deletes; each
/// server's maintenance does what a server that died has left.
package enum EraseUser {
    /// Erases all that is to be erased.
    package static func sweep(ports: Ports) async throws {
        while try await ports.commit(
            at: ports.time.now, as: .system,
            { work in
                guard let erasure = try work.erasures.next() else { return false }
                if try work.erasures.erase(erasure, limit: SweepKept.batch) == 0 { try work.erasures.delete(erasure) }
                return true
            })
        {}
    }
}

extension DeviceDescription {
    /// What is left of what a device said of itself when its user is gone.
    var erased: DeviceDescription {
        guard let name = try? DisplayLine(ErasedText.text) else { preconditionFailure("a line") }
        return DeviceDescription(name: name, storage: storage)
    }
}

/// What stands where something personal stood.
package enum ErasedText {
    /// A line and a message alike.
    package static let text = "(erased)"
    /// The members of events' details that are personal.
    package static let members = ["device"]
}

extension UnitOfWork {
    /// Takes the link between a client and a user away, and with it what the client has asked the user and is open; a user
    /// whom nobody is linked to any more is deleted.
    ///
    /// - Parameters:
    ///   - user: the user, whose row is locked.
    ///   - client: whose link it is.
    ///   - caller: who wants it so.
    func letGo(
        _ user: UserID, by client: ClientID, asked caller: ClientID
    ) throws {
        try cancel(try challenges.open(of: client, user: user))
        try endLink(of: user, to: client)
        try erasures.put(of: user, by: client, at: now)
        guard try links.count(of: user) == 0 else { return }
        for enrollment in try enrollments.active(of: user) {
            _ = try removeEnrollment(enrollment.id, reason: .user, concerning: caller)
        }
        // No device can, or some need none: what is open has nobody left who could be meant.
        for challenge in try challenges.open(of: user) { try endChallenge(challenge, as: .cancelled) }
        for enrollment in try enrollments.all(of: user) {
            try enrollments.put(enrollment.device.erased, of: enrollment.id)
            try answers.deleteAll(by: enrollment.id)
        }
        try browsers.deleteAll(of: user)
        try users.markDeleted(user, at: now)
        try raise(.userDeleted(user, client: caller))
    }
}
