import HTTPTypes
import Hummingbird
import Synchronization

/// What is kept of a request until it is answered: a request that waits has it once, not in each of the functions it
/// waits in.
final class PendingExchange: Sendable {
    let method: HTTPRequest.Method
    let context: ServerContext
    /// Whose path it is.
    let door: any Door
    /// When it came; nil when nobody wants to know.
    let start: ContinuousClock.Instant?
    private let kept = Mutex(Response(status: .internalServerError))

    /// The response, as far as it is known.
    var response: Response {
        get { kept.withLock { $0 } }
        set { kept.withLock { $0 = newValue } }
    }

    init(method: HTTPRequest.Method, context: ServerContext, door: any Door, start: ContinuousClock.Instant?) {
        self.method = method
        self.context = context
        self.door = door
        self.start = start
    }
}
