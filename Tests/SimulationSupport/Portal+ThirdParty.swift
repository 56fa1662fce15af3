import CountersignCore
import CountersignWire
import StorageTestSupport

/// A client of somebody else, which enrolls and asks nobody: it has what its users allow it.
extension Portal {
    /// Lets a third party sign people in, and opens the page on which they end what it may have.
    static func openThirdParty(in world: SimulatedWorld, _ services: Node.Services) async throws -> Portal {
        let ports = services.ports
        let shop = try await Portal(world.portals.count + 1, in: world, services, isThirdParty: true)
        // A client of its own: who is at no other client would not stay a user.
        let request = CreateClient.Request(
            name: try ClientName("Account"), rights: [], callbackURIs: [], waivesEnrollmentApproval: false)
        let made = try await CreateClient.create(request, by: .system, idempotency: nil, ports: ports)
        guard case .done(.created(let account)) = made, let app = RedirectURI(shop.app),
            let page = RedirectURI(world.issuer.accountPage)
        else { throw World.Broken("third party") }
        let parties = [
            RelyingParty(
                client: shop.client.id, profile: .native, redirectURIs: [app], askedBrowsers: .all,
                registration: .known),
            RelyingParty(client: account.client.id, profile: .native, redirectURIs: [page]),
        ]
        for party in parties {
            guard try await SetRelyingParty.set(party, by: .system, ports: ports) == .set(party) else {
                throw World.Broken("relying party")
            }
        }
        return shop
    }

    /// Unlinks a user by an id.
    func forget(_ id: UserID) async {
        _ = await call(tries: 20) { services, caller in
            try await UnlinkUser.unlink(.id(id), from: caller, ports: services.ports)
        }
    }
}
