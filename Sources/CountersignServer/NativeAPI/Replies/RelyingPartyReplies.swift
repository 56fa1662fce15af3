import CountersignCore
import CountersignWire
import Encodings
import Hummingbird
import RelyingPartyAPI

/// The replies of operations on clients that use the OpenID provider.
extension NativeAPI {
    func reply(_ outcome: SetRelyingParty.Outcome, setting party: RelyingParty) throws -> Response {
        switch outcome {
        case .set(let party): return Response(json: party.view)
        case .notFound: throw ProblemDetails(.clientNotFound)
        case .typeNotUsable(let type):
            throw JSONShapeError.invalid(
                pointer: party.stepUpTypes.firstIndex(of: type).map { "/step_up_types/\($0)" } ?? "/type",
                expected: "a type that the client may ask by, that asks devices, and that has a number to type")
        case .backchannelTypeNotUsable:
            throw JSONShapeError.invalid(
                pointer: "/backchannel_type",
                expected: "a type that the client may ask by, that asks devices, and that has no number to type")
        case .onlyCopies:
            throw JSONShapeError.invalid(
                pointer: "/ways", expected: "\"passkey\", \"qr\" or \"email\" among them; not all can copy digits")
        case .accountAmongOthers:
            throw JSONShapeError.invalid(
                pointer: "/redirect_uris",
                expected: "the account page alone, or not among them: it takes a client of its own")
        case .resourceTaken:
            throw JSONShapeError.invalid(
                pointer: "/resource/identifier", expected: "a name that no other API has, and that is not the issuer's")
        case .scopeTaken(let scope):
            throw JSONShapeError.invalid(
                pointer: "/resource/scopes", expected: "scopes of the API alone, and \(scope) is one of the provider's")
        }
    }

    func reply(_ outcome: ShowRelyingParty.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .shown(_, let party): return Response(json: party.view)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func reply(_ outcome: RemoveRelyingParty.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }
}

extension RelyingParty {
    /// The settings with the client, as `RelyingParty` of the contract.
    fileprivate var view: JSONValue {
        var object = json.object ?? JSONObject()
        object["client"] = .string("\(client)")
        return .object(object)
    }
}
