import CountersignCore
import ServerTestSupport
import Synchronization
import TestSupport
import Testing

@testable import CountersignServer

extension TestServer {
    /// Runs a body while a server runs, with the ports of that server, whose memory no request shows.
    static func withPorts(_ body: @escaping @Sendable (TestServer, Ports) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let opened = Mutex<Ports?>(nil)
        try await with(
            dataFolder: folder.path("data"),
            server: { settings, logger, clock in
                try await Server(settings, environment: [:], logger: logger, time: clock) { resources in
                    opened.withLock { $0 = resources.ports }
                    return []
                }
            }
        ) { server in
            let ports = opened.withLock { $0 }
            try await body(server, try #require(ports))
        }
    }
}
