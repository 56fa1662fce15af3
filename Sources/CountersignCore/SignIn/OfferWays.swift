package import CountersignWire

/// Says by which ways a person may sign in from a browser.
///
/// It depends on the client's settings and on whether the person has signed in from this browser before, and never on
/// whether there is such a person.
package enum OfferWays {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The ways, the first one to be offered first.
        case ways([AskSignIn.Way])
        /// The client uses the provider no more.
        case clientGone
    }

    /// The ways for the person who was named.
    ///
    /// - Throws: ``StoreError``.
    package static func ways(for wanted: Wanted, in browser: BrowserID, ports: Ports) async throws -> Outcome {
        try await ports.store.read { reader in
            guard let party = try reader.relyingParties.find(wanted.client) else { return .clientGone }
            let codes: [AskSignIn.Way] = try reader.types.find(.qr)?.isOpen(to: party.client) == true ? [.code] : []
            if party.askedBrowsers == .all { return .ways([.device] + codes) }
            let hash = ports.hasher.hash(of: browser, client: party.client)
            let user = try wanted.identifier.flatMap { try reader.links.find(.externalID($0), of: party.client)?.id }
            let isKnown = try user.map { try reader.browsers.isKnown(hash, of: $0, by: party.client) } ?? false
            // Where there are no codes, a number is shown that nobody is asked for.
            return .ways((isKnown || codes.isEmpty ? [.device] : []) + codes)
        }
    }
}
