import COpenAPI
import Encodings

/// The OpenAPI document, `docs/openapi.json`, as it was when the program was built.
package enum OpenAPIDocument {
    /// The document as it is served: without white space between its parts, and created on first use.
    package static let served: [UInt8] = {
        let bytes = UnsafeBufferPointer(start: countersign_openapi_bytes(), count: countersign_openapi_size())
        guard let json = try? JSONValue(parsing: Array(bytes)) else { preconditionFailure("docs/openapi.json is JSON") }
        return json.encoded
    }()
}
