import CountersignCore
import Encodings
import Hummingbird
import Logging

/// The routes for liveness, readiness and documents; metrics have their own listener.
extension NativeAPI {
    func addOperations(to routes: inout NativeRoutes) {
        addDocuments(to: &routes)
        routes.anyone(.get, "/healthz") { _ in
            Response(json: ["status": "ok"])
        }
        routes.anyone(.get, "/readyz") { [ports] incoming in
            // A server is ready if it can read the database; otherwise callers should use another server.
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
