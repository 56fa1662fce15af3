import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// What the replies of all subjects share.
///
/// The files of this folder map the outcome of each operation to a reply, and each refusal to a problem; routes make no
/// problems themselves.
extension NativeAPI {
    /// The reply of an operation whose earlier outcome may be repeated.
    func reply<Outcome>(
        _ result: Replayable<Outcome>, status: Int, _ render: (Outcome) throws(ProblemDetails) -> JSONValue
    ) throws(ProblemDetails) -> Response {
        switch result {
        case .done(let outcome): return Response(json: try render(outcome), status: status)
        case .conflict: throw ProblemDetails(.idempotencyConflict)
        case .replayed(let earlier):
            var response = Response(json: try render(earlier), status: status)
            response.headers[.idempotencyReplayed] = "true"
            return response
        }
    }

    func reply<Element>(
        _ outcome: ListOutcome<Element>, _ name: String, _ render: (Element) -> JSONValue
    ) throws(RequestRefusal) -> Response {
        switch outcome {
        case .page(let page):
            return Response(
                json: .members([
                    name: .array(page.elements.map(render)), "cursor": page.cursor.map(JSONValue.string),
                ]))
        case .cursorRefused:
            throw .invalidParameter("cursor", expected: "that of an earlier page of the same list")
        }
    }
}
