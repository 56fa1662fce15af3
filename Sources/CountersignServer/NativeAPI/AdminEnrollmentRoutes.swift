import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import RelyingPartyAPI

/// The operator's routes for all enrollments.
extension NativeAPI {
    private static let removals: [RemovalReason] = [.operator, .lost]

    func addAdministrationOfEnrollments(to routes: inout NativeRoutes) {
        let path = "/v1/admin/enrollments/:enrollment"
        routes.administrator(.delete, path, query: ["reason"]) { [self] caller, incoming in
            let id = try incoming.enrollment()
            let reason = try incoming.filter("reason", "\"removed_by_operator\" or \"lost\"") { word in
                Self.removals.first { $0.rawValue.hasSameBytes(as: word) }
            }
            return try reply(
                await RemoveEnrollment.remove(id, because: reason ?? .operator, by: caller.actor, ports: ports))
        }
        routes.administrator(.post, "\(path)/waiver") { [self] caller, incoming in
            let id = try incoming.enrollment()
            let fingerprint = try WaiverRequest(incoming.json()).fingerprint
            return try reply(await WaiveWait.waive(id, fingerprint, by: caller.actor, ports: ports))
        }
        routes.administrator(.post, "\(path)/confirm") { [self] caller, incoming in
            try reply(await ConfirmEnrollment.confirm(try incoming.enrollment(), by: caller.actor, ports: ports))
        }
        for (word, isSuspended) in [("suspend", true), ("resume", false)] {
            routes.administrator(.post, "\(path)/\(word)") { [self] caller, incoming in
                let id = try incoming.enrollment()
                return try reply(await SuspendEnrollment.suspend(id, isSuspended, by: caller.actor, ports: ports))
            }
        }
    }
}
