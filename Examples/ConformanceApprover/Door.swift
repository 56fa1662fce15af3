import HTTPTypes
import Hummingbird
import NIOCore

/// Where the suite posts to.
enum Door {
    static let path = "/answer"

    static func router(_ approver: Approver) -> Router<BasicRequestContext> {
        let router = Router()
        router.post("\(path)") { request, _ in try await reply(to: request, approver) }
        return router
    }

    private static func reply(to request: Request, _ approver: Approver) async throws -> Response {
        // A page in a browser on this machine could post here, too; browsers say from which site.
        guard request.headers[.origin] == nil else { return response(.forbidden, "no page of a browser may answer") }
        let query = request.uri.queryParameters
        guard query["auth_req_id"]?.isEmpty == false,
            let action = query["action"].flatMap({ Approver.Action(rawValue: String($0)) })
        else { return response(.badRequest, "auth_req_id, and action=allow or action=deny, must be there") }
        switch try await approver.answer(action) {
        case .answered(let id): return response(.ok, id)
        case .nothingWaits: return response(.notFound, "nothing waits for an answer")
        case .failed(let reason): return response(.conflict, reason)
        }
    }

    private static func response(_ status: HTTPResponse.Status, _ text: String) -> Response {
        Response(
            status: status, headers: [.contentType: "text/plain; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: "\(text)\n")))
    }
}
