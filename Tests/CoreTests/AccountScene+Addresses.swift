import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

extension AccountScene {
    func byMail(_ name: String) async throws -> Secret<String> {
        let signedIn = try await shop.signedInByMail(name, at: shop.shop)
        #expect(signedIn.user == user)
        return try #require(signedIn.finished.session).secret
    }

    func ask(
        _ name: String, after earlier: Verification? = nil, by secret: Secret<String>?, shownTo user: UserID? = nil
    ) async throws -> AskAddressCode.Outcome {
        try await AskAddressCode.ask(
            .email(try SignInScene.email(name)), after: earlier, by: secret, shownTo: user ?? self.user,
            from: ContextLine(address: "192.0.2.7", userAgent: nil), in: .english, ports: world.ports)
    }

    func sent(
        _ name: String, by secret: Secret<String>, shownTo user: UserID? = nil
    ) async throws -> Verification {
        world.time.advance(seconds: 1)
        let outcome = try await ask(name, by: secret, shownTo: user)
        guard case .sent(let sent) = outcome else { throw World.Broken("\(outcome)") }
        return sent
    }

    func code(of sent: Verification) -> EntryNumber { world.ports.hasher.code(of: sent) }

    func enter(
        _ sent: Verification, _ code: EntryNumber? = nil, by secret: Secret<String>?, shownTo user: UserID? = nil
    ) async throws -> EnterAddressCode.Outcome {
        try await EnterAddressCode.enter(
            code ?? self.code(of: sent), of: sent, by: secret, shownTo: user ?? self.user,
            from: ContextLine(address: "192.0.2.7", userAgent: nil), in: .english, ports: world.ports)
    }

    func add(_ name: String, by secret: Secret<String>) async throws {
        #expect(try await enter(try await sent(name, by: secret), by: secret) == .done)
    }

    func remove(
        _ id: IdentifierID, by secret: Secret<String>?, shownTo user: UserID? = nil
    ) async throws -> RemoveOwnAddress.Outcome {
        try await RemoveOwnAddress.remove(
            id, by: secret, shownTo: user ?? self.user, from: nil, in: .english, ports: world.ports)
    }

    func identifier(_ name: String) async throws -> IdentifierID {
        let address = PersonalAddress.email(try SignInScene.email(name))
        let verified = try await world.store.read { try $0.identifiers.verified(of: user) }
        return try #require(verified.first { $0.address == address }).id
    }

    /// The mails from the account page that have not been looked at, oldest first.
    func mails() async throws -> [(to: PersonalAddress, message: PersonalMessage)] {
        let now = world.time.now
        let leased = try await world.store.lease(.mail, limit: 100, now: now, until: now.adding(.days(30)))
        return leased.map(\.message).sorted { $0.id < $1.id }.compactMap { message in
            guard case .personal(let told, let address, account.id) = message.content else { return nil }
            return (address, told)
        }
    }
}
