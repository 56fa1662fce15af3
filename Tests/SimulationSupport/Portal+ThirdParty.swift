import CountersignCore
import CountersignWire
import StorageTestSupport

/// A client of somebody else, which enrolls and asks nobody: it has what its users allow it.
extension Portal {
    /// Lets a third party sign people in.
    static func openThirdParty(in world: SimulatedWorld, _ services: Node.Services) async throws -> Portal {
        let shop = try await Portal(world.portals.count + 1, in: world, services, as: .thirdParty)
        guard let app = RedirectURI(shop.app) else { throw World.Broken("third party") }
        let party = RelyingParty(
            client: shop.client.id, profile: .native, redirectURIs: [app], askedBrowsers: .all, registration: .known,
            detailTypes: detailTypes)
        guard try await SetRelyingParty.set(party, by: .system, ports: services.ports) == .set(party) else {
            throw World.Broken("relying party")
        }
        return shop
    }

    /// Opens the page on which people end what clients may have, and set the code by which they are asked.
    static func openAccount(in world: SimulatedWorld, _ services: Node.Services) async throws {
        // A client of its own: who is at no other client would not stay a user.
        let request = CreateClient.Request(
            name: try ClientName("Account"), rights: [], callbackURIs: [], waivesEnrollmentApproval: false)
        let made = try await CreateClient.create(request, by: .system, idempotency: nil, ports: services.ports)
        guard case .done(.created(let account)) = made, let page = RedirectURI(world.issuer.accountPage) else {
            throw World.Broken("account")
        }
        let party = RelyingParty(client: account.client.id, profile: .native, redirectURIs: [page])
        guard try await SetRelyingParty.set(party, by: .system, ports: services.ports) == .set(party) else {
            throw World.Broken("relying party")
        }
    }

    /// Unlinks a user by an id.
    func forget(_ id: UserID) async {
        _ = await call(tries: 20) { services, caller in
            try await UnlinkUser.unlink(.id(id), from: caller, ports: services.ports)
        }
    }
}
