import Encodings
import ServerTestSupport
import Testing

/// Expects exactly this refusal.
///
/// - Parameters:
///   - reply: what the server answered.
///   - status: the status.
///   - code: the problem's code.
///   - pointer: the member it names; nil for none.
///   - what: what was wrong with the request, for the message.
///   - location: where the test expects it.
func expectRefusal(
    _ reply: Reply, _ status: Int, _ code: String, at pointer: String? = nil, _ what: String = "",
    location: SourceLocation = #_sourceLocation
) {
    #expect(reply.status == status, "\(what) \(reply)", sourceLocation: location)
    #expect(reply.code == code, "\(what) \(reply)", sourceLocation: location)
    #expect(reply.json["pointer"]?.string == pointer, "\(what) \(reply)", sourceLocation: location)
}

extension Reply {
    /// The body without what differs from request to request.
    var bodyWithoutRequestID: JSONValue {
        var object = json.object ?? JSONObject()
        object["request_id"] = nil
        return .object(object)
    }
}

/// Lets a request that was just sent reach its wait at the server, which nothing tells.
///
/// What is measured afterwards holds either way; without the pause less would be proven.
func letItWait() async throws {
    try await Task.sleep(for: .milliseconds(150))
}
