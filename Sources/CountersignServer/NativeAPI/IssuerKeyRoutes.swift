import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's routes for the issuer's own keys.
extension NativeAPI {
    func addIssuerKeys(to routes: inout NativeRoutes) {
        routes.administrator(.get, "/v1/admin/issuer-keys") { [self] _, _ in
            try reply(await ListIssuerKeys.list(ports: ports))
        }
        routes.administrator(.post, "/v1/admin/issuer-keys/:use/rotate") { [self] caller, incoming in
            guard let use = incoming.parameter("use").flatMap(KeyUse.init(rawValue:)) else {
                let uses = KeyUse.allCases.map(\.rawValue).joined(separator: ", ")
                throw RequestRefusal.noSuch(.keyUse, detail: "the keys that rotate are \(uses)")
            }
            let request = try RotationRequest(incoming.optionalJSON())
            return try reply(
                await RotateIssuerKey.begin(
                    use, isAtOnce: request.isAtOnce, isCompromised: request.isCompromised, by: caller.actor,
                    ports: ports))
        }
    }
}

extension IssuerKey {
    var json: JSONValue {
        get throws {
            .members([
                "id": .string("\(id)"), "use": .string(use.rawValue), "algorithm": .string(use.algorithm),
                "state": .string(state.rawValue), "name": .string(try publicName()),
                "created_at": .string("\(createdAt)"), "changes_at": changesAt.map { .string("\($0)") },
                "compromised": .bool(isCompromised),
            ])
        }
    }
}
