import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

@testable import CountersignServer

/// A door as OAuth will need one: forms in, `error` and `error_description` out, unknown parameters ignored.
///
/// It proves that another protocol asks and watches with nothing but the operations and what all doors share.
final class FormDoor: Door {
    let paths = ["/form"]
    private let resources: DoorResources

    init(_ resources: DoorResources) { self.resources = resources }

    func addRoutes(to table: inout RouteTable) {
        table.add(.post, "/form/ask") { [self] request, context in
            let form = try Form(try await Incoming(request, context))
            return Self.reply(try await ask(try await client(form, context), form))
        }
        table.add(.post, "/form/watch") { [self] request, context in
            let form = try Form(try await Incoming(request, context))
            let credential = try await client(form, context).credential
            let id = try form.value("challenge") { ChallengeID($0) }
            switch try await resources.look(at: id, of: credential, for: 30, by: context) {
            case .ended(let found): return try Self.reply(found)
            case .waiting(let wait):
                return context.later.answer { [resources] in
                    try await resources.waits.waiting(
                        as: "\(wait.caller.client)", atMost: DoorResources.maximumClientWaits
                    ) { try Self.reply(try await resources.outcome(of: wait)) }
                }
            }
        }
    }

    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal? {
        switch error {
        case let refusal as FormRefusal: Self.rendered(refusal)
        case is Waits.TooMany: Self.rendered(FormRefusal("slow_down", "too many requests wait", status: 429))
        default: nil
        }
    }

    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal {
        switch failure {
        case .malformed, .malformedQuery, .bodyIncomplete:
            Self.rendered(FormRefusal("invalid_request", "the request is malformed"))
        case .bodyTooLarge, .bodyTooSlow: Self.rendered(FormRefusal("invalid_request", "the body is too much"))
        case .unknownPath: Self.rendered(FormRefusal("not_found", "there is nothing here", status: 404))
        case .methodNotAllowed(let allowed):
            Self.rendered(FormRefusal("invalid_request", "use \(allowed)", status: 405))
        case .unavailable, .noRoom, .overloaded:
            Self.rendered(FormRefusal("temporarily_unavailable", "come again", status: 503))
        case .fault: Self.rendered(FormRefusal("server_error", "request \(context.requestID)", status: 500))
        }
    }

    private func client(_ form: Form, _ context: ServerContext) async throws -> ClientCaller {
        let (id, secret) = (try form.value("client_id") { $0 }, try form.value("client_secret") { Secret($0) })
        switch try await resources.client(id, secret: secret, from: context) {
        case .client(let caller) where caller.client.rights.contains(.challenges): return caller
        case .client: throw FormRefusal("unauthorized_client", "the client may not ask", status: 403)
        case .failed, .invalidToken, .disabled:
            throw FormRefusal("invalid_client", "id and secret do not match", status: 401)
        case .tooManyFailures: throw FormRefusal("slow_down", "too many wrong secrets", status: 429)
        }
    }

    private func ask(_ caller: ClientCaller, _ form: Form) async throws -> AskedChallenge {
        let request = AskChallenge.Request(
            user: try form.value("login_hint") { UserReference($0) }, type: try form.value("type") { TypeName($0) },
            message: try form.value("binding_message") { try? DisplayMessage($0) })
        let result = try await AskChallenge.ask(
            request, by: caller.credential, idempotency: nil, ports: resources.ports
        )
        switch result {
        case .done(.asked(let asked)): return asked
        case .done(.refused(.userNotFound)), .done(.refused(.noEnrollment)):
            throw FormRefusal("unknown_user_id", "nobody can be asked")
        case .done(.refused(let refusal)): throw FormRefusal("access_denied", "\(refusal)", status: 403)
        case .replayed, .conflict: throw FormRefusal("invalid_request", "there is no key")
        }
    }

    private static func reply(_ asked: AskedChallenge) -> Response {
        Response(
            json: .members([
                "challenge": .string("\(asked.challenge.id)"), "number": asked.number.map { .string($0.digits) },
            ]))
    }

    private static func reply(_ found: WatchChallenge.Outcome) throws(FormRefusal) -> Response {
        switch found {
        case .shown(let shown): Response(json: ["state": .string(shown.challenge.state.status.state)])
        case .notFound: throw FormRefusal("invalid_grant", "no such challenge")
        case .refused: throw FormRefusal("invalid_client", "the client is let in no more", status: 401)
        }
    }

    private static func rendered(_ refusal: FormRefusal) -> RenderedRefusal {
        let json: JSONValue = ["error": .string(refusal.error), "error_description": .string(refusal.description)]
        return RenderedRefusal(
            status: refusal.status, headers: [.contentType: "application/json"], body: json.encoded,
            code: refusal.error, detail: nil)
    }
}

/// A refusal of the second door.
private struct FormRefusal: Error {
    let error: String
    let description: String
    let status: Int

    init(_ error: String, _ description: String, status: Int = 400) {
        (self.error, self.description, self.status) = (error, description, status)
    }
}

/// The fields of a form, each of which stands once; what nobody asks for is ignored.
private struct Form {
    private var fields: [String: String] = [:]

    init(_ incoming: Incoming) throws(FormRefusal) {
        guard incoming.hasContent("application/x-www-form-urlencoded") else {
            throw FormRefusal("invalid_request", "send a form")
        }
        for part in String(decoding: incoming.body, as: UTF8.self).split(separator: "&") {
            let pair = part.replacing("+", with: " ").split(separator: "=", maxSplits: 1).map { Incoming.decoded($0) }
            guard pair.count == 2, let name = pair[0], let value = pair[1],
                fields.updateValue(value, forKey: name) == nil
            else { throw FormRefusal("invalid_request", "the form is malformed") }
        }
    }

    func value<Value>(_ name: String, _ read: (String) -> Value?) throws(FormRefusal) -> Value {
        guard let value = fields[name].flatMap(read) else { throw FormRefusal("invalid_request", "\(name) is wrong") }
        return value
    }
}
