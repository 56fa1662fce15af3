import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import OpenPGP

/// Tickets and devices, for relying parties.
extension NativeAPI {
    func addEnrollments(to routes: inout NativeRoutes) {
        routes.client(.post, "/v1/users/:user/enrollment-tickets", .enrollments) { [self] client, incoming in
            try JSONMembers(try incoming.optionalJSON()).refuseUnknown()
            let key = try incoming.idempotencyKey(of: client.id, ports.hasher)
            let result = try await CreateTicket.create(
                for: try incoming.user(), by: client, idempotency: key, ports: ports
            ) { RecordedReply(status: 201, body: $0.json.encoded) }
            return try reply(result, status: 201, json)
        }
        routes.client(.get, "/v1/users/:user/enrollments", .enrollments) { [self] client, incoming in
            let list = try found(
                await ShowEnrollments.list(of: try incoming.user(), to: client, ports: ports), .user)
            let now = ports.time.now
            return Response(json: ["enrollments": .array(list.map { $0.json(at: now) })])
        }
        routes.client(
            .post, "/v1/users/:user/enrollments/:enrollment/waiver", .enrollments
        ) { [self] client, incoming in
            let id = try incoming.enrollment()
            let fingerprint = try Self.waivedFingerprint(incoming.json())
            let user = try incoming.user()
            return try reply(
                await WaiveWait.waive(id, fingerprint, of: user, by: client, ports: ports))
        }
        routes.client(
            .delete, "/v1/users/:user/enrollments/:enrollment", .enrollments, query: ["reason"]
        ) { [self] client, incoming in
            let id = try incoming.enrollment()
            let words = RemoveEnrollment.clientReasons.map(\.rawValue)
            let reason = try incoming.filter("reason", "one of \(words.joined(separator: ", "))") { word in
                RemoveEnrollment.clientReasons.first { $0.rawValue.hasSameBytes(as: word) }
            }
            return try removed(
                await RemoveEnrollment.remove(
                    id, of: try incoming.user(), by: client, because: reason ?? .client, ports: ports), .enrollment)
        }
    }
}

extension NativeAPI {
    /// The body of a waiver: which device is meant.
    static func waivedFingerprint(_ json: JSONValue) throws -> Fingerprint {
        var members = try JSONMembers(json)
        let fingerprint = try members.required("fingerprint", "40 hexadecimal digits") {
            $0.string.flatMap { Fingerprint($0[...]) }
        }
        try members.refuseUnknown()
        return fingerprint
    }
}

extension CreateTicket.Created {
    /// The ticket as the client gets it.
    var json: JSONValue {
        .members([
            "ticket": .string(invitation.ticket.reveal()), "qr": .string(invitation.text),
            "user": .string("\(invitation.user)"), "enrollment": .string("\(invitation.enrollment)"),
            "expires_at": .string("\(expiresAt)"),
        ])
    }
}

extension Enrollment {
    /// The enrollment as its user's clients and its own device see it.
    func json(at now: Timestamp) -> JSONValue {
        var object = JSONObject([
            "enrollment": .string("\(id)"), "user": .string("\(user)"),
            "fingerprint": .string("\(keys.primary.fingerprint)"), "device": device.json,
            "versions": .array(versions.map(JSONValue.integer)),
            "assurance": .string(credential.assurance.rawValue), "created_at": .string("\(createdAt)"),
        ])
        object["pin"] = .string(pinState.rawValue)
        object["biometric"] = .bool(biometric != nil)
        object["custom"] = .array(customs.keys.sorted().map { .string("\($0)") })
        object["push"] = push?.json
        switch state {
        case .active:
            let waits = !isLetIn(at: now)
            object["state"] = waits ? "waiting" : "active"
            object["approval"] = waits ? approval.map { .string("\($0)") } : nil
            object["waiting_until"] = waits ? .string("\(countsFrom)") : nil
            object["waiting"] = WaitingMethods.json(waiting(at: now))
        case .suspended(let time):
            object["state"] = "suspended"
            object["suspended_at"] = .string("\(time)")
        case .removed(let reason, let time):
            object["state"] = "removed"
            object["reason"] = .string(reason.rawValue)
            object["removed_at"] = .string("\(time)")
        }
        return .object(object)
    }
}

extension PushTarget {
    /// Where a device is reached, without the token.
    fileprivate var json: JSONValue {
        .members([
            "service": .string(service.name), "app": .string("\(app)"),
            "environment": service.environment.map { .string($0.rawValue) },
            "registered_at": .string("\(registeredAt)"),
        ])
    }
}
