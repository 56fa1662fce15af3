import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The operator's routes for relying parties.
extension NativeAPI {
    func addClients(to routes: inout NativeRoutes) {
        routes.administrator(.post, "/v1/admin/clients") { [self] caller, incoming in
            let request = try CreateClient.Request(incoming.json(), isDevelopment: isDevelopment)
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
        var members = try JSONMembers(optionalJSON())
        let overlap = try members.optionalSeconds("overlap", in: 0...RenewClientSecret.longestOverlap)
        try members.refuseUnknown()
        return overlap ?? RenewClientSecret.overlap
    }
}

extension CreateClient.Request {
    /// Parses the body of `POST /v1/admin/clients`.
    fileprivate init(_ json: JSONValue, isDevelopment: Bool) throws {
        var members = try JSONMembers(json)
        guard let name = try members.clientName() else { throw JSONShapeError.missing(pointer: "/name") }
        let rights = try members.rights()
        let callbackURIs = try members.callbackURIs(isDevelopment: isDevelopment)
        let returnURIs = try members.returnURIs(isDevelopment: isDevelopment)
        let noticeURI = try members.noticeURI(isDevelopment: isDevelopment)
        let basic = try members.basicCredentials()
        let waives = try members.optionalBool("waive_enrollment_approval") ?? false
        let coolingOff = try members.coolingOff() ?? Client.standardCoolingOff
        let pinPolicy = try members.pinPolicy()
        let limit = try members.deviceLimit()
        let authenticators = try members.authenticators(isDevelopment: isDevelopment)
        try members.refuseUnknown()
        self.init(
            name: name, rights: rights ?? Set(Right.allCases), callbackURIs: callbackURIs,
            returnURIs: returnURIs ?? [], noticeURI: noticeURI, basic: basic, waivesEnrollmentApproval: waives,
            coolingOff: coolingOff, pinPolicy: pinPolicy ?? .standard,
            deviceLimit: limit, authenticators: authenticators ?? [])
    }
}

extension ClientChanges {
    /// Parses the body of `PATCH /v1/admin/clients/{client}`.
    fileprivate init(_ json: JSONValue, isDevelopment: Bool) throws {
        var members = try JSONMembers(json)
        self.init()
        name = try members.clientName()
        rights = try members.rights()
        let uris = try members.callbackURIs(isDevelopment: isDevelopment)
        if json["callback_uris"]?.array != nil { callbackURIs = uris }
        returnURIs = try members.returnURIs(isDevelopment: isDevelopment)
        notices = .init(try members.noticeURI(isDevelopment: isDevelopment), from: json["notice_uri"])
        basic = .init(try members.basicCredentials(), from: json["callback_basic"])
        waivesEnrollmentApproval = try members.optionalBool("waive_enrollment_approval")
        coolingOff = try members.coolingOff()
        pinPolicy = try members.pinPolicy()
        devices = .init(try members.deviceLimit(), from: json["device_limit"])
        authenticators = try members.authenticators(isDevelopment: isDevelopment)
        try members.refuseUnknown()
    }
}

extension ClientChanges.Change {
    /// The change that a member of the body asks for; null removes the value.
    fileprivate init(_ value: Value?, from json: JSONValue?) {
        self = value.map { .set($0) } ?? (json == .null ? .removed : .unchanged)
    }
}

/// The members that describe a client.
extension JSONMembers {
    fileprivate mutating func clientName() throws -> ClientName? {
        do {
            return try optionalString("name").map { text in
                let name = try ClientName(text)
                try DisplayLimits.check(name: text)
                return name
            }
        } catch let refusal as TextRefusal {
            throw RefusedText(refusal, at: "/name")
        }
    }

    fileprivate mutating func rights() throws(JSONShapeError) -> Set<Right>? {
        try optional("rights", "an array of \"challenges\", \"users\" and \"enrollments\"") {
            let rights = $0.array?.map { $0.string.flatMap(Right.init(rawValue:)) }
            return rights.flatMap { $0.contains(nil) ? nil : Set($0.compactMap { $0 }) }
        }
    }

    fileprivate mutating func noticeURI(isDevelopment: Bool) throws(JSONShapeError) -> CallbackURI? {
        try optional("notice_uri", Self.uri) { $0.string.flatMap { CallbackURI($0, isDevelopment: isDevelopment) } }
    }

    private static let uri = "an https URL (http to loopback in development mode)"

    fileprivate mutating func callbackURIs(isDevelopment: Bool) throws(JSONShapeError) -> [CallbackURI] {
        try array("callback_uris").map { element throws(JSONShapeError) in
            guard let uri = element.value.string.flatMap({ CallbackURI($0, isDevelopment: isDevelopment) }) else {
                throw JSONShapeError.invalid(
                    pointer: element.pointer, expected: Self.uri)
            }
            return uri
        }
    }

    fileprivate mutating func returnURIs(isDevelopment: Bool) throws(JSONShapeError) -> [ReturnURI]? {
        guard value("return_uris") != nil else { return nil }
        let place = pointer(to: "return_uris")
        let all = try array("return_uris").map { element throws(JSONShapeError) in
            guard let uri = element.value.string.flatMap({ ReturnURI($0, isDevelopment: isDevelopment) }) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: ReturnURI.expected)
            }
            return uri
        }
        guard all.count <= ReturnURI.maximumCount else {
            throw .invalid(pointer: place, expected: "at most \(ReturnURI.maximumCount) URLs")
        }
        return all
    }

    fileprivate mutating func coolingOff() throws(JSONShapeError) -> Seconds? {
        try optionalSeconds("enrollment_cooling_off", in: Client.coolingOffs)
    }

    fileprivate mutating func pinPolicy() throws(JSONShapeError) -> PINPolicy? {
        guard let value = value("pin_policy") else { return nil }
        return try PINPolicy(value, at: pointer(to: "pin_policy"))
    }

    fileprivate mutating func deviceLimit() throws(JSONShapeError) -> DeviceLimit? {
        guard let value = value("device_limit") else { return nil }
        return try DeviceLimit(value, at: pointer(to: "device_limit"))
    }

    fileprivate mutating func authenticators(
        isDevelopment: Bool
    ) throws(JSONShapeError) -> [CustomAuthenticator]? {
        let place = pointer(to: "authenticators")
        guard value("authenticators") != nil else { return nil }
        let all = try array("authenticators").map { element throws(JSONShapeError) in
            try CustomAuthenticator(element.value, at: element.pointer) {
                CallbackURI($0, isDevelopment: isDevelopment)
            }
        }
        guard all.count <= CustomAuthenticator.maximumCount, Set(all.map(\.name)).count == all.count else {
            throw .invalid(
                pointer: place, expected: "at most \(CustomAuthenticator.maximumCount) authenticators, each name once")
        }
        return all
    }

    fileprivate mutating func basicCredentials() throws(JSONShapeError) -> BasicCredentials? {
        guard let value = value("callback_basic") else { return nil }
        let place = pointer(to: "callback_basic")
        var members = try JSONMembers(value, at: place)
        let (username, password) = (try members.string("username"), try members.string("password"))
        try members.refuseUnknown()
        guard let credentials = BasicCredentials(username: username, password: Secret(password)) else {
            throw .invalid(
                pointer: place,
                expected: "a username without a colon and a password, each of 1 to \(BasicCredentials.maximumLength) "
                    + "bytes without control characters")
        }
        return credentials
    }
}

extension CreateClient.Created {
    func json(_ hasher: KeyedHasher) -> JSONValue {
        var object = client.json(gone: []).object ?? [:]
        object["client_secret"] = .string(secret.reveal())
        for (name, secret) in hasher.members(of: callbackSecret) { object[name] = secret }
        return .object(object)
    }
}

extension KeyedHasher {
    /// The secrets that sign requests to a client, one for each purpose.
    fileprivate func members(of callbackSecret: Secret<String>) -> [(name: String, secret: JSONValue)] {
        [(CallbackPurpose.callbacks, "callback_secret"), (.notices, "notice_secret"), (.hooks, "hook_secret")].map {
            ($1, .string(secret(for: $0, of: callbackSecret).reveal()))
        }
    }
}

extension RenewClientSecret.Renewed {
    var json: JSONValue {
        .members([
            "client_id": .string("\(client)"), "client_secret": .string(secret.reveal()),
            "earlier_until": .string("\(earlierUntil)"),
        ])
    }
}

extension RenewCallbackSecret.Renewed {
    func json(_ hasher: KeyedHasher) -> JSONValue {
        var object: JSONObject = [:]
        for (name, secret) in hasher.members(of: secret) { object[name] = secret }
        object["earlier_until"] = .string("\(earlierUntil)")
        return .object(object)
    }
}

extension Client {
    func json(gone: [CallbackURI]) -> JSONValue {
        .members([
            "client_id": .string("\(id)"), "name": .string(name.text),
            "rights": .array(rights.map(\.rawValue).sorted().map(JSONValue.string)),
            "callback_uris": .array(callbackURIs.map { .string($0.description) }),
            "gone_callback_uris": .array(gone.map { .string($0.description) }),
            "return_uris": .array(returnURIs.map { .string($0.description) }),
            "notice_uri": noticeURI.map { .string($0.description) },
            "callback_username": callbackUsername.map(JSONValue.string),
            "waive_enrollment_approval": .bool(waivesEnrollmentApproval),
            "enrollment_cooling_off": .integer(coolingOff.value), "pin_policy": pinPolicy.json,
            "device_limit": deviceLimit?.json, "authenticators": .array(authenticators.map(\.json)),
            "is_operator": .bool(isOperator),
            "disabled_at": disabledAt.map { .string("\($0)") }, "created_at": .string("\(createdAt)"),
        ])
    }
}
