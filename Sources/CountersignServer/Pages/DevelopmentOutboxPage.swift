import CountersignDelivery
import Encodings
import HTTPTypes
import Hummingbird

/// The messages that development mode keeps instead of sending them.
extension NativeAPI {
    func addDevelopmentOutbox(to routes: inout NativeRoutes) {
        routes.anyone(.get, "/dev/outbox") { [developmentOutbox] incoming in
            guard let developmentOutbox else { throw RequestFailure.unknownPath }
            // The messages contain codes.
            // check: MessageTests.strangers
            guard incoming.isFromThisMachine else { throw RequestFailure.unknownPath }
            // Another site must not read them by DNS rebinding.
            // check: MessageTests.strangers
            guard incoming.namesLoopback else { throw RequestFailure.unknownPath }
            return incoming.headers[.accept]?.contains("text/html") == true
                ? Self.page(of: developmentOutbox.entries)
                : Response(json: ["messages": .array(developmentOutbox.entries.map(\.json))])
        }
    }

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

extension DevelopmentOutbox.Entry {
    fileprivate var json: JSONValue {
        .members([
            "id": .string("\(id)"), "to": .string(to), "subject": subject.map(JSONValue.string), "text": .string(text),
            "at": .string("\(at)"),
        ])
    }
}
