import Foundation
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Runs the listener for the metrics as a service of the server.
struct MetricsService: Service {
    let metrics: Metrics
    let address: ListenAddress

    func run() async throws {
        do {
            try await metrics.application(on: address).run()
        } catch let error as IOError where error.errnoCode == EADDRINUSE {
            throw StartError("\(address) is taken. Choose another address with --metrics-listen.")
        }
    }
}
