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
            let strong = try reader.ways(of: party, reaching: wanted, at: ports.issuer)
            var ways: [SignInWay] = [.qr, .passkey].filter(strong.contains)
            if let address = wanted.identifier?.address, strong.contains(address.kind == .email ? .email : .text),
                party.sends(to: address), ports.transports.reach(address)
            {
                ways.append(address.kind == .email ? .email : .text)
            }
            // check: PasskeyTests.strength
            guard strong.contains(.device) else { return .ways(ways) }
            let hash = ports.hasher.hash(of: browser, client: party.client)
            let isKnown = try wanted.identifier.map {
                try reader.browsers.isKnown(hash, named: $0, by: party.client, ports.hasher)
            }
            // Where there is no other way, a number is shown that nobody is asked for.
            let isOffered = party.askedBrowsers == .all || isKnown ?? false || ways.isEmpty
            return .ways((isOffered ? [.device] : []) + ways)
        }
    }

    /// Whether anybody can sign in as strongly as a client needs it, by the client's settings alone.
    ///
    /// Spec: OpenID Connect Core 1.0 §5.5.1.1.
    ///
    /// - Throws: ``StoreError``.
    package static func canReach(_ wanted: Wanted, at party: RelyingParty, ports: Ports) async throws -> Bool {
        guard wanted.isStrengthEssential && wanted.strength != nil || wanted.details != nil else { return true }
        return try await ports.store.read { try !$0.ways(of: party, reaching: wanted, at: ports.issuer).isEmpty }
    }
}

extension Stores {
    /// The ways of a client that are as strong as it wants them; where it has none, and does not need it, all that it has.
    fileprivate func ways(
        of party: RelyingParty, reaching wanted: Wanted, at issuer: Issuer
    ) throws -> Set<SignInWay> {
        let takesCodes = wanted.strength.map { $0 <= .address } ?? true
        let strong = try party.ways.filter { way in
            if wanted.details != nil, !way.isSigned { return false }
            return switch way {
            case .passkey: party.takesPasskeys(at: issuer)
            case .device: try !types.forSignIn(wanted, at: party).isEmpty
            case .qr: try types.codeForSignIn(wanted, at: party) != nil
            case .email, .text: takesCodes
            }
        }
        guard strong.isEmpty, wanted.strength != nil, !wanted.isStrengthEssential else { return strong }
        var liked = wanted
        liked.strength = nil
        return try ways(of: party, reaching: liked, at: issuer)
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
