import CountersignCore
import Encodings
import Hummingbird
import Logging

/// Whether the server works, and what it says of itself; what it counts has a listener of its own.
extension NativeAPI {
    func addOperations(to routes: inout NativeRoutes) {
        addDocuments(to: &routes)
        routes.anyone(.get, "/healthz") { _ in
            Response(json: ["status": "ok"])
        }
        routes.anyone(.get, "/readyz") { [ports] incoming in
            // Ready is who can read what was written; whatever keeps it from that, others should be asked meanwhile.
            do {
                guard try await CheckReadiness.isReady(ports: ports) else {
                    throw RequestFailure.unavailable
                }
            } catch let error as StoreError {
                ports.logger.error(
                    "not ready", metadata: ["request": "\(incoming.context.requestID)", "error": "\(error)"])
                throw RequestFailure.unavailable
            }
            return Response(json: ["status": "ready"])
        }
    }
}
