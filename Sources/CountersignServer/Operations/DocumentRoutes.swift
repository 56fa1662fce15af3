import CountersignWire
import Hummingbird
import NIOCore

/// The routes for the OpenAPI document and for the list of errors.
extension NativeAPI {
    func addDocuments(to routes: inout NativeRoutes) {
        routes.anyone(.get, "/v1/openapi.json") { _ in
            Response(document: Self.contract, type: "application/json")
        }
        routes.anyone(.get, "/docs/errors") { _ in
            Response(document: Self.errorPage, type: "text/html; charset=utf-8")
        }
    }

    /// The OpenAPI document; all replies share its bytes.
    private static let contract = ByteBuffer(bytes: OpenAPIDocument.served)

    /// The page that the `type` of a problem refers to, with every code and its meaning.
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
