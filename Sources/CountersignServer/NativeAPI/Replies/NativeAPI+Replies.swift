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
        let (outcome, isRepeated) = try once(result)
        var response = Response(json: try render(outcome), status: status)
        if isRepeated { response.headers[.idempotencyReplayed] = "true" }
        return response
    }

    /// The outcome of an operation, and whether an earlier request had it.
    func once<Outcome>(_ result: Replayable<Outcome>) throws(ProblemDetails) -> (Outcome, isRepeated: Bool) {
        switch result {
        case .done(let outcome): return (outcome, false)
        case .replayed(let earlier): return (earlier, true)
        case .conflict: throw ProblemDetails(.idempotencyConflict)
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
