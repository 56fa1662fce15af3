import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies of operations on users.
extension NativeAPI {
    func json(_ outcome: CreateUser.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let user): user.json
        case .externalIDTaken: throw ProblemDetails(.externalIDTaken)
        case .addressTaken: throw ProblemDetails(.addressTaken)
        }
    }

    func reply(_ outcome: ShowUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .user(let user, let addresses, let claims): return Response(json: user.json(addresses, claims))
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: ShowKnownUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .user(let user): return Response(json: user.json)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func id(_ outcome: FindUser.Outcome) -> UserID? {
        switch outcome {
        case .user(let id): id
        case .notFound: nil
        }
    }

    func export(_ outcome: ExportUser.Outcome) throws(ProblemDetails) -> ExportUser {
        switch outcome {
        case .begun(let export): return export
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: UpdateUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .updated(let user): return Response(json: user.json)
        case .externalIDTaken: throw ProblemDetails(.externalIDTaken)
        case .addressTaken: throw ProblemDetails(.addressTaken)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: UnlinkUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .unlinked: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: DeleteUser.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .deleted: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.userNotFound)
        }
    }
}
