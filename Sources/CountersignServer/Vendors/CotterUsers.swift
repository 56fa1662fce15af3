import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE

/// The calls about users' trusted devices.
///
/// Old apps prove nothing when they enroll or remove a device, so these are for a client's server: one that keeps a
/// secret, and shows it. Whether a key is a user's trusted device may be asked by whoever has the key.
extension CotterDoor {
    func addUsers(to table: inout RouteTable) {
        add(.put, "/user/methods", to: &table) { [self] incoming, caller in
            try await change(incoming.query["cotter_user_id"], incoming, caller)
        }
        add(.put, "/user/:user", to: &table) { [self] incoming, caller in
            try await change(incoming.parameter("user"), incoming, caller)
        }
        add(.get, "/user/methods", to: &table) { [self] incoming, caller in
            try await isEnrolled(
                incoming.query["cotter_user_id"], incoming.query["method"], incoming.query["public_key"], caller)
        }
        add(.get, "/user/enrolled/:user/:method/:key", to: &table) { [self] incoming, caller in
            try await isEnrolled(
                incoming.parameter("user"), incoming.parameter("method"), incoming.parameter("key"), caller)
        }
    }

    private static let needsSecret = CotterError(
        .apiKey, "only a client that keeps a secret, and shows it, enrolls and removes devices by this call")

    private func change(_ user: String?, _ incoming: Incoming, _ caller: Caller) async throws -> Response {
        // check: CotterUserTests.publicClients
        guard caller.isAuthenticated && caller.client.rights.contains(.enrollments) else { throw Self.needsSecret }
        let body = try body(of: incoming)
        guard let user, !user.isEmpty else { throw CotterError.malformed("cotter_user_id") }
        // check: CotterUserTests.refused
        guard body["method"] == .string(SignedEvent.method) else {
            throw CotterError(.notPossible, "the only method is TRUSTED_DEVICE")
        }
        let algorithm = body["algorithm"]?.string
        guard let key = body["code"]?.string.flatMap({ SignedEvent.key($0, algorithm: algorithm) }) else {
            throw CotterError.malformed("code")
        }
        guard let isEnrolled = body["enrolled"]?.bool else { throw CotterError.malformed("enrolled") }
        guard let found = try await FindCalledUser.find(user, of: caller.client, ports: ports) else {
            throw Self.noUser
        }
        if isEnrolled {
            try await enroll(key, of: found, named: Self.name(body), caller)
        } else {
            try await remove(key, of: found, caller)
        }
        let methods = isEnrolled ? [SignedEvent.method] : []
        return Response(json: try await userJSON(found, named: user, enrolled: methods, for: caller))
    }

    private func enroll(_ key: JWSPublicKey, of user: UserID, named name: DisplayLine, _ caller: Caller) async throws {
        let credential = ClientCaller(forOneRequest: caller.client)
        guard
            case .done(.created(let created)) = try await CreateTicket.create(
                for: .id(user), by: credential, idempotency: nil, ports: ports)
        else { throw Self.noUser }
        let request = EnrollByJWK.Request(
            ticket: created.invitation.ticket, keys: DeviceJWKs(ofEvents: key),
            device: DeviceDescription(name: name, storage: .software))
        switch try await EnrollByJWK.enroll(request, ports: ports) {
        case .enrolled: return
        case .alreadyEnrolled: throw CotterError(.notPossible, "already enrolled")
        case .tooManyDevices: throw CotterError(.notPossible, "the user has too many devices")
        case .ticketInvalid, .ticketUsed, .ticketExpired, .blocked, .pushTokenInUse, .refused, .certificateInvalid:
            throw CotterError(.notPossible, "the user may enroll no device")
        }
    }

    private func remove(_ key: JWSPublicKey, of user: UserID, _ caller: Caller) async throws {
        let credential = ClientCaller(forOneRequest: caller.client)
        guard let device = try await FindDeviceByKey.find(key, of: user, ports: ports),
            case .removed = try await RemoveEnrollment.remove(device, of: .id(user), by: credential, ports: ports)
        else { throw CotterError(.notFound, "the user has no such device") }
    }

    private func isEnrolled(
        _ user: String?, _ method: String?, _ path: String?, _ caller: Caller
    ) async throws -> Response {
        guard let user, let method, let path else { throw CotterError.malformed("public_key") }
        var isEnrolled = false
        if method == SignedEvent.method, let key = Self.key(inPath: path),
            let found = try await FindCalledUser.find(user, of: caller.client, ports: ports)
        {
            isEnrolled = try await FindDeviceByKey.find(key, of: found, ports: ports) != nil
        }
        return Response(json: ["enrolled": .bool(isEnrolled), "method": .string(method)])
    }

    static let noUser = CotterError(.notFound, "there is no such user")

    /// What people see of a device.
    private static func name(_ body: JSONObject) -> DisplayLine {
        let parts = [body["device_type"]?.string, body["device_name"]?.string].compactMap(\.self)
        let text = parts.joined(separator: " ")
        if let name = try? DisplayLine(text, atMost: 100), (try? DisplayLimits.check(name: text)) != nil { return name }
        guard let usual = try? DisplayLine("Phone") else { preconditionFailure("it can be shown") }
        return usual
    }

    /// A key in a path: base64 of the base64 text, in either alphabet, padded or not.
    private static func key(inPath text: String) -> JWSPublicKey? {
        var plain = text.replacing("-", with: "+").replacing("_", with: "/").replacing("=", with: "")
        plain += String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
        let key = SignedEvent.bytes(plain).flatMap { String(strictUTF8: $0) }
        return key.flatMap { SignedEvent.key($0, algorithm: nil) }
    }
}
