package import CountersignWire
import Encodings

/// The message with the code of a sign-in, made when it is sent.
package enum SignInCode {
    /// The message and its address; nil if none is to be sent.
    ///
    /// None is sent to an address that nobody has, where the client takes no new users. After too many wrong codes a mail
    /// has the link alone, whose secret nobody guesses, and no text message is sent. The page does not tell.
    ///
    /// - Throws: ``StoreError``.
    package static func message(
        of id: AuthorizationID, _ verification: VerificationID, ports: Ports
    ) async throws -> (message: PersonalMessage, address: PersonalAddress)? {
        let now = ports.time.now
        return try await ports.store.read { reader in
            guard let found = try reader.authorizations.find(id), found.state == .open,
                let ask = found.ask, now < ask.until, let sent = ask.verification, sent.id == verification,
                let client = try reader.clients.find(found.client), client.disabledAt == nil,
                let party = try reader.relyingParties.find(client.id), party.sends(to: sent.address)
            else { return nil }
            let link = sent.address.kind == .email ? link(of: found.id, sent, ports: ports) : nil
            let wrong = try reader.counted(reader.wrongCodes(of: sent, for: found, ports.hasher), at: now)
            let code = wrong.isUsedUp ? nil : ports.hasher.code(of: sent)
            // check: SignInCodeTests.textAfterWrong
            guard code != nil || link != nil else { return nil }
            let user = try reader.person(named: .address(sent.address), at: client.id, ports.hasher)
            // What its user has removed is theirs by no client's word.
            if let user, try reader.identifiers.removed(ports.hasher.identifier(sent.address), of: user) != nil {
                return nil
            }
            // check: SignInCodeTests.unknown
            guard try user != nil || reader.takes(sent.address, at: party, ports.hasher) else { return nil }
            let message = PersonalMessage.signIn(
                code, minutes: max(1, Int((ask.until - now).value / 60)), at: client.name, link: link,
                from: found.wanted.askedFrom, in: found.wanted.askedIn)
            return (message, sent.address)
        }
    }

    private static func link(
        of id: AuthorizationID, _ verification: Verification, ports: Ports
    ) -> Secret<String> {
        Secret("\(ports.issuer)/signin/\(id)/link/\(ports.hasher.link(of: verification).reveal())")
    }
}

extension Stores {
    /// Whether a client takes whoever proves an address that is nobody's whom it knows.
    fileprivate func takes(
        _ address: PersonalAddress, at party: RelyingParty, _ hasher: KeyedHasher
    ) throws -> Bool {
        switch party.registration {
        case .closed: false
        case .known: try identifiers.verified(hasher.identifier(address)) != nil
        case .open: true
        }
    }
}
