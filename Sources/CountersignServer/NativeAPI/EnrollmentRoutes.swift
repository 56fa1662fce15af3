import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import OpenPGP

/// Tickets and devices, for relying parties.
extension API {
    func addEnrollments(to routes: inout Routes) {
        routes.client(.post, "/v1/users/:user/enrollment-tickets", .enrollments) { [self] client, incoming in
            try JSONMembers(try incoming.optionalJSON()).refuseUnknown()
            let key = try incoming.idempotencyKey(of: client.id)
            let result = try await CreateTicket.create(
                for: try incoming.user(), by: client, idempotency: key, ports: ports
            ) { RecordedReply(status: 201, body: $0.json.encoded) }
            return try Self.reply(result, status: 201) { outcome throws(ProblemDetails) in
                switch outcome {
                case .created(let created): return created.json
                case .notFound: throw ProblemDetails(.userNotFound)
                case .blocked: throw ProblemDetails(.enrollmentBlocked)
                }
            }
        }
        routes.client(.get, "/v1/users/:user/enrollments", .enrollments) { [self] client, incoming in
            guard let list = try await ShowEnrollments.list(of: try incoming.user(), to: client, ports: ports) else {
                throw ProblemDetails(.userNotFound)
            }
            return Response(json: ["enrollments": .array(list.map(\.json))])
        }
        routes.client(.delete, "/v1/users/:user/enrollments/:enrollment", .enrollments) { [self] client, incoming in
            let id: EnrollmentID = try incoming.id("enrollment", orElse: .enrollmentNotFound)
            guard
                try await RemoveEnrollment.remove(id, of: try incoming.user(), by: client, ports: ports)
            else { throw ProblemDetails(.enrollmentNotFound) }
            return Response(status: .noContent)
        }
    }
}

extension CreateTicket.Created {
    fileprivate var json: JSONValue {
        .members([
            "ticket": .string(invitation.ticket.reveal()), "qr": .string(invitation.text),
            "user": .string("\(invitation.user)"), "enrollment": .string("\(invitation.enrollment)"),
            "expires_at": .string("\(expiresAt)"),
        ])
    }
}

extension Enrollment {
    /// The enrollment as its user's clients and its own device see it.
    var json: JSONValue {
        var object = JSONObject([
            "enrollment": .string("\(id)"), "user": .string("\(user)"),
            "fingerprint": .string("\(keys.primary.fingerprint)"), "device": device.json,
            "assurance": .string(credential.assurance.rawValue), "created_at": .string("\(createdAt)"),
        ])
        object["pin"] = .string(pinState.rawValue)
        object["biometric"] = .bool(biometric != nil)
        object["custom"] = .array(customs.keys.sorted().map { .string("\($0)") })
        object["push"] = push?.json
        switch state {
        case .active:
            object["state"] = wait == nil ? "active" : "waiting"
            object["approval"] = wait.map { .string("\($0.challenge)") }
            object["waiting_until"] = wait.map { .string("\($0.until)") }
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
