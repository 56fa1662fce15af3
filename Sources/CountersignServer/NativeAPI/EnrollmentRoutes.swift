import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The routes of relying parties for tickets and enrollments.
extension NativeAPI {
    func addEnrollments(to routes: inout NativeRoutes) {
        routes.client(.post, "/v1/users/:user/enrollment-tickets", .enrollments) { [self] caller, incoming in
            _ = try TicketRequest(incoming.optionalJSON())
            let key = try incoming.idempotencyKey(of: caller.client.id, ports.hasher)
            let result = try await CreateTicket.create(
                for: try incoming.user(), by: caller, idempotency: key, ports: ports)
            return try reply(result, status: 201, json)
        }
        routes.client(.get, "/v1/users/:user/enrollments", .enrollments) { [self] caller, incoming in
            try reply(await ShowEnrollments.show(of: try incoming.user(), to: caller.client, ports: ports))
        }
        routes.client(
            .post, "/v1/users/:user/enrollments/:enrollment/waiver", .enrollments
        ) { [self] caller, incoming in
            let id = try incoming.enrollment()
            let fingerprint = try WaiverRequest(incoming.json()).fingerprint
            let user = try incoming.user()
            return try reply(
                await WaiveWait.waive(id, fingerprint, of: user, by: caller, ports: ports))
        }
        routes.client(
            .delete, "/v1/users/:user/enrollments/:enrollment", .enrollments, query: ["reason"]
        ) { [self] caller, incoming in
            let id = try incoming.enrollment()
            let words = RemoveEnrollment.clientReasons.map(\.rawValue)
            let reason = try incoming.filter("reason", "one of \(words.joined(separator: ", "))") { word in
                RemoveEnrollment.clientReasons.first { $0.rawValue.hasSameBytes(as: word) }
            }
            return try reply(
                await RemoveEnrollment.remove(
                    id, of: try incoming.user(), by: caller, because: reason ?? .client, ports: ports))
        }
    }
}
