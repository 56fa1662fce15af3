import Hummingbird

/// One protocol that callers speak over HTTP: what it serves, and how it refuses.
///
/// A door decodes its own requests, authenticates its own callers and renders its own replies. Several doors share one
/// server and its operations; none knows another.
protocol Door: AnyObject, Sendable {
    /// The paths that are this door's: each of these, and whatever follows one after a slash.
    ///
    /// None for the door that answers what is no other door's.
    var paths: [String] { get }

    /// Adds what this door serves.
    func addRoutes(to table: inout RouteTable)

    /// The reply to a request that this door has refused.
    ///
    /// - Parameters:
    ///   - error: what a handler of this door has thrown.
    ///   - context: what is known of the request.
    /// - Returns: nil when the error is no refusal of this door's, but a fault.
    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal?

    /// The reply to a request that reaches no handler of this door, or that the server failed to answer.
    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal
}

/// A reply to a request that was refused or failed, as one door renders it.
struct RenderedRefusal {
    /// The reply.
    let response: Response
    /// Why, as the log and the metrics name it: from a list of the door's own.
    let code: String
    /// More about it for the log; nil as a rule.
    let detail: String?
}
