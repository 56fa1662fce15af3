package import CountersignWire
import Encodings

/// An erasure that is to be done: the personal data of what a client asked a user before it was unlinked from them.
package struct Erasure: Hashable, Sendable {
    /// The user.
    package let user: UserID
    /// The client.
    package let client: ClientID
    /// When the client was unlinked; challenges that it asked later are not erased.
    package let since: Timestamp
    /// Whether the user is deleted; then events and the server's questions about new devices are erased as well.
    package let isDeleted: Bool

    /// An erasure of these parts.
    package init(user: UserID, client: ClientID, since: Timestamp, isDeleted: Bool) {
        self.user = user
        self.client = client
        self.since = since
        self.isDeleted = isDeleted
    }
}

/// Erases personal data of deleted and unlinked users: messages, names and addresses.
///
/// What evidence needs stays: that something was asked and how it ended, the receipt, and the devices' public keys.
/// `docs/security/privacy.md` lists the columns. The erasure is done in batches after the transaction that unlinks or
/// deletes. If a server stops in between, the maintenance of any server does the rest.
package enum EraseUser {
    /// Does all pending erasures, or those of one user: what others have left is the maintenance's.
    package static func sweep(of user: UserID? = nil, ports: Ports) async throws {
        while try await ports.commit(
            at: ports.time.now, as: .system,
            { work in
                guard let erasure = try work.erasures.next(of: user) else { return false }
                if try work.erasures.erase(erasure, limit: SweepKept.batch) == 0 { try work.erasures.delete(erasure) }
                return true
            })
        {}
    }
}

extension DeviceDescription {
    /// What remains of a device's description when its user is deleted.
    var erased: DeviceDescription {
        guard let name = try? DisplayLine(ErasedText.text) else { preconditionFailure("a line") }
        return DeviceDescription(name: name, storage: storage)
    }
}

/// The replacement of erased data.
package enum ErasedText {
    /// The text that replaces personal text; it is valid as a line and as a message.
    package static let text = "(erased)"
    /// The personal members of the details of audit events.
    package static let members = ["device"]
}

extension UnitOfWork {
    /// Unlinks a client from a user, and cancels the client's open challenges to the user.
    ///
    /// A user without any other client is deleted.
    ///
    /// - Parameters:
    ///   - user: the user, whose row is locked.
    ///   - client: the client to unlink.
    ///   - caller: the client that wants it.
    func letGo(
        _ user: UserID, by client: ClientID, asked caller: ClientID
    ) throws {
        try cancel(try challenges.open(of: client, user: user))
        try endLink(of: user, to: client)
        try endFamilies(.user(user, client), because: .userRemoved)
        try tellLogout(of: user, to: client)
        try authorizations.deleteAll(of: user, at: client)
        try identifiers.deleteIdentifiers(of: user, claimedBy: client)
        try grants.deleteGrant(of: user, for: client)
        try erasures.put(of: user, by: client, at: now)
        try deleteIfUnknown(user, asked: caller)
    }

    /// Deletes a user whom no client knows any more.
    ///
    /// - Parameters:
    ///   - user: the user, whose row is locked.
    ///   - caller: the client that wants it.
    func deleteIfUnknown(_ user: UserID, asked caller: ClientID) throws {
        guard try links.count(of: user) == 0 else { return }
        try links.deleteLinks(of: user)
        for enrollment in try enrollments.active(of: user) {
            _ = try removeEnrollment(enrollment.id, reason: .user, concerning: caller)
        }
        // No device can answer the remaining open challenges. Some need no device, but their user is deleted now.
        for challenge in try challenges.open(of: user) { try endChallenge(challenge, as: .cancelled) }
        for enrollment in try enrollments.all(of: user) {
            try enrollments.put(enrollment.device.erased, of: enrollment.id)
            try answers.deleteAll(by: enrollment.id)
        }
        try browsers.deleteAll(of: user)
        try authorizations.deleteAll(of: user, at: nil)
        try identifiers.deleteIdentifiers(of: user, claimedBy: nil)
        try passkeys.deletePasskeys(of: user)
        try sessions.deleteSessions(of: user)
        try families.deleteFamilies(of: user)
        // Some have asked that have no link, or not any more. The caller's erases the events also where nobody has.
        try erasures.put(of: user, by: caller, at: now)
        try erasures.putAll(of: user, at: now)
        try users.markDeleted(user, at: now)
        try raise(.userDeleted(user, client: caller))
    }
}
