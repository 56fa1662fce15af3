import HTTPTypes
import Hummingbird
import NIOCore

/// One protocol over HTTP: its routes, and how it renders refusals.
///
/// A door decodes its own requests, authenticates its own callers and renders its own replies. All doors of a server
/// use the same operations, and no door knows another.
protocol Door: AnyObject, Sendable {
    /// The paths of this door, each with everything below it.
    ///
    /// Empty for the door that serves all other paths.
    var paths: [String] { get }

    func addRoutes(to table: inout RouteTable)

    /// The reply to a request that this door has refused.
    ///
    /// - Parameters:
    ///   - error: the error that a handler of this door has thrown.
    ///   - context: the server's data about the request.
    /// - Returns: nil if the error is a fault and not a refusal of this door.
    func refusal(of error: any Error, _ context: ServerContext) -> RenderedRefusal?

    /// The reply to a request that reached no handler of this door, or that the server failed to answer.
    func refusal(of failure: RequestFailure, _ context: ServerContext) -> RenderedRefusal
}

/// A door's reply to a request that was refused or failed.
struct RenderedRefusal {
    let status: Int
    var headers: HTTPFields
    let body: [UInt8]
    /// The reason for the log and the metrics, from a fixed list of the door's codes.
    let code: String
    /// More details for the log; usually nil.
    let detail: String?

    var response: Response {
        Response(
            status: .init(code: status), headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
