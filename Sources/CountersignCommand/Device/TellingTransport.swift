import Countersign
import Foundation

/// HTTP for the terminal phone, which says on a terminal what it waits for.
struct TellingTransport: Transport {
    /// What sends.
    let sender: any Transport
    /// Whether anybody looks.
    var isShown = ProgressLine.hasTerminal
    /// Where it is said.
    var write: @Sendable (String) -> Void = ProgressLine.standardError

    /// See ``Transport/send(_:)``.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // What the server is to hold until something happens is no delay, and a person may be typing meanwhile.
        let isHeld = request.url.query()?.contains("wait=") == true
        return try await ProgressLine.during(
            "Waiting for \(request.url.host() ?? "the server")", isShown: isShown && !isHeld, write: write
        ) { try await sender.send(request) }
    }
}
