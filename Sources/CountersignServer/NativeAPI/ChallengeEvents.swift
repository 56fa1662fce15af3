import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

/// The streams of server-sent events about a challenge.
///
/// Spec: HTML §9.2.
extension NativeAPI {
    /// The media type of these streams.
    static let eventStream = "text/event-stream"
    /// How long a stream lasts, and the pause between two heartbeats.
    private static let streamLifetime = Seconds.minutes(10)
    private static let heartbeat: Seconds = 15

    /// The current state of a challenge, and then every change until it ends.
    func events(
        _ id: ChallengeID, of credential: ClientCredential, to caller: ServerContext
    ) async throws -> Response {
        let place = try waitingPlace(of: credential.client)
        @Sendable func event(_ shown: WatchChallenge.Shown) -> ByteBuffer {
            let isClaimed = !shown.challenge.state.isEnded && shown.challenge.channel.claimedAt != nil
            let name = isClaimed ? "claimed" : shown.challenge.state.status.state
            return ByteBuffer(string: "id: \(name)\nevent: challenge\ndata: \(shown.json.text)\n\n")
        }
        let first = try shown(await WatchChallenge.challenge(id, for: credential, ports: ports))
        return stream(id, of: credential, to: caller, in: place, after: event(first), from: first, event: event)
    }

    /// The reply to a new challenge, and then the challenge when it has ended, with its receipt.
    ///
    /// A caller that repeats its request gets the same reply and waits on; hanging up cancels nothing.
    func askAndWait(
        _ result: Replayable<AskChallenge.Outcome>, by credential: ClientCredential, to caller: ServerContext,
        in place: Waits.Place
    ) throws(ProblemDetails) -> Response {
        let (outcome, isRepeated) = try once(result)
        let asked = try asked(outcome)
        let first = ByteBuffer(string: "event: asked\ndata: \(asked.json(ports.issuer).text)\n\n")
        var response = stream(
            asked.challenge.id, of: credential, to: caller, in: place, after: first, from: nil
        ) { shown in
            guard shown.challenge.state.isEnded else { return nil }
            return ByteBuffer(string: "event: ended\ndata: \(shown.json.text)\n\n")
        }
        response.status = .created
        if isRepeated { response.headers[.idempotencyReplayed] = "true" }
        return response
    }

    /// A place among the client's waiting requests, taken before anything is done or sent.
    func waitingPlace(of client: ClientID) throws(Waits.TooMany) -> Waits.Place {
        try waits.place(as: "\(client)", atMost: DoorResources.maximumClientWaits)
    }

    /// A stream that lasts until the challenge ends, for at most ten minutes.
    ///
    /// - Parameters:
    ///   - id: the challenge.
    ///   - credential: the client, which gets no more events when it loses its access.
    ///   - caller: the connection.
    ///   - place: the place that the stream takes.
    ///   - first: the first event.
    ///   - known: the state that the first event tells; nil if the challenge has not been looked at.
    ///   - event: the event of a change or an end; nil if it is not told.
    private func stream(
        _ id: ChallengeID, of credential: ClientCredential, to caller: ServerContext, in place: Waits.Place,
        after first: ByteBuffer, from known: WatchChallenge.Shown?,
        event: @escaping @Sendable (WatchChallenge.Shown) -> ByteBuffer?
    ) -> Response {
        let body = ResponseBody { [self] writer in
            let end = ports.time.now.adding(Self.streamLifetime)
            defer { withExtendedLifetime(place) {} }
            var shown = known
            try await writer.write(first)
            while shown?.challenge.state.isEnded != true, ports.time.now < end {
                let channel = shown?.challenge.channel
                let next: WatchChallenge.Outcome
                switch try await resources.look(at: id, of: credential, for: Self.heartbeat, by: caller) {
                case .ended(let found): next = found
                case .waiting(let wait): next = try await resources.outcome(of: wait)
                }
                guard case .shown(let found) = next else { break }
                shown = found
                let isNews = found.challenge.state.isEnded || found.challenge.channel != channel
                try await writer.write((isNews ? event(found) : nil) ?? ByteBuffer(string: ": alive\n\n"))
                if shutdown.isOver { break }
            }
            try await writer.finish(nil)
        }
        return Response(
            status: .ok, headers: [.contentType: Self.eventStream, .cacheControl: "no-store"], body: body)
    }
}
