import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// Messages to people: one to see that they arrive, and in development mode what would have been sent.
extension API {
    func addMessages(to routes: inout Routes) {
        routes.administrator(.post, "/v1/admin/messages") { [ports] caller, incoming in
            let request = try TestMessageRequest(incoming.json())
            let key = try incoming.idempotencyKey(of: caller.id, ports.hasher)
            let result = try await SendTestMessage.send(
                request.template, to: request.address, in: request.language, by: caller, idempotency: key, ports: ports
            ) { RecordedReply(status: 202, body: Self.json(queued: $0).encoded) }
            return try Self.reply(result, status: 202) { outcome throws(ProblemDetails) in
                switch outcome {
                case .queued(let id): return Self.json(queued: id)
                case .notSetUp: throw ProblemDetails(.transportNotSetUp)
                case .tooMany(let seconds):
                    throw ProblemDetails(.rateLimited, members: ["retry_after": .integer(seconds)])
                }
            }
        }
        routes.anyone(.get, "/dev/outbox") { [developmentOutbox] incoming in
            // Codes are in it. A page of another site that has its name lead here must not read them.
            guard let developmentOutbox, incoming.isFromThisMachine, incoming.namesLoopback else {
                throw ProblemDetails(.notFound)
            }
            return incoming.headers[.accept]?.contains("text/html") == true
                ? Self.page(of: developmentOutbox.entries)
                : Response(json: ["messages": .array(developmentOutbox.entries.map(\.json))])
        }
    }

    private static func json(queued id: EventID) -> JSONValue { ["message": .string("\(id)")] }

    private static func page(of entries: [DevelopmentOutbox.Entry]) -> Response {
        let messages = entries.map { entry in
            """
            <section><h2>\(HTMLText.escaped(entry.subject ?? "Text message"))</h2>
            <p>To \(HTMLText.escaped(entry.to)), \(entry.at)</p>
            <pre>\(HTMLText.escaped(entry.text))</pre></section>
            """
        }
        let page = """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="3">
            <title>Outbox</title>
            <style>body { font-family: sans-serif; margin: 2em auto; max-width: 45em } pre { white-space: pre-wrap }</style>
            <h1>Outbox</h1>
            <p>What would have been sent by mail and as text messages: this server runs in development mode.</p>
            \(messages.isEmpty ? "<p>Nothing so far.</p>" : messages.joined(separator: "\n"))
            </html>
            """
        var response = Response(bytes: Array(page.utf8), type: "text/html; charset=utf-8")
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
        return response
    }
}

/// The body of `POST /v1/admin/messages`.
private struct TestMessageRequest {
    let template: MessageTemplate
    let address: PersonalAddress
    let language: LanguageTag?

    init(_ json: JSONValue) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        let email = try members.optional("email", "a mail address") { $0.string.flatMap { EmailAddress($0) } }
        let phone = try members.optional("phone", "a telephone number with + and the country's code") {
            $0.string.flatMap { PhoneNumber($0) }
        }
        template =
            try members.optional("template", "\"test\" or \"code\"") {
                $0.string.flatMap { MessageTemplate(rawValue: $0) }
            } ?? .test
        language = try members.optional("language", "a language, such as de or pt-BR") {
            $0.string.flatMap { LanguageTag($0) }
        }
        try members.refuseUnknown()
        switch (email, phone) {
        case (let email?, nil): address = .email(email)
        case (nil, let phone?): address = .phone(phone)
        case (nil, nil): throw .missing(pointer: "/email")
        case (_?, _?): throw .invalid(pointer: "/phone", expected: "absent where email is present")
        }
    }
}

extension DevelopmentOutbox.Entry {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "to": .string(to), "subject": subject.map(JSONValue.string), "text": .string(text),
            "at": .string("\(at)"),
        ])
    }
}
