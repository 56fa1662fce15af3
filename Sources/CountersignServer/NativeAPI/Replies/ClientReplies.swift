import CountersignCore
import CountersignWire
import Encodings
import Hummingbird
import RelyingPartyAPI

/// The replies of operations on clients.
extension NativeAPI {
    func json(_ outcome: CreateClient.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .created(let created): created.json(ports.hasher)
        }
    }

    func reply(_ outcome: ListClients.Outcome) -> Response {
        switch outcome {
        case .clients(let list): Response(json: ["clients": .array(list.map { $0.client.view(gone: $0.gone).json })])
        }
    }

    func reply(_ client: Client, _ outcome: ShowGoneReceivers.Outcome) -> Response {
        switch outcome {
        case .gone(let gone): Response(json: client.view(gone: gone).json)
        }
    }

    func json(_ outcome: RenewClientSecret.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .renewed(let renewed): renewed.json
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func json(_ outcome: RenewCallbackSecret.Outcome) throws(ProblemDetails) -> JSONValue {
        switch outcome {
        case .renewed(let renewed): renewed.json(ports.hasher)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: UpdateClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .updated(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: DisableClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .disabled(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func client(_ outcome: EnableClient.Outcome) throws(ProblemDetails) -> Client {
        switch outcome {
        case .enabled(let client): return client
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func reply(_ outcome: DeleteClient.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .deleted: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }
}
