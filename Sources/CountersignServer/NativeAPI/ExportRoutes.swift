import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import OpenPGP

/// The routes that export all data of a user as JSON lines.
extension NativeAPI {
    /// The most exports of one caller that may run at the same time.
    private static let maximumExports = 5

    func addExports(to routes: inout NativeRoutes) {
        routes.client(.get, "/v1/users/:user/export", .users) { [self] caller, incoming in
            for right in [Right.challenges, .enrollments] where !caller.has(right) {
                throw RequestRefusal.rightMissing(right.rawValue)
            }
            return try await export(try incoming.user(), in: .client(caller.client.id), by: caller)
        }
        routes.administrator(.get, "/v1/admin/users/:user/export") { [self] caller, incoming in
            try await export(try incoming.user(), in: .all, by: caller)
        }
    }

    /// Writes one line for each part; a missing last line tells the caller that the export is incomplete.
    private func export(
        _ user: UserReference, in scope: ListScope, by caller: ClientCaller
    ) async throws -> Response {
        let export = try export(await ExportUser.begin(user, in: scope, by: caller, ports: ports))
        let body = ResponseBody { [self] writer in
            try await waits.waiting(as: "export \(caller.client.id)", atMost: Self.maximumExports) {
                var export = export
                var lines: Int64 = 0
                while let parts = try await export.next(ports: ports) {
                    var text = ""
                    let now = ports.time.now
                    for part in parts { text += try part.json(at: now).text + "\n" }
                    lines += Int64(parts.count)
                    try await writer.write(ByteBuffer(string: text))
                    if shutdown.isOver { throw CancellationError() }
                }
                let end: JSONValue = ["end": ["lines": .integer(lines)]]
                try await writer.write(ByteBuffer(string: end.text + "\n"))
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "application/jsonl", .cacheControl: "no-store"], body: body)
    }
}

extension ExportUser.Part {
    /// An object with one member, whose name tells the kind of the part.
    fileprivate func json(at now: Timestamp) throws -> JSONValue {
        switch self {
        case .linked(let user, let claims): ["user": user.json(UserAddresses(), claims)]
        case .known(let user): ["user": user.json]
        case .enrollment(let enrollment): ["enrollment": enrollment.json(at: now)]
        case .identifier(let identifier): ["identifier": identifier.exported]
        case .claim(let claim): ["claim": claim.exported]
        case .session(let session): ["session": session.exported]
        case .passkey(let passkey): ["passkey": passkey.exported]
        case .claims(let claims, let client):
            ["claims": ["client": .string("\(client)"), "claims": .object(claims.json)]]
        case .grant(let grant): ["grant": grant.exported]
        case .tokens(let family): ["tokens": family.exported]
        case .challenge(let challenge): ["challenge": challenge.exported]
        case .receipt(let receipt): ["receipt": try receipt.exported]
        case .event(let event): ["event": event.json]
        }
    }
}

extension VerifiedIdentifier {
    var exported: JSONValue {
        ["address": .string("\(address)"), "verified_at": .string("\(verifiedAt)")]
    }
}

extension RegisteredPasskey {
    var exported: JSONValue {
        .members([
            "id": .string("\(id)"), "name": .string(name.text), "created_at": .string("\(createdAt)"),
            "counts_from": .string("\(countsFrom)"), "confirmed": .bool(isConfirmed), "synced": .bool(isBackupEligible),
            "used_at": usedAt.map { .string("\($0)") },
        ])
    }
}

extension Grant {
    fileprivate var exported: JSONValue {
        [
            "client": .string("\(client)"), "scope": .string(scopes.sorted().joined(separator: " ")),
            "given_at": .string("\(givenAt)"),
        ]
    }
}

extension ClaimedIdentifier {
    var exported: JSONValue {
        .members([
            "address": .string("\(address)"), "client": .string("\(client)"), "claimed_at": .string("\(claimedAt)"),
            "proved_at": provedAt.map { .string("\($0)") },
        ])
    }
}

extension Session {
    fileprivate var exported: JSONValue {
        [
            "id": .string("\(id)"), "created_at": .string("\(createdAt)"), "expires_at": .string("\(expiresAt)"),
            "authentication": authentication.json,
        ]
    }
}

extension TokenFamily {
    fileprivate var exported: JSONValue {
        .members([
            "id": .string("\(id)"), "client": .string("\(client)"),
            "scope": .string(grantedNames.joined(separator: " ")),
            "created_at": .string("\(createdAt)"), "expires_at": .string("\(expiresAt)"),
            "ended_at": endedAt.map { .string("\($0)") }, "authentication": authentication.json,
        ])
    }
}

extension Challenge {
    /// The challenge with its question.
    fileprivate var exported: JSONValue {
        var object = json.object ?? [:]
        object["client"] = .string("\(question.client)")
        object["message"] = .string(question.message.text)
        object["alert"] = .string(alert.text)
        object["details"] = .array(question.details.map(\.json))
        object["context"] = question.context.map { .string($0.text) }
        object["signing_data"] = question.signingData.map(JSONValue.string)
        object["locale"] = locale.map { .string($0.description) }
        return .object(object)
    }
}

extension StoredReceipt {
    fileprivate var exported: JSONValue {
        get throws {
            // What verifies it: the armored certificate, or the text of the JWKs.
            let certificate: String =
                switch evidence {
                case .receipt(_, let bytes): try Certificate(parsing: bytes).armored
                case .jwt(_, let keys), .event(_, let keys): String(decoding: keys, as: UTF8.self)
                }
            return [
                "challenge": .string("\(challenge)"), "client": .string("\(client)"),
                "enrollment": .string("\(enrollment)"), "accepted_at": .string("\(acceptedAt)"),
                "receipt": .string(evidence.text), "certificate": .string(certificate),
            ]
        }
    }
}
