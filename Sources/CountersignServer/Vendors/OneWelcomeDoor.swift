import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The calls of a portal that was written for OneWelcome (Onegini): mobile authentication, versions 3 and 4, and the
/// users' devices.
///
/// Each translates to an operation that the native API calls as well. A client makes them if an operator has let it
/// (``Vendor/oneWelcome``). Spec: docs/decisions/0105-vendors-doors.md.
final class OneWelcomeDoor: Door {
    let paths = ["/oauth/api"]
    let resources: DoorResources

    var ports: Ports { resources.ports }

    init(_ resources: DoorResources) { self.resources = resources }

    func addRoutes(to table: inout RouteTable) {
        for version in OneWelcomeQuestion.Version.allCases { addAuthentication(version, to: &table) }
        table.add(.get, "/oauth/api/v4/authenticate/user/:user/device/:device/enabled") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let available = try await available(to: incoming)
            guard let device = incoming.parameter("device").flatMap({ EnrollmentID($0) }) else { return names(of: []) }
            return names(of: available.types.filter { $0.works(on: device, among: available.types) })
        }
        table.add(
            .get, "/oauth/api/v3/authenticate/user/:user/application/:application/enabled"
        ) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let available = try await available(to: incoming)
            let isOwn = incoming.parameter("application").map { $0.hasSameBytes(as: "\(available.client.id)") } ?? false
            return names(of: isOwn ? available.types : [])
        }
        addDevices(to: &table)
    }

    private func addAuthentication(_ version: OneWelcomeQuestion.Version, to table: inout RouteTable) {
        let path = "/oauth/api/\(version.rawValue)/authenticate"
        table.add(.post, "\(path)/user") { [self] request, context in
            try await ask(try await Incoming(request, context), version)
        }
        table.add(.get, "\(path)/transaction/:transaction") { [self] request, context in
            try await result(of: try await Incoming(request, context))
        }
        table.add(.get, "\(path)/user/:user/enabled") { [self] request, context in
            let available = try await available(to: try await Incoming(request, context))
            return reply(available.types, to: available.client, version)
        }
        table.add(.post, "\(path)/user/:user/sms") { [self] request, context in
            try await enter(try await Incoming(request, context))
        }
        table.add(.post, "\(path)/user/:user/sms/resend") { [self] request, context in
            try await resend(try await Incoming(request, context))
        }
    }

    /// The client that calls, with its right, if it may make these calls.
    ///
    /// - Parameters:
    ///   - incoming: the request.
    ///   - form: its form, or ``Incoming/credentials()`` of a request without one.
    ///   - right: the right that the call needs.
    func caller(of incoming: Incoming, _ form: FormFields, needing right: Right) async throws -> ClientCaller {
        let client = try await resources.caller(of: incoming, form, mayBePublic: false).client
        // check: OneWelcomeSwitchTests.off
        guard client.vendors.contains(.oneWelcome) else { throw OneWelcomeError(.disabled) }
        // check: OneWelcomeClientTests.rights
        guard client.rights.contains(right) else {
            throw OAuthError(.unauthorizedClient, "the client has no such right")
        }
        return ClientCaller(forOneRequest: client)
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let error as OneWelcomeError: error.rendered
        case let error as OneWelcomeDeviceError: error.rendered
        case let error as OAuthError: Self.rendered(error)
        case let error as FormFields.Malformed: OneWelcomeError(.parameterInvalid, error.description).rendered
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        Self.rendered(OAuthError(failure, requestID: context.requestID))
    }

    /// Spec: RFC 6749 §5.2.
    private static func rendered(_ error: OAuthError) -> RenderedRefusal {
        var headers: HTTPFields = [.contentType: "application/json"]
        if error.code == .invalidClient { headers[.wwwAuthenticate] = "Basic realm=\"countersign\"" }
        if let seconds = error.retryAfter { headers[.retryAfter] = "\(seconds)" }
        return RenderedRefusal(
            status: error.status ?? error.code.status, headers: headers, body: error.json.encoded,
            code: error.code.rawValue, detail: error.description)
    }
}

/// Mobile authentication.
extension OneWelcomeDoor {
    private func ask(_ incoming: Incoming, _ version: OneWelcomeQuestion.Version) async throws -> Response {
        let form = try FormFields(form: incoming)
        let caller = try await caller(of: incoming, form, needing: .challenges)
        let client = caller.client
        guard let text = form["type"] else { throw OneWelcomeError.missing("type") }
        guard let name = TypeName(text),
            case .type(let type) = try await ShowType.show(name, to: client.id, ports: ports)
        else { throw OneWelcomeError(.typeNotFound) }
        let user = try await user(named: form["user_id"], of: client)
        let question = try OneWelcomeQuestion(form, for: user, by: type, of: client.id, version)
        let asked = try asked(
            await AskChallenge.ask(question.request, by: caller.credential, idempotency: nil, ports: ports))
        return reply(asked, of: try await device(of: asked, client))
    }

    /// The first of the devices that were asked; nil if a code is sent or shown instead.
    private func device(of asked: AskedChallenge, _ client: Client) async throws -> Enrollment? {
        guard let user = asked.challenge.user, let first = asked.enrollments.first else { return nil }
        switch try await ShowEnrollments.show(of: .id(user), to: client, ports: ports) {
        case .enrollments(let all): return all.first { $0.id == first }
        case .userNotFound: return nil
        }
    }

    private func result(of incoming: Incoming) async throws -> Response {
        let caller = try await caller(of: incoming, try incoming.credentials(), needing: .challenges)
        let shown = try await shown(incoming.parameter("transaction") ?? "", to: caller)
        guard let user = shown.challenge.user else { return reply(shown, user: nil) }
        switch try await ShowUser.show(.id(user), to: caller.client, ports: ports) {
        case .user(let linked, _, _): return reply(shown, user: linked.externalID?.text ?? "\(user)")
        case .notFound: return reply(shown, user: "\(user)")
        }
    }

    /// A client's challenge, by its name as a transaction.
    private func shown(_ transaction: String, to caller: ClientCaller) async throws -> WatchChallenge.Shown {
        guard let id = ChallengeID(uuid: transaction) else { throw OneWelcomeError(.transactionInvalid) }
        return try shown(await WatchChallenge.challenge(id, for: caller.credential, ports: ports))
    }

    /// By what the user of the path can be asked: nothing if nobody has the name.
    private func available(
        to incoming: Incoming
    ) async throws -> (client: Client, types: [AvailableMethods.Available]) {
        let client = try await caller(of: incoming, try incoming.credentials(), needing: .challenges).client
        guard let user = try await user(named: incoming.parameter("user"), of: client) else { return (client, []) }
        switch try await AvailableMethods.list(for: user, client: client, listingTexts: true, ports: ports) {
        case .types(let types): return (client, types)
        }
    }

    private func enter(_ incoming: Incoming) async throws -> Response {
        let form = try FormFields(form: incoming)
        let caller = try await caller(of: incoming, form, needing: .challenges)
        let challenge = try await textedChallenge(incoming, form, caller)
        guard let text = form["sms_code"] else { throw OneWelcomeError.missing("sms_code") }
        guard let code = EntryNumber(text) else { throw OneWelcomeError(.codeInvalid) }
        return try reply(await EnterCode.enter(code, for: challenge, by: caller, ports: ports))
    }

    private func resend(_ incoming: Incoming) async throws -> Response {
        let form = try FormFields(form: incoming)
        let caller = try await caller(of: incoming, form, needing: .challenges)
        let challenge = try await textedChallenge(incoming, form, caller)
        return try reply(await ResendChallenge.resend(challenge, by: caller, ports: ports))
    }

    /// The challenge of a form whose code was sent by text message to the user of the path.
    private func textedChallenge(
        _ incoming: Incoming, _ form: FormFields, _ caller: ClientCaller
    ) async throws -> ChallengeID {
        guard let transaction = form["transaction_id"] else { throw OneWelcomeError.missing("transaction_id") }
        let challenge = try await shown(transaction, to: caller).challenge
        // check: OneWelcomeTextTests.others
        guard challenge.channel == .text else { throw OneWelcomeError(.transactionInvalid) }
        guard let name = try await user(named: incoming.parameter("user"), of: caller.client),
            case .user(let user, _, _) = try await ShowUser.show(name, to: caller.client, ports: ports),
            user.id == challenge.user
        else { throw OneWelcomeError(.userInvalid) }
        return challenge.id
    }

    /// A user as a portal names them: by its own name for them, or by our id, which they have if it has given them none;
    /// nil if nobody can have the name.
    ///
    /// A name may have the form of an id, and go to whoever has chosen it. So it means its own user first: nobody gets
    /// at the devices of somebody else by it, who has this id.
    func user(named text: String?, of client: Client) async throws -> UserReference? {
        guard let text, let name = try? ExternalID(text) else { return nil }
        guard let id = UserID(text) else { return .externalID(name) }
        return switch try await ShowUser.show(.externalID(name), to: client, ports: ports) {
        case .user: .externalID(name)
        case .notFound: .id(id)
        }
    }
}

extension Incoming {
    /// What the query of a request without a form says of its client: an assertion, and never a secret.
    ///
    /// Spec: RFC 6749 §2.3.1.
    func credentials() throws -> FormFields {
        let fields = try FormFields(query: self)
        // check: OneWelcomeClientTests.secretInQuery
        guard fields["client_secret"] == nil else {
            throw OAuthError(.invalidRequest, "a secret does not belong into a query")
        }
        return fields
    }
}
