import CountersignWire
import Encodings
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import RelyingPartyAPI

/// A shop: an ordinary relying party that uses only Countersign's HTTP interface.
actor Shop {
    /// One payment, with the data for its page.
    private struct Payment {
        let challenge: ChallengeID
        var status: ChallengeStatus
    }

    private let countersign: Remote
    private let user: UserID
    private let lookIntoReports: @Sendable () async throws -> Void
    private let signIn: ShopSignIn
    private var payments: [String: Payment] = [:]
    private var listeners: [String: [AsyncStream<String>.Continuation]] = [:]

    init(
        countersign: Remote, user: UserID, signIn: ShopSignIn,
        lookIntoReports: @escaping @Sendable () async throws -> Void
    ) {
        self.signIn = signIn
        self.countersign = countersign
        self.user = user
        self.lookIntoReports = lookIntoReports
    }

    /// Starts a payment: asks the customer, and waits for the answer in the background.
    ///
    /// - Returns: the payment's id and the number to show.
    func pay(from address: String?, userAgent: String?) async throws -> JSONValue {
        let id = "pay_" + Hex.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        guard let type = TypeName("payment") else { throw CommandError("The shop names no type.") }
        var request = AskRequest(
            user: .id(user), type: type, message: try DisplayMessage("Pay EUR 1,250.00 to ACME GmbH?"))
        request.details = [
            try Detail(label: "Amount", value: "EUR 1,250.00"),
            try Detail(label: "Payee", value: "ACME GmbH, DE89 3704 0044 0532 0130 00"),
            try Detail(label: "Order", value: "Espresso machine, walnut"),
        ]
        request.context = ContextLine(address: address, userAgent: userAgent)
        request.clientState = id
        let (reply, end) = try await ask(request, idempotency: id)
        let asked = try AskedView(reply)
        guard let number = asked.number else { throw CommandError("The server named no number.") }
        payments[id] = Payment(challenge: asked.challenge.id, status: asked.challenge.status)
        Task { await tell(id, of: end) }
        return [
            "id": .string(id), "number": .string(number.digits),
            "expires_at": .string("\(asked.challenge.expiresAt)"),
        ]
    }

    /// The reply to a question, and the challenge when it has ended.
    private typealias Asked = (reply: JSONValue, end: Task<JSONValue?, any Error>)

    /// Asks the customer; if the customer has reported an earlier payment, the demo first ends the lock at once.
    private func ask(_ request: AskRequest, idempotency id: String) async throws -> Asked {
        do {
            return try await asked(request, idempotency: id)
        } catch let problem as ProblemDetails where problem.code == ProblemCode.askingLocked.rawValue {
            try await lookIntoReports()
            return try await asked(request, idempotency: id)
        }
    }

    private func asked(_ request: AskRequest, idempotency id: String) async throws -> Asked {
        let told = countersign.askAndWait(request.json, idempotency: id)
        guard let reply = try await told.first(where: { _ in true }) else {
            throw CommandError("The server did not reply.", .unreachable)
        }
        return (reply, Task { try await told.first { _ in true } })
    }

    /// Notifies the pages that show the payment of its end.
    private func tell(_ id: String, of end: Task<JSONValue?, any Error>) async {
        if let challenge = try? await end.value, let status = try? ChallengeView(challenge).status {
            payments[id]?.status = status
        }
        for listener in listeners.removeValue(forKey: id) ?? [] {
            listener.yield(event(id))
            listener.finish()
        }
    }

    /// The status of a payment as server-sent events: the current one, and the outcome.
    func events(_ id: String) -> AsyncStream<String>? {
        guard let payment = payments[id] else { return nil }
        let (stream, continuation) = AsyncStream.makeStream(of: String.self)
        continuation.yield(event(id))
        if payment.status.state == "pending" {
            listeners[id, default: []].append(continuation)
        } else {
            continuation.finish()
        }
        return stream
    }

    private func event(_ id: String) -> String {
        let status = payments[id]?.status
        let data = JSONValue.members([
            "state": (status?.state).map(JSONValue.string), "reason": (status?.reason).map(JSONValue.string),
        ])
        return "data: \(data.text)\n\n"
    }

    /// The receipt of a payment, or the certificate that verifies it.
    func file(_ name: String, of id: String) async throws -> [UInt8]? {
        guard let challenge = payments[id]?.challenge else { return nil }
        switch name {
        case "receipt.asc": return try await countersign.bytes(.GET, "/v1/challenges/\(challenge)/receipt")
        case "certificate.asc":
            return try await countersign.bytes(.GET, "/v1/challenges/\(challenge)/receipt?format=certificate")
        default: return nil
        }
    }
}

extension Shop {
    /// The shop's web site.
    nonisolated var router: Router<ShopContext> {
        let router = Router(context: ShopContext.self)
        router.get("/") { request, _ in
            let customer = await self.signIn.customer(in: Self.browser(of: request))
            return Response(ShopPage.html(for: customer), type: "text/html; charset=utf-8")
        }
        router.get("/sign-in") { request, _ in
            let browser = Self.browser(of: request) ?? ShopSignIn.random()
            return Self.redirect(to: await self.signIn.begin(in: browser), in: browser)
        }
        router.get("/signed-in") { request, _ in
            let answer = request.uri.queryParameters.reduce(into: [String: String]()) {
                $0[String($1.key)] = String($1.value)
            }
            _ = try await self.signIn.finish(answer, in: Self.browser(of: request))
            return Self.redirect(to: "/", in: nil)
        }
        router.post("/sign-out") { request, _ in
            if let browser = Self.browser(of: request) { await self.signIn.signOut(browser) }
            return Self.redirect(to: "/", in: nil)
        }
        router.get("/shop.css") { _, _ in Response(ShopPage.style, type: "text/css; charset=utf-8") }
        router.get("/shop.js") { _, _ in Response(ShopPage.script, type: "text/javascript; charset=utf-8") }
        router.post("/payments") { request, context in
            let payment = try await self.pay(from: context.address, userAgent: request.headers[.userAgent])
            return Response(payment.text, type: "application/json")
        }
        router.get("/payments/:id/events") { _, context in
            guard let events = await self.events(try context.parameters.require("id")) else {
                throw HTTPError(.notFound)
            }
            let body = ResponseBody { writer in
                for await event in events { try await writer.write(ByteBuffer(string: event)) }
                try await writer.finish(nil)
            }
            return Response(
                status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"], body: body)
        }
        router.get("/payments/:id/:file") { _, context in
            let (id, file) = (try context.parameters.require("id"), try context.parameters.require("file"))
            guard let bytes = try await self.file(file, of: id) else { throw HTTPError(.notFound) }
            return Response(String(decoding: bytes, as: UTF8.self), type: "text/plain; charset=utf-8")
        }
        return router
    }
}

extension Shop {
    private static let cookie = "acme-shop"

    /// What the browser is known by; nil for one that was never here.
    private static func browser(of request: Request) -> String? { request.cookies[cookie]?.value }

    private static func redirect(to place: String, in browser: String?) -> Response {
        var response = Response(status: .seeOther, headers: [.location: place])
        if let browser {
            response.headers[.setCookie] = "\(cookie)=\(browser); Path=/; HttpOnly; SameSite=Lax"
        }
        return response
    }
}

/// The context of a request to the shop, which includes the caller's address.
struct ShopContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let address: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        address = source.channel.remoteAddress?.ipAddress
    }
}

extension Response {
    /// A page of the shop, which runs nothing from other sites.
    fileprivate init(_ text: String, type: String) {
        self.init(
            status: .ok,
            headers: [
                .contentType: type, .cacheControl: "no-store",
                .contentSecurityPolicy: "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
                    + "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
            ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
