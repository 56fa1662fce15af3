import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird

/// The calls that make and read users.
///
/// At Cotter anybody who had the public key could make them. These are for a client's server, like those by which
/// devices are enrolled, and make and show users by the operations of our own API.
extension CotterDoor {
    func addRecords(to table: inout RouteTable) {
        add(.post, "/user/create", to: &table) { [self] in try await createUser($0, $1) }
        add(.get, "/user", to: &table) { [self] in try await findUser($0, $1) }
        add(.get, "/user/:user", to: &table) { [self] in try await showUser($0, $1) }
    }

    /// The client that calls, if it may make and read users.
    private static func authorized(_ caller: Caller) throws(CotterError) -> ClientCaller {
        // check: CotterRecordTests.publicClients
        guard caller.isAuthenticated && caller.client.rights.contains(.users) else {
            throw CotterError(
                .apiKey, "only a client that keeps a secret, and shows it, makes and reads users by this call")
        }
        return ClientCaller(forOneRequest: caller.client)
    }

    /// The address is the client's word, and nobody's proof; nobody signs in by this, so that there are no tokens.
    private func createUser(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let credential = try Self.authorized(caller)
        let body = try body(of: incoming)
        let (name, text) = (try Self.text("client_user_id", in: body), try Self.text("identifier", in: body))
        let externalID = name.flatMap { try? ExternalID($0) }
        guard (externalID == nil) == (name == nil) else { throw CotterError.malformed("client_user_id") }
        let address = text.flatMap { PersonalAddress(typed: $0) }
        // Who is called nothing could be found by none of these calls.
        guard (address == nil) == (text == nil), name != nil || text != nil else {
            throw CotterError.malformed("identifier")
        }
        // Old apps for React Native send an empty list; what it held is not known.
        guard body["identifiers"]?.array?.isEmpty ?? true else { throw CotterError.malformed("identifiers") }
        let outcome = try await CreateCalledUser.create(
            externalID: externalID, Self.claimed(address), by: credential, ports: ports)
        switch outcome {
        case .created(let user):
            return Response(
                json: Self.json(
                    user.id, called: user.externalID, identifier: address.map { "\($0)" } ?? "", for: caller))
        case .externalIDTaken, .addressTaken: throw CotterError(.notPossible, "User already exists")
        }
    }

    private func showUser(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let client = try Self.authorized(caller).client
        guard let id = try await FindCalledUser.find(incoming.parameter("user") ?? "", of: client, ports: ports),
            case .user(let user, let known, _) = try await ShowUser.show(.id(id), to: client, ports: ports)
        else { throw Self.noUser }
        let address = (known[.email] ?? known[.phone])?.address
        return Response(
            json: Self.json(user.id, called: user.externalID, identifier: address.map { "\($0)" } ?? "", for: caller))
    }

    private func findUser(_ incoming: Incoming, _ caller: Caller) async throws -> Response {
        let client = try Self.authorized(caller).client
        guard let text = incoming.query["identifier"], !text.isEmpty else { throw CotterError.malformed("identifier") }
        guard let address = PersonalAddress(typed: text),
            let id = try await FindUserByAddress.find(address, of: client, ports: ports),
            case .user(let user, _, _) = try await ShowUser.show(.id(id), to: client, ports: ports)
        else { throw Self.noUser }
        return Response(json: Self.json(user.id, called: user.externalID, identifier: "\(address)", for: caller))
    }

    /// A text of a request; nil for none, for which old apps send an empty one.
    private static func text(_ name: String, in body: JSONObject) throws(CotterError) -> String? {
        switch body[name] {
        case nil, .null?, .string("")?: return nil
        case .string(let text)?: return text
        default: throw .malformed(name)
        }
    }

    private static func claimed(_ address: PersonalAddress?) -> ClaimedAddresses {
        switch address {
        case .email(let email)?: ClaimedAddresses(email: email)
        case .phone(let phone)?: ClaimedAddresses(phone: phone)
        case nil: ClaimedAddresses()
        }
    }
}
