import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The calls about users' devices: each device is an enrollment.
extension OneWelcomeDoor {
    /// How many devices one request may delete.
    private static let maximumDeleted = 100

    func addDevices(to table: inout RouteTable) {
        let path = "/oauth/api/v4/users/:user/devices"
        addDeviceCall(.get, path, to: &table) { [self] caller, user, _ in
            devices(try await present(user, caller), of: caller.client)
        }
        addDeviceCall(.delete, path, to: &table) { [self] caller, user, _ in
            for enrollment in try await present(user, caller) {
                _ = try await remove("\(enrollment.id)", of: user, caller)
            }
            return Response(status: .noContent)
        }
        addDeviceCall(.post, path, to: &table) { [self] caller, user, incoming in
            var kept: [String] = []
            for id in Set(try Self.deleted(incoming)).sorted() {
                let isRemoved = try await remove(id, of: user, caller)
                if !isRemoved { kept.append(id) }
            }
            guard kept.isEmpty else {
                throw OneWelcomeDeviceError(
                    code: .notAllDeleted, message: "some of the devices were not deleted", kept: kept)
            }
            return Response(status: .noContent)
        }
        // Without its keys a device is enrolled no more. Whether there was such a device is not told: OneWelcome does not.
        for (method, path) in [
            (HTTPRequest.Method.delete, "\(path)/:device"),
            (HTTPRequest.Method.post, "\(path)/:device/disableMobileAuthentication"),
        ] {
            addDeviceCall(method, path, to: &table) { [self] caller, user, incoming in
                _ = try await remove(incoming.parameter("device") ?? "", of: user, caller)
                return Response(status: .noContent)
            }
        }
    }

    /// Adds a call about devices, whose refusals have a shape of their own.
    private func addDeviceCall(
        _ method: HTTPRequest.Method, _ path: String, to table: inout RouteTable,
        _ handler: @escaping @Sendable (ClientCaller, UserReference?, Incoming) async throws -> Response
    ) {
        table.add(method, path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let caller: ClientCaller
            do {
                caller = try await self.caller(of: incoming, try incoming.credentials(), needing: .enrollments)
            } catch let error as OAuthError where error.code == .invalidClient {
                throw OneWelcomeDeviceError(code: .unauthorized, message: error.description)
            } catch let error as OAuthError where error.code == .unauthorizedClient {
                throw OneWelcomeDeviceError(code: .insufficientPermissions, message: error.description)
            } catch let error as OneWelcomeError {
                throw OneWelcomeDeviceError(code: .insufficientPermissions, message: error.description)
            }
            return try await handler(
                caller, try await user(named: incoming.parameter("user"), of: caller.client), incoming)
        }
    }

    /// The user's devices that are not removed; none if there is no such user.
    private func present(_ user: UserReference?, _ caller: ClientCaller) async throws -> [Enrollment] {
        guard let user else { return [] }
        switch try await ShowEnrollments.show(of: user, to: caller.client, ports: ports) {
        case .enrollments(let all):
            return all.filter { enrollment in if case .removed = enrollment.state { false } else { true } }
        case .userNotFound: return []
        }
    }

    /// Removes a device; false if the user has none of this id.
    private func remove(_ text: String, of user: UserReference?, _ caller: ClientCaller) async throws -> Bool {
        guard let id = EnrollmentID(text), let user else { return false }
        switch try await RemoveEnrollment.remove(id, of: user, by: caller, ports: ports) {
        case .removed: return true
        case .notFound: return false
        }
    }

    /// The ids in the body of a request to delete some devices.
    private static func deleted(_ incoming: Incoming) throws(OneWelcomeDeviceError) -> [String] {
        let expected = "the body must be JSON, with the ids of 1 to \(maximumDeleted) devices in the array delete"
        guard incoming.hasContent("application/json"), let json = try? JSONValue(parsing: incoming.body),
            let ids = json["delete"]?.array?.map(\.string), (1...maximumDeleted).contains(ids.count),
            ids.allSatisfy({ $0 != nil })
        else { throw OneWelcomeDeviceError(code: .invalidRequest, message: expected) }
        return ids.compactMap { $0 }
    }

    private func devices(_ enrollments: [Enrollment], of client: Client) -> Response {
        // Nobody and somebody without devices get the same.
        guard !enrollments.isEmpty else { return Response(json: ["error": "No devices found"], status: 404) }
        let now = ports.time.now
        return Response(json: ["devices": .array(enrollments.map { $0.portalJSON(of: client, at: now) })])
    }
}

extension Enrollment {
    fileprivate func portalJSON(of client: Client, at now: Timestamp) -> JSONValue {
        let tokens = [
            pin == nil ? nil : "DEFAULT", biometric == nil ? nil : "FINGER_PRINT",
            customs.isEmpty ? nil : "CUSTOM_AUTHENTICATOR",
        ].compactMap(\.self)
        let labels = device.labels
        let version = labels.system?.text.split(separator: " ").last { $0.first?.isNumber == true }
        return .members([
            "id": .string("\(id)"), "name": .string(device.name.text), "application": .string(client.name.text),
            "model": labels.model.map { .string($0.text) }, "platform": portalPlatform.map(JSONValue.string),
            "osVersion": version.map { .string(String($0)) }, "createdAt": .integer(createdAt.milliseconds),
            "tokenTypes": .array(tokens.map(JSONValue.string)), "mobileAuthenticationEnabled": .bool(isLetIn(at: now)),
            "pushAuthenticationEnabled": .bool(isLetIn(at: now) && push != nil),
        ])
    }
}
