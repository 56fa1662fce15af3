import CountersignCore
import CountersignWire
import HTTPTypes
import Hummingbird
import RelyingPartyAPI
import OpenPGP

/// The routes of relying parties for challenges.
extension NativeAPI {
    func addChallenges(to routes: inout NativeRoutes) {
        routes.credential(.post, "/v1/challenges", .challenges) { [self] caller, incoming in
            let request = try AskRequest(incoming.json())
            let key = try incoming.idempotencyKey(of: caller.client, ports.hasher)
            guard incoming.prefers(Self.eventStream) else {
                return try reply(
                    await AskChallenge.ask(request, by: caller, idempotency: key, ports: ports), status: 201, json)
            }
            // Without a key, a caller whose stream breaks off could only ask again.
            guard let key else { throw RequestRefusal.invalidIdempotencyKey }
            let place = try waitingPlace(of: caller.client)
            let result = try await AskChallenge.ask(request, by: caller, idempotency: key, ports: ports)
            return try askAndWait(result, by: caller, to: incoming.context, in: place)
        }
        routes.credential(.get, "/v1/challenges/:challenge", .challenges, query: ["wait"]) { [self] caller, incoming in
            let id = try incoming.challenge()
            guard let seconds = try incoming.wait() else {
                return Response(json: try shown(await WatchChallenge.challenge(id, for: caller, ports: ports)).json)
            }
            switch try await resources.look(at: id, of: caller, for: seconds, by: incoming.context) {
            case .ended(let found): return Response(json: try shown(found).json)
            case .waiting(let wait):
                return incoming.context.later.answer { [self] in
                    try await waits.waiting(as: "\(wait.caller.client)", atMost: DoorResources.maximumClientWaits) {
                        Response(json: try shown(try await resources.outcome(of: wait)).json)
                    }
                }
            }
        }
        routes.client(.delete, "/v1/challenges/:challenge", .challenges) { [self] caller, incoming in
            try reply(await CancelChallenge.cancel(try incoming.challenge(), by: caller, ports: ports))
        }
        routes.client(.post, "/v1/challenges/:challenge/resend", .challenges) { [self] caller, incoming in
            try reply(await ResendChallenge.resend(try incoming.challenge(), by: caller, ports: ports))
        }
        routes.client(.get, "/v1/challenges/:challenge/code", .challenges) { [self] caller, incoming in
            let outcome = try await ShowCode.code(of: try incoming.challenge(), to: caller, ports: ports)
            return Response(json: try code(outcome).view(ports.issuer).json)
        }
        routes.client(.post, "/v1/challenges/:challenge/code", .challenges) { [self] caller, incoming in
            let id = try incoming.challenge()
            let code = try EnteredCode(incoming.json()).code
            return try reply(await EnterCode.enter(code, for: id, by: caller, ports: ports))
        }
        routes.client(.get, "/v1/challenges/:challenge/qr.svg", .challenges) { [self] caller, incoming in
            try picture(await ShowCode.code(of: try incoming.challenge(), to: caller, ports: ports))
        }
        routes.client(.post, "/v1/challenges/:challenge/return", .challenges) { [self] caller, incoming in
            let id = try incoming.challenge()
            let code = try ReturnRequest(incoming.json()).code
            return try reply(await ReturnChallenge.present(code, for: id, by: caller, ports: ports))
        }
        routes.client(
            .get, "/v1/challenges/:challenge/receipt", .challenges, query: ["format"]
        ) { [self] caller, incoming in
            let id = try incoming.challenge()
            let format = try incoming.filter("format", "\"certificate\" or absent") { $0 == "certificate" ? $0 : nil }
            return try await receipt(id, of: caller.client, format: format)
        }
        routes.credential(.get, "/v1/challenges/:challenge/events", .challenges) { [self] caller, incoming in
            let id = try incoming.challenge()
            return try await events(id, of: caller, to: incoming.context)
        }
    }

    private func receipt(_ id: ChallengeID, of client: Client, format: String?) async throws -> Response {
        let stored = try receipt(await ShowReceipt.receipt(of: id, to: client.id, ports: ports))
        switch stored.evidence {
        case .receipt(let message, let certificate):
            let text = format == nil ? message.encoded : try Certificate(parsing: certificate).armored
            return Response(bytes: Array(text.utf8), type: "text/plain; charset=utf-8")
        case .jwt(let token, let keys):
            return format == nil
                ? Response(bytes: Array(token.utf8), type: "application/jwt")
                : Response(bytes: keys, type: "application/json")
        case .event(let event, let keys):
            return Response(bytes: format == nil ? Array(event.utf8) : keys, type: "application/json")
        }
    }
}
