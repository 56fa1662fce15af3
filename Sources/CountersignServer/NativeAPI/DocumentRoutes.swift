import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// What the server says of itself: its contract, its errors, its health.
extension API {
    func addDocuments(to routes: inout Routes) {
        routes.anyone(.get, "/v1/openapi.json") { _ in
            Response(document: Self.contract, type: "application/json")
        }
        routes.anyone(.get, "/docs/errors") { _ in
            Response(document: Self.errorPage, type: "text/html; charset=utf-8")
        }
        routes.anyone(.get, "/q") { _ in
            Response(document: Self.linkPage, type: "text/html; charset=utf-8")
        }
        routes.anyone(.get, "/healthz") { _ in
            Response(json: ["status": "ok"])
        }
        routes.anyone(.get, "/readyz") { [ports] incoming in
            // Ready is who can read what was written; whatever keeps it from that, others should be asked meanwhile.
            do {
                guard try await ports.store.read({ try $0.clients.operatorClient() }) != nil else {
                    throw ProblemDetails(.unavailable)
                }
            } catch let error as StoreError {
                ports.logger.error(
                    "not ready", metadata: ["request": "\(incoming.context.requestID)", "error": "\(error)"])
                throw ProblemDetails(.unavailable)
            }
            return Response(json: ["status": "ready"])
        }
    }

    /// The contract; all replies share its bytes.
    private static let contract = ByteBuffer(string: openAPIDocument)

    /// Where a link leads that no app has taken: what it carries stays in the browser, behind `#`.
    ///
    /// Spec: design 3.7.
    private static let linkPage = ByteBuffer(
        string: """
            <!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>Open in the app</title>
            <h1>This link opens in an app</h1>
            <p>It was to be opened by the app that you approve with, which is not on this device or does not take such
            links. Go back and start again where the app is, or choose to scan a code. Whoever was sent this link by somebody
            else can close this page: nothing has happened.</p>
            </html>
            """)

    /// Every code with its meaning, where the `type` of a problem points to.
    private static let errorPage: ByteBuffer = {
        let entries = ProblemCode.allCases.map { code in
            let meaning = code.meaning
            let cure = meaning.cure.replacing(#/`([^`]*)`/#) { "<code>\($0.output.1)</code>" }
            return """
                <section id="\(code.rawValue)"><h2><code>\(code.rawValue)</code> · \(meaning.status)</h2>
                <p>\(meaning.title). \(cure)</p></section>
                """
        }
        return ByteBuffer(
            string: """
                <!doctype html><html lang="en"><meta charset="utf-8"><title>Countersign errors</title>
                <h1>Errors</h1>
                \(entries.joined(separator: "\n"))
                </html>
                """)
    }()
}
