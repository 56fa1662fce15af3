import HTTPTypes
import Hummingbird
import Synchronization

/// The data of a request until it is answered.
///
/// It is a class so that a waiting request holds the data once, and not in the stack frame of every function.
final class PendingExchange: Sendable {
    let method: HTTPRequest.Method
    let context: ServerContext
    /// The door that serves the request's path.
    let door: any Door
    /// When the request arrived; nil if requests are not recorded.
    let start: ContinuousClock.Instant?
    private let kept = Mutex(Response(status: .internalServerError))

    /// The response so far.
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
