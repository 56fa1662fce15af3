import Encodings
import ServerTestSupport
import Testing

/// Expects an error of an endpoint that answers with JSON.
func expectError(
    _ reply: Reply, _ status: Int, _ error: String, at location: SourceLocation = #_sourceLocation
) {
    #expect(reply.status == status, "\(reply)", sourceLocation: location)
    #expect(reply.json["error"] == .string(error), "\(reply)", sourceLocation: location)
}

/// Expects an error of an endpoint that begins a request or gives tokens, which no cache may keep, with a description of
/// the characters that it may have.
///
/// Spec: CIBA Core 1.0 §13; RFC 6749 §5.2.
func expectOAuthError(
    _ reply: Reply, _ error: String, _ status: Int = 400, at location: SourceLocation = #_sourceLocation
) {
    expectError(reply, status, error, at: location)
    #expect(reply.headers["cache-control"] == "no-store", sourceLocation: location)
    let description = reply.json["error_description"]?.string ?? ""
    let isPlain = description.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    #expect(!description.isEmpty && isPlain, "\(reply)", sourceLocation: location)
}
