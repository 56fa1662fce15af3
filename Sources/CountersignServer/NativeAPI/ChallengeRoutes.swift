import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import OpenPGP

/// Asking and watching, for relying parties.
extension NativeAPI {
    func addChallenges(to routes: inout NativeRoutes) {
        routes.client(.post, "/v1/challenges", .challenges) { [self] client, incoming in
            let request = try AskChallenge.Request(incoming.json())
            let key = try incoming.idempotencyKey(of: client.id, ports.hasher)
            let result = try await AskChallenge.ask(
                request, by: client, idempotency: key, ports: ports
            ) { [ports] asked in
                RecordedReply(status: 201, body: asked.json(ports.issuer).encoded)
            }
            return try Self.reply(result, status: 201) { result throws(ProblemDetails) in
                switch result {
                case .asked(let asked): asked.json(ports.issuer)
                case .refused(let refusal): throw ProblemDetails(asking: refusal)
                }
            }
        }
        routes.caller(.get, "/v1/challenges/:challenge", .challenges, query: ["wait"]) { [self] caller, incoming in
            let id = try incoming.challenge()
            guard let seconds = try incoming.wait() else {
                return try Self.reply(await WatchChallenge.challenge(id, for: caller.credential, ports: ports))
            }
            switch try await resources.look(at: id, of: caller.credential, for: seconds, by: incoming.context) {
            case .ended(let found): return try Self.reply(found)
            case .waiting(let wait):
                return incoming.context.later.answer { [self] in
                    try await waits.waiting(as: "\(wait.caller.client)", atMost: DoorResources.maximumClientWaits) {
                        try Self.reply(try await resources.outcome(of: wait))
                    }
                }
            }
        }
        routes.client(.delete, "/v1/challenges/:challenge", .challenges) { [self] client, incoming in
            let id = try incoming.challenge()
            switch try await CancelChallenge.cancel(id, by: client.id, ports: ports) {
            case .cancelled(let challenge): return Response(json: challenge.json)
            case .alreadyEnded(let status): throw ProblemDetails(ended: status)
            case .notFound: throw ProblemDetails(.challengeNotFound)
            }
        }
        routes.client(.post, "/v1/challenges/:challenge/resend", .challenges) { [self] client, incoming in
            let id = try incoming.challenge()
            switch try await ResendChallenge.resend(id, by: client.id, ports: ports) {
            case .resent(let shown): return Response(json: shown.json)
            case .alreadyEnded(let status): throw ProblemDetails(ended: status)
            case .notFound: throw ProblemDetails(.challengeNotFound)
            case .tooMany: throw ProblemDetails(.tooManyResends)
            case .reported: throw ProblemDetails(.askingLocked)
            }
        }
        routes.client(.get, "/v1/challenges/:challenge/code", .challenges) { [self] client, incoming in
            Response(json: try await code(of: incoming, to: client).json(ports.issuer))
        }
        routes.client(.post, "/v1/challenges/:challenge/code", .challenges) { [self] client, incoming in
            let id = try incoming.challenge()
            var members = try JSONMembers(incoming.json())
            let code = try members.required("code", "six digits") { $0.string.flatMap { EntryNumber($0) } }
            try members.refuseUnknown()
            switch try await EnterCode.enter(code, for: id, by: client.id, ports: ports) {
            case .approved(let challenge): return Response(json: challenge.json)
            case .incorrect(let attemptsLeft):
                throw ProblemDetails(.codeIncorrect, members: ["attempts_left": .integer(Int64(attemptsLeft))])
            case .noCode: throw ProblemDetails(.noCode)
            case .alreadyEnded(let status): throw ProblemDetails(ended: status)
            case .notFound: throw ProblemDetails(.challengeNotFound)
            }
        }
        routes.client(.get, "/v1/challenges/:challenge/qr.svg", .challenges) { [self] client, incoming in
            let shown = try await code(of: incoming, to: client)
            // A link is followed where it stands: as a picture, it would be scanned by another device.
            guard !shown.isLink else { throw ProblemDetails(.noCode) }
            let picture = try QRPicture(of: shown.code.text)
            return Response(bytes: Array(picture.svg.utf8), type: "image/svg+xml")
        }
        routes.client(.post, "/v1/challenges/:challenge/return", .challenges) { [self] client, incoming in
            let id = try incoming.challenge()
            var members = try JSONMembers(incoming.json())
            let code = Secret(try members.string(ReturnURI.parameter))
            try members.refuseUnknown()
            switch try await ReturnChallenge.present(code, for: id, by: client.id, ports: ports) {
            case .released(let challenge): return Response(json: challenge.json)
            case .codeInvalid: throw ProblemDetails(.returnCodeInvalid)
            case .alreadyEnded(let status): throw ProblemDetails(ended: status)
            case .notFound: throw ProblemDetails(.challengeNotFound)
            case .rateLimited(let seconds):
                throw ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
            }
        }
        routes.client(
            .get, "/v1/challenges/:challenge/receipt", .challenges, query: ["format"]
        ) { [self] client, incoming in
            let id = try incoming.challenge()
            let format = try incoming.filter("format", "\"certificate\" or absent") { $0 == "certificate" ? $0 : nil }
            return try await receipt(id, of: client, format: format)
        }
        routes.caller(.get, "/v1/challenges/:challenge/events", .challenges) { [self] caller, incoming in
            let id = try incoming.challenge()
            return try await events(id, of: caller.credential, to: incoming.context)
        }
    }

    private func code(of incoming: Incoming, to client: Client) async throws -> ShownCode {
        let id = try incoming.challenge()
        switch try await ShowCode.code(of: id, to: client.id, ports: ports) {
        case .code(let code): return code
        case .alreadyClaimed: throw ProblemDetails(.alreadyClaimed)
        case .alreadyEnded(let status): throw ProblemDetails(ended: status)
        case .noCode: throw ProblemDetails(.noCode)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    private static func reply(
        _ found: WatchChallenge.Outcome
    ) throws(ProblemDetails) -> Response {
        switch found {
        case .shown(let shown): return Response(json: shown.json)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .refused(let refusal): throw ProblemDetails(caller: refusal)
        }
    }

    private func receipt(_ id: ChallengeID, of client: Client, format: String?) async throws -> Response {
        switch try await ShowReceipt.receipt(of: id, to: client.id, ports: ports) {
        case .challengeNotFound: throw ProblemDetails(.challengeNotFound)
        case .none: throw ProblemDetails(.noReceipt)
        case .receipt(let stored):
            switch stored.evidence {
            case .receipt(let message, let certificate):
                let text = format == nil ? message.encoded : try Certificate(parsing: certificate).armored
                return Response(bytes: Array(text.utf8), type: "text/plain; charset=utf-8")
            }
        }
    }
}

extension ShownCode {
    /// What a page makes a QR code of, or a link to be followed, and until when it works.
    func json(_ issuer: Issuer) -> JSONValue {
        let (name, text) = isLink ? ("link", code.link(to: issuer)) : ("qr", code.text)
        return .members([name: .string(text), "expires_at": .string("\(expiresAt)")])
    }
}

/// Server-sent events.
///
/// Spec: HTML §9.2.
extension NativeAPI {
    /// After how many seconds a stream ends, and how often it shows that it is alive.
    private static let streamLifetime: Int64 = 600
    private static let heartbeat: Int64 = 15

    private func events(
        _ id: ChallengeID, of credential: ClientCredential, to caller: ServerContext
    ) async throws -> Response {
        let first: WatchChallenge.Shown
        switch try await WatchChallenge.challenge(id, for: credential, ports: ports) {
        case .shown(let shown): first = shown
        case .notFound: throw ProblemDetails(.challengeNotFound)
        case .refused(let refusal): throw ProblemDetails(caller: refusal)
        }
        let body = ResponseBody { [self] writer in
            let end = ports.time.now.adding(seconds: Self.streamLifetime)
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
                    // Nothing more is told to who would not be let in any more.
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

    /// Replies of operations that may have been done before.
    static func reply<Outcome>(
        _ result: Replayable<Outcome>, status: Int, _ render: (Outcome) throws(ProblemDetails) -> JSONValue
    ) throws(ProblemDetails) -> Response {
        switch result {
        case .done(let outcome): return Response(json: try render(outcome), status: status)
        case .conflict: throw ProblemDetails(.idempotencyConflict)
        case .replayed(let earlier):
            var response = Response(bytes: earlier.body, type: "application/json", status: earlier.status)
            response.headers[.idempotencyReplayed] = "true"
            return response
        }
    }
}

extension Challenge {
    /// How it may be answered, by the words of the API.
    private var methodNames: [String] {
        switch channel {
        case .text: [ChallengeOutcome.enteredMethod]
        case .devices, .code: methods.map(\.rawValue)
        }
    }

    /// The challenge as its client sees it.
    var json: JSONValue {
        let status = state.status
        var method: String?
        var endedAt: Timestamp?
        if case .ended(let outcome, let time) = state {
            method = outcome.method
            endedAt = time
        }
        return .members([
            "id": .string("\(id)"), "state": .string(status.state), "reason": status.reason.map(JSONValue.string),
            "method": method.map(JSONValue.string), "type": .string("\(question.type)"),
            "user": user.map { .string("\($0)") }, "methods": .array(methodNames.map(JSONValue.string)),
            "asked_at": .string("\(question.askedAt)"), "expires_at": .string("\(expiresAt)"),
            "claimed_at": channel.claimedAt.map { .string("\($0)") }, "ended_at": endedAt.map { .string("\($0)") },
            "client_state": clientState.map(JSONValue.string),
        ])
    }
}

extension WatchChallenge.Shown {
    /// The challenge, and how the devices heard of it.
    fileprivate var json: JSONValue {
        var object = challenge.json.object ?? [:]
        object["deliveries"] = .array(deliveries.map(\.json))
        return .object(object)
    }
}

extension Delivery {
    fileprivate var json: JSONValue {
        .members([
            "enrollment": .string("\(enrollment)"), "push": push.map { Self.json($0.delivery, at: $0.at) },
            "fetched_at": fetchedAt.map { .string("\($0)") },
        ])
    }

    private static func json(_ delivery: PushDelivery, at time: Timestamp) -> JSONValue {
        let (state, reason) = delivery.words
        return .members([
            "state": .string(state), "reason": reason.map(JSONValue.string), "at": .string("\(time)"),
        ])
    }
}

extension AskedChallenge {
    /// The reply to asking: the one time the number is told.
    func json(_ issuer: Issuer) -> JSONValue {
        var object = challenge.json.object ?? [:]
        object["number"] = number.map { .string($0.digits) }
        object["code"] = code?.json(issuer)
        object["enrollments"] = .array(enrollments.map { .string("\($0)") })
        return .object(object)
    }
}
