import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The replies to operators about the ways by which a user signs in.
extension NativeAPI {
    func reply(_ outcome: ListPasskeys.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .passkeys(let passkeys): return Response(json: ["passkeys": .array(passkeys.map(\.exported))])
        case .userNotFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: RemovePasskey.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .userNotFound: throw ProblemDetails(.userNotFound)
        case .notFound: throw ProblemDetails(.passkeyNotFound)
        }
    }

    func reply(_ outcome: ListAddresses.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .addresses(let proved, let claimed):
            return Response(json: ["addresses": .array(proved.map(\.exported) + claimed.map(\.exported))])
        case .userNotFound: throw ProblemDetails(.userNotFound)
        }
    }

    func reply(_ outcome: RemoveAddress.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .userNotFound: throw ProblemDetails(.userNotFound)
        case .notFound: throw ProblemDetails(.addressNotFound)
        }
    }

    func reply(_ outcome: RemoveUserCode.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .userNotFound: throw ProblemDetails(.userNotFound)
        }
    }
}
