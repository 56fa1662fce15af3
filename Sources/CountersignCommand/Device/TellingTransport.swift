import Countersign
import Foundation

/// HTTP for the terminal phone that shows on a terminal what it waits for.
struct TellingTransport: Transport {
    /// The transport that sends.
    let sender: any Transport
    /// Whether somebody may be looking.
    var isShown = ProgressLine.hasTerminal
    /// Writes the progress.
    var write: @Sendable (String) -> Void = ProgressLine.standardError

    /// See ``Transport/send(_:)``.
    func send(_ request: TransportRequest) async throws -> TransportResponse {
        // A long poll is no delay, and a person may be typing meanwhile.
        let isHeld = request.url.query()?.contains("wait=") == true || request.headers["Prefer"] != nil
        return try await ProgressLine.during(
            "Waiting for \(request.url.host() ?? "the server")", isShown: isShown && !isHeld, write: write
        ) { try await sender.send(request) }
    }
}
