import Encodings
import Synchronization

/// What a service answers.
struct Answer: Sendable {
    let status: Int
    /// The service's word for what is wrong.
    var reason: String?
    var timestamp: Int64?
    var retryAfter: Int64?
    /// What it says besides; its form is the service's.
    var detail: JSONValue?

    static let accepted = Answer(status: 200)
}

/// One request, as it came.
struct Push: Sendable {
    let method: String
    let path: String
    let fields: [(name: String, value: String)]
    let payload: [UInt8]

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

/// What the rules say of a request.
struct Judgement: Sendable {
    let answer: Answer
    /// The device that a good request is for, of which a test may want something else.
    var device: String?
    /// Whether who asks is known from this request on, so that it may send more at a time.
    var opensConnection = false
}

/// A service's documented rules for requests, and nothing that is not written there.
protocol PeerRules: Sendable {
    /// How many requests at a time a connection may send until it is known who asks.
    var firstStreams: Int { get }

    func judge(_ push: Push, on connection: ConnectionState, now: Int64) -> Judgement
    func body(of answer: Answer) -> String
}

/// What is known of one connection.
final class ConnectionState: Sendable {
    /// The provider token that was seen last.
    private let seen = Mutex<APNsRules.Seen?>(nil)

    /// Changes what is known.
    func withToken<Result: Sendable>(_ body: (inout APNsRules.Seen?) -> Result) -> Result {
        seen.withLock { body(&$0) }
    }
}
