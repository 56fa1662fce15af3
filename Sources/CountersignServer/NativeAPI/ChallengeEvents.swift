import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// The stream of server-sent events about a challenge.
///
/// Spec: HTML §9.2.
extension NativeAPI {
    /// How long a stream lasts, and the pause between two heartbeats.
    private static let streamLifetime = Seconds.minutes(10)
    private static let heartbeat: Seconds = 15

    func events(
        _ id: ChallengeID, of credential: ClientCredential, to caller: ServerContext
    ) async throws -> Response {
        let first = try shown(await WatchChallenge.challenge(id, for: credential, ports: ports))
        let body = ResponseBody { [self] writer in
            let end = ports.time.now.adding(Self.streamLifetime)
            try await waits.waiting(as: "\(credential.client)", atMost: DoorResources.maximumClientWaits) {
                var shown = first
                try await writer.write(Self.event(shown))
                while !shown.challenge.state.isEnded, ports.time.now < end {
                    let channel = shown.challenge.channel
                    let next: WatchChallenge.Outcome
                    switch try await resources.look(at: id, of: credential, for: Self.heartbeat, by: caller) {
                    case .ended(let found): next = found
                    case .waiting(let wait): next = try await resources.outcome(of: wait)
                    }
                    // A client that has lost its access in the meantime gets no more events.
                    guard case .shown(let found) = next else { break }
                    shown = found
                    let isNews = shown.challenge.state.isEnded || shown.challenge.channel != channel
                    try await writer.write(isNews ? Self.event(shown) : ByteBuffer(string: ": alive\n\n"))
                    if shutdown.isOver { break }
                }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
    }

    private static func event(_ shown: WatchChallenge.Shown) -> ByteBuffer {
        let isClaimed = !shown.challenge.state.isEnded && shown.challenge.channel.claimedAt != nil
        let id = isClaimed ? "claimed" : shown.challenge.state.status.state
        let data = shown.json.text
        return ByteBuffer(string: "id: \(id)\nevent: challenge\ndata: \(data)\n\n")
    }
}
