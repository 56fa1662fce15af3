import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies of the operator's other operations.
extension NativeAPI {
    func reply(_ outcome: SetType.Outcome, _ type: ChallengeType) throws(ProblemDetails) -> Response {
        switch outcome {
        case .set: return Response(json: type.json)
        case .refused(let violation):
            throw ProblemDetails(
                shape: .invalid(pointer: "/\(violation.member)", expected: violation.expected))
        }
    }

    func reply(_ outcome: RemoveType.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.typeNotFound)
        case .neededBy(let types, let clients):
            let (names, ids) = (types.map { "\($0)" }, clients.map { "\($0)" })
            throw ProblemDetails(
                .typeInUse, detail: "named by \((names + ids).joined(separator: ", "))",
                members: [
                    "types": .array(names.map(JSONValue.string)), "clients": .array(ids.map(JSONValue.string)),
                ])
        }
    }

    func locks(_ outcome: ListLocks.Outcome) -> [AskingLock] {
        switch outcome {
        case .locks(let locks): locks
        }
    }

    func reply(_ outcome: EndLock.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .ended: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.challengeNotFound)
        }
    }

    func reply(_ outcome: ListEvents.Outcome) -> Response {
        switch outcome {
        case .events(let events, let cursor):
            Response(json: .members(["events": .array(events.map(\.json)), "cursor": .string("\(cursor)")]))
        }
    }

    func reply(_ outcome: ShowMessage.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .message(let entry): return Response(json: entry.json)
        case .notFound: throw ProblemDetails(.messageNotFound)
        }
    }

    func entries(_ outcome: ListOutbox.Outcome) -> [OutboxEntry] {
        switch outcome {
        case .entries(let entries): entries
        }
    }

    func reply(_ outcome: RetryMessage.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .queued: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.messageNotFound)
        case .over: throw ProblemDetails(.messageOver)
        }
    }

    func json(_ outcome: SendTestMessage.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .queued(let id): ["message": .string("\(id)")]
        case .notSetUp: throw ProblemDetails(.transportNotSetUp)
        case .tooMany(let seconds): throw ProblemDetails(retryAfter: seconds)
        }
    }

    func reply(_ outcome: ListIssuerKeys.Outcome) throws -> Response {
        switch outcome {
        case .keys(let keys): Response(json: ["keys": .array(try keys.map { try $0.json })])
        }
    }

    func reply(_ outcome: RotateIssuerKey.Outcome) throws -> Response {
        switch outcome {
        case .begun(let key): return Response(json: try key.json, status: 202)
        case .underWay(let key): throw ProblemDetails(.rotationUnderWay, members: ["key": try key.json])
        case .certificateFull: throw ProblemDetails(.issuerCertificateFull)
        }
    }
}
