import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's route for test messages.
extension NativeAPI {
    func addMessages(to routes: inout NativeRoutes) {
        routes.administrator(.post, "/v1/admin/messages") { [self] caller, incoming in
            let request = try TestMessageRequest(incoming.json())
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await SendTestMessage.send(
                request.template ?? .test, to: request.address, in: request.language, by: caller, idempotency: key,
                ports: ports)
            return try reply(result, status: 202, json)
        }
    }
}
