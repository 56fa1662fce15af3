package import CountersignWire

/// Says by which ways a person may sign in from a browser.
///
/// It depends on the client's settings, on how strong the client wants it, and on whether the person has signed in from
/// this browser before, and never on whether there is such a person.
package enum OfferWays {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The ways, the first one to be offered first.
        case ways([SignInWay])
        /// The client uses the provider no more.
        case clientGone
    }

    /// The ways for the person who was named.
    ///
    /// - Throws: ``StoreError``.
    package static func ways(for wanted: Wanted, in browser: BrowserID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let party = try reader.relyingParties.find(wanted.client) else { return .clientGone }
            var ways: [SignInWay] = []
            if party.ways.contains(.qr), try reader.types.codeForSignIn(wanted, at: party) != nil {
                ways.append(.qr)
            }
            if party.takesPasskeys(at: ports.issuer) { ways.append(.passkey) }
            let takesCodes = wanted.strength.map { $0 <= .address } ?? true
            if takesCodes, let address = wanted.identifier?.address, party.sends(to: address),
                ports.transports.reach(address)
            {
                ways.append(address.kind == .email ? .email : .text)
            }
            guard party.ways.contains(.device), try !reader.types.forSignIn(wanted, at: party).isEmpty else {
                return .ways(ways)
            }
            let hash = ports.hasher.hash(of: browser, client: party.client)
            let isKnown = try wanted.identifier.map {
                try reader.browsers.isKnown(hash, named: $0, by: party.client, ports.hasher)
            }
            // Where there is no other way, a number is shown that nobody is asked for.
            let isOffered = party.askedBrowsers == .all || isKnown ?? false || ways.isEmpty
            return .ways((isOffered ? [.device] : []) + ways)
        }
    }
}

extension OfferWays {
    /// Whether anybody can sign in as strongly as a client needs it, by the client's settings alone.
    ///
    /// Spec: OpenID Connect Core 1.0 §5.5.1.1.
    ///
    /// - Throws: ``StoreError``.
    package static func canReach(_ wanted: Wanted, ports: Ports) async throws -> Bool {
        guard wanted.isStrengthEssential, let strength = wanted.strength else { return true }
        return try await ports.store.read { reader in
            guard let party = try reader.relyingParties.find(wanted.client) else { return false }
            return try party.takesPasskeys(at: ports.issuer)
                || strength <= .address && !party.ways.isDisjoint(with: [.email, .text])
                || party.ways.contains(.device) && !reader.types.forSignIn(wanted, at: party).isEmpty
                || party.ways.contains(.qr) && reader.types.codeForSignIn(wanted, at: party) != nil
        }
    }
}

extension BrowserStore {
    /// Whether a person of a name has signed in from a browser; the same work whether there is such a person or not.
    func isKnown(
        _ browser: KeyedHash, named name: SignInName, by client: ClientID, _ hasher: KeyedHasher
    ) throws -> Bool {
        switch name {
        case .address(let address): try isKnown(browser, of: hasher.identifier(address), by: client)
        case .externalID(let external): try isKnown(browser, of: external, by: client)
        }
    }
}
