import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's routes for relying parties.
extension NativeAPI {
    func addClients(to routes: inout NativeRoutes) {
        routes.administrator(.post, "/v1/admin/clients") { [self] caller, incoming in
            let request = try CreateClient.Request(ClientRequest(incoming.json(), isDevelopment: isDevelopment))
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await CreateClient.create(request, by: caller.actor, idempotency: key, ports: ports)
            return try reply(result, status: 201, json)
        }
        routes.administrator(.get, "/v1/admin/clients") { [self] _, _ in
            reply(try await ListClients.list(ports: ports))
        }
        routes.administrator(.patch, "/v1/admin/clients/:client") { [self] caller, incoming in
            let id = try incoming.client()
            let changes = try ClientChanges(incoming.json(), isDevelopment: isDevelopment)
            return try await shown(try client(await UpdateClient.update(id, changes, by: caller.actor, ports: ports)))
        }
        addClientStates(to: &routes)
        routes.administrator(.post, "/v1/clients/:client/secret") { [self] caller, incoming in
            let id = try incoming.client()
            let result = try await RenewClientSecret.renew(
                of: id, overlap: try incoming.overlap(), by: caller.actor,
                idempotency: try incoming.idempotencyKey(of: caller.client.id, ports.hasher), ports: ports)
            return try reply(result, status: 201, json)
        }
        routes.administrator(.post, "/v1/admin/clients/:client/callback-secret") { [self] caller, incoming in
            let id = try incoming.client()
            let result = try await RenewCallbackSecret.renew(
                of: id, overlap: try incoming.overlap(), by: caller.actor,
                idempotency: try incoming.idempotencyKey(of: caller.client.id, ports.hasher), ports: ports)
            return try reply(result, status: 201, json)
        }
    }

    private func addClientStates(to routes: inout NativeRoutes) {
        routes.administrator(.post, "/v1/admin/clients/:client/disable") { [self] caller, incoming in
            let id = try incoming.client()
            return try await shown(try client(await DisableClient.disable(id, by: caller.actor, ports: ports)))
        }
        routes.administrator(.post, "/v1/admin/clients/:client/enable") { [self] caller, incoming in
            let id = try incoming.client()
            return try await shown(try client(await EnableClient.enable(id, by: caller.actor, ports: ports)))
        }
        routes.administrator(.delete, "/v1/admin/clients/:client") { [self] caller, incoming in
            let id = try incoming.client()
            return try reply(await DeleteClient.delete(id, by: caller.actor, ports: ports))
        }
    }

    private func shown(_ client: Client) async throws -> Response {
        reply(client, try await ShowGoneReceivers.show(of: client.id, ports: ports))
    }
}

extension Incoming {
    /// How long the replaced secret remains valid.
    fileprivate func overlap() throws -> Seconds {
        try SecretRequest(optionalJSON()).overlap ?? RenewClientSecret.overlap
    }
}

extension CreateClient.Created {
    func json(_ hasher: KeyedHasher) -> JSONValue {
        CreatedClientView(
            client: client.view(gone: []), secret: secret,
            callbackSecrets: CallbackSecretsView(of: callbackSecret, hasher)
        ).json
    }
}

extension CallbackSecretsView {
    fileprivate init(of secret: Secret<String>, _ hasher: KeyedHasher) {
        self.init(
            callback: hasher.secret(for: .callbacks, of: secret), notice: hasher.secret(for: .notices, of: secret),
            hook: hasher.secret(for: .hooks, of: secret))
    }
}

extension RenewClientSecret.Renewed {
    var json: JSONValue { ClientSecretView(client: client, secret: secret, earlierUntil: earlierUntil).json }
}

extension RenewCallbackSecret.Renewed {
    func json(_ hasher: KeyedHasher) -> JSONValue {
        CallbackSecretView(secrets: CallbackSecretsView(of: secret, hasher), earlierUntil: earlierUntil).json
    }
}

extension Client {
    func view(gone: [CallbackURI]) -> ClientView {
        ClientView(
            id: id, name: name.text, rights: rights.map(\.rawValue).sorted(),
            callbackURIs: callbackURIs.map(\.description), goneURIs: gone.map(\.description),
            returnURIs: returnURIs.map(\.description), noticeURI: noticeURI?.description,
            callbackUsername: callbackUsername, waivesEnrollmentApproval: waivesEnrollmentApproval,
            coolingOff: coolingOff, pinPolicy: pinPolicy, deviceLimit: deviceLimit, authenticators: authenticators,
            vendors: vendors.map(\.rawValue).sorted(), isOperator: isOperator, isThirdParty: isThirdParty,
            disabledAt: disabledAt, createdAt: createdAt)
    }
}

extension CreateClient.Request {
    /// What the body of `POST /v1/admin/clients` asks.
    init(_ request: ClientRequest) {
        let settings = request.settings
        self.init(
            name: request.name, rights: settings.rights ?? (request.isThirdParty ? [] : Set(Right.allCases)),
            callbackURIs: settings.callbackURIs ?? [], returnURIs: settings.returnURIs ?? [],
            noticeURI: settings.notices.replacement ?? nil, basic: settings.basic.replacement ?? nil,
            waivesEnrollmentApproval: settings.waivesEnrollmentApproval ?? false,
            coolingOff: settings.coolingOff ?? Client.standardCoolingOff, pinPolicy: settings.pinPolicy ?? .standard,
            deviceLimit: settings.devices.replacement ?? nil, authenticators: settings.authenticators ?? [],
            vendors: settings.vendors ?? [], isThirdParty: request.isThirdParty)
    }
}
