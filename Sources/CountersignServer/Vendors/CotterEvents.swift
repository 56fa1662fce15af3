import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE

/// The calls by which an app asks a user's trusted device, and by which the device answers.
///
/// They are on where there is a challenge type of the name `cotter`, and the client has the device grant with names.
extension CotterDoor {
    func addEvents(to table: inout RouteTable) {
        add(.post, "/event/create_pending", to: &table) { [self] in try await ask($0, $1) }
        add(.post, "/event/create", to: &table) { [self] in try await approveOwn($0, $1) }
        add(.get, "/event/new/:user", to: &table) { [self] incoming, caller in
            try await pending(of: incoming.parameter("user"), caller)
        }
        add(.get, "/event/new", to: &table) { [self] incoming, caller in
            try await pending(of: incoming.query["cotter_user_id"] ?? incoming.query["client_user_id"], caller)
        }
        add(.get, "/event/get/:event", to: &table) { [self] in try await show($0, $1) }
        add(.post, "/event/respond/:event", to: &table) { [self] in try await respond($0, $1) }
    }

    /// What a request says of an event.
    private struct Named {
        let user: String
        let name: EventName

        init(_ body: JSONObject) throws(CotterError) {
            let names = [body["client_user_id"], body["user_id"]].compactMap { $0?.string }
            guard let user = names.first(where: { !$0.isEmpty }) else { throw .malformed("client_user_id") }
            // check: CotterEventTests.statements
            guard CotterIdentityToken.leavesRoom(toEventsOf: user) else { throw .malformed("client_user_id") }
            guard let name = body["event"]?.string.flatMap({ EventName($0) }) else { throw .malformed("event") }
            // check: CotterEventTests.refused
            guard body["method"] == .string(SignedEvent.method) else { throw .malformed("method") }
            // Another device is let in by a question of ours, and by no event.
            // check: CotterEventTests.refused
            guard name.text != "ENROLL_NEW_TRUSTED_DEVICE" && body["register_new_device"] != true else {
                throw CotterError(.notPossible, "a further device is not enrolled by an event")
            }
            (self.user, self.name) = (user, name)
        }
    }

    /// What a device has signed.
    private struct Answer {
        let key: JWSPublicKey
        let signature: [UInt8]
        let isApproved: Bool

        init(_ body: JSONObject) throws(CotterError) {
            let algorithm = body["algorithm"]?.string
            guard let key = body["public_key"]?.string.flatMap({ SignedEvent.key($0, algorithm: algorithm) }) else {
                throw .malformed("public_key")
            }
            guard let signature = body["code"]?.string.flatMap({ SignedEvent.bytes($0) }) else {
                throw .malformed("code")
            }
            guard let isApproved = body["approved"]?.bool else { throw .malformed("approved") }
            (self.key, self.signature, self.isApproved) = (key, signature, isApproved)
        }
    }

    /// One refusal for all that is wrong with a signature: nobody learns by it which devices there are.
    private static let notSigned = CotterError(.notPossible, "no trusted device of the user has signed this")

    private func ask(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let named = try Named(try body(of: incoming))
        let signer = try signer()
        let now = ports.time.now
        guard case .type = try await ShowType.show(.cotter, to: caller.client.id, ports: ports) else {
            throw CotterError(.notPossible, "there is no challenge type cotter")
        }
        let event = AskedEvent(name: named.name, user: named.user, client: caller.key, timestamp: now.seconds)
        var request = BeginDeviceGrant.Request(by: caller.client.id, isAuthenticated: caller.isAuthenticated)
        request.event = event
        request.lifetime = AskSignIn.lifetime
        request.network = incoming.context.network
        // A client's server says nothing of where the app is.
        if !caller.isAuthenticated {
            request.place = ContextLine(
                address: incoming.context.caller?.description, userAgent: incoming.headers[.userAgent])?
                .placed(by: ports.places, in: nil)
        }
        switch try await BeginDeviceGrant.begin(request, ports: ports) {
        case .begun(let begun):
            return Response(
                json: .object(try await members(of: event, number: begun.eventNumber, .pending, by: signer)))
        case .off, .hintNotAllowed:
            throw CotterError(.notPossible, "the client has no device grant with names of people")
        case .notGiven: throw CotterError(.notPossible, "the client gets no tokens")
        case .tooMany(let seconds): throw Self.tooMany(seconds)
        case .clientGone: throw CotterError.apiKey
        }
    }

    private func pending(of user: String?, _ caller: Caller) async throws -> Response {
        guard let user, !user.isEmpty else { throw CotterError.malformed("client_user_id") }
        // check: CotterEventTests.statements
        guard CotterIdentityToken.leavesRoom(toEventsOf: user) else { throw CotterError.malformed("client_user_id") }
        let signer = try signer()
        switch try await FindPendingEvent.find(of: user, at: caller.client.id, caller.key, ports: ports) {
        case .event(let shown): return Response(json: .object(try await members(of: shown, by: signer)))
        case .nothing: return Response(json: .null)
        }
    }

    private func show(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let number = try Self.number(incoming)
        let signer = try signer()
        let found = try await FindEvent.find(
            number, of: caller.client.id, from: incoming.context.network, ports: ports)
        switch found {
        case .event(let shown):
            var members = try await members(of: shown, by: signer)
            if incoming.query["oauth_token"] == "true", shown.stage == .approved, let signIn = shown.signIn {
                let request = RedeemDecision.Request(.event(signIn), by: caller.client.id)
                switch try await RedeemDecision.redeem(request, ports: ports) {
                case .redeemed(let given): members["oauth_token"] = try await tokens(given)
                case .unproved: throw Self.bound
                case .clientGone: throw CotterError.apiKey
                // They were given before, or what they rest on is gone.
                case .invalid, .denied, .expired, .pending, .slowDown, .unknownResource: break
                }
            }
            return Response(json: .object(members))
        case .unknown: throw Self.noEvent
        case .tooMany(let seconds): throw Self.tooMany(seconds)
        }
    }

    private func respond(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let number = try Self.number(incoming)
        let body = try body(of: incoming)
        let (named, answer) = (try Named(body), try Answer(body))
        let signer = try signer()
        let request = AnswerByEvent.Request(
            number: number, client: caller.client.id, writtenClient: caller.key, user: named.user, key: answer.key,
            signature: answer.signature, isApproved: answer.isApproved, network: incoming.context.network)
        switch try await AnswerByEvent.answer(request, ports: ports) {
        case .decided(let shown): return Response(json: .object(try await members(of: shown, by: signer)))
        case .notSigned, .refused: throw Self.notSigned
        case .notFound: throw Self.noEvent
        case .invalid: throw CotterError(.notPossible, "the device, or its answer, does not count for this")
        case .rateLimited(let seconds): throw Self.tooMany(seconds)
        }
    }

    /// A trusted device signs its own user in.
    private func approveOwn(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let body = try body(of: incoming)
        let (named, answer) = (try Named(body), try Answer(body))
        let written = body["timestamp"]?.string
        guard let timestamp = written.flatMap({ Int64($0) }), "\(timestamp)" == written,
            (0...9_999_999_999).contains(timestamp)
        else { throw CotterError.malformed("timestamp") }
        let signer = try signer()
        let event = SignedEvent(
            user: named.user, client: caller.key, name: named.name, timestamp: timestamp,
            isApproved: answer.isApproved)
        let outcome = try await SignInDevice.signIn(
            by: event, signed: answer.signature, by: answer.key, at: caller.client.id,
            from: incoming.context.network, ports: ports)
        switch outcome {
        case .signedIn(let given):
            let asked = AskedEvent(name: named.name, user: named.user, client: caller.key, timestamp: timestamp)
            // Nobody asks for it again, so that its number leads to nothing.
            let number = Int64(ports.random.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 11)
            var members = try await members(of: asked, number: number, .approved, by: signer)
            if incoming.query["oauth_token"] == "true" { members["oauth_token"] = try await tokens(given) }
            return Response(json: .object(members))
        case .invalid, .scopeMissing, .notAllowed, .unknownResource, .scopeOfAnother: throw Self.notSigned
        case .unproved: throw Self.bound
        case .tooMany(let seconds): throw Self.tooMany(seconds)
        case .clientGone: throw CotterError.apiKey
        }
    }

    private static let noEvent = CotterError(.notFound, "there is no such event, or it is over")

    private static func tooMany(_ seconds: Seconds) -> CotterError {
        CotterError(.tooMany, "there were too many", retryAfter: seconds.value)
    }

    private static func number(_ incoming: Incoming) throws(CotterError) -> Int64 {
        guard let number = incoming.parameter("event").flatMap({ Int64($0) }) else { throw noEvent }
        return number
    }

    private func signer() throws -> PrivateJWK {
        guard let key = try ports.keys.current().tokens.cotter else { throw StoreError.unavailable }
        return key
    }

    private func tokens(_ given: UnsignedTokens) async throws -> JSONValue {
        try await SignTokens.sign(given, ports: ports).cotterJSON(of: given.family.authentication)
    }

    private func members(of shown: ShownEvent, by signer: PrivateJWK) async throws -> JSONObject {
        try await members(of: shown.event, number: shown.number, shown.stage, by: signer)
    }

    /// An event in Cotter's form, signed.
    private func members(
        of event: AskedEvent, number: Int64, _ stage: ShownEvent.Stage, by signer: PrivateJWK
    ) async throws -> JSONObject {
        let (isNew, isApproved) = (stage == .pending, stage == .approved)
        let asked = "\(event.user)\(event.client)\(event.name.text)\(event.timestamp)\(SignedEvent.method)"
        let signed = "\(asked)\(isNew)\(isApproved)"
        let signature = try await signer.jwsSignature(of: Array(signed.utf8))
        let time = JSONValue.string("\(Timestamp(seconds: event.timestamp))")
        // From where somebody asks is nobody's to know who only names the user.
        return [
            "ID": .integer(number), "CreatedAt": time, "created_at": time, "UpdatedAt": time, "updated_at": time,
            "update_at": time, "DeletedAt": .null, "deleted_at": .null, "client_user_id": .string(event.user),
            "user_id": .string(event.user), "issuer": .string(event.client), "event": .string(event.name.text),
            "ip": "", "location": "unknown", "timestamp": .string("\(event.timestamp)"),
            "method": .string(SignedEvent.method), "new": .bool(isNew), "approved": .bool(isApproved),
            "signature": .string(Base64.encode(signature)),
        ]
    }
}
