import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE

/// The call by which an app gets the address that a person has proved, and tokens.
extension CotterDoor {
    func addIdentity(to table: inout RouteTable) {
        addShared("\(Self.path)/verify/get_identity", to: &table) { [self] incoming in
            let caller = try await caller(of: incoming)
            let request = try Self.redemption(try body(of: incoming))
            // Before the code is spent: another server may just have made the key.
            guard let signer = try ports.keys.current().tokens.cotter else { throw StoreError.unavailable }
            switch try await RedeemCode.redeem(request, by: caller.client.id, ports: ports) {
            case .redeemed(let given):
                guard let proved = given.proved else { throw CotterError.expired }
                return (try await identity(proved, given, for: caller, by: signer), caller.client.id)
            case .invalid, .unknownResource: throw CotterError.expired
            case .unproved: throw Self.bound
            case .clientGone: throw CotterError.apiKey
            }
        }
    }

    /// A client that binds tokens to keys gets none by these calls, which have no place for a proof.
    static let bound = CotterError(
        .notPossible, "the client's tokens are bound to keys, which these calls cannot prove")

    private static func redemption(_ body: JSONObject) throws(CotterError) -> RedeemCode.Request {
        guard let code = body["authorization_code"]?.string else { throw .malformed("authorization_code") }
        guard let verifier = body["code_verifier"]?.string else { throw .malformed("code_verifier") }
        guard let uri = body["redirect_url"]?.string else { throw .malformed("redirect_url") }
        let challenge = body["challenge_id"]
        // Apps read it from the query of their redirect URI, and some send it on as a text.
        guard let number = challenge?.integer ?? challenge?.string.flatMap({ Int64($0) }) else {
            throw .malformed("challenge_id")
        }
        let secret = Secret(code)
        // check: CotterIdentityTests.refused
        guard number == CotterChallenge.id(of: secret) else { throw .expired }
        return RedeemCode.Request(code: secret, redirectURI: uri, verifier: Secret(verifier), isCotter: true)
    }

    private func identity(
        _ proved: ProvedAddress, _ given: UnsignedTokens, for caller: Caller, by signer: PrivateJWK
    ) async throws -> Response {
        let tokens = try await SignTokens.sign(given, ports: ports)
        let authentication = given.family.authentication
        let token = try await CotterIdentityToken(
            identifier: proved.identifier, receiver: caller.key, at: ports.time.now
        ).json(signedBy: signer)
        let user = try await userJSON(authentication.user, named: "\(proved.identifier.address)", for: caller)
        return Response(
            json: [
                "identifier": proved.cotterJSON(at: authentication.at),
                "oauth_token": tokens.cotterJSON(of: authentication),
                "token": token, "user": user,
            ])
    }

    /// A user as apps that were written for Cotter know them, with the client's own name as it is now.
    func userJSON(
        _ user: UserID, named identifier: String, enrolled methods: [String] = [], for caller: Caller
    ) async throws -> JSONValue {
        var name: ExternalID?
        if case .user(let linked, _, _) = try await ShowUser.show(.id(user), to: caller.client, ports: ports) {
            name = linked.externalID
        }
        return Self.json(user, called: name, identifier: identifier, enrolled: methods, for: caller)
    }

    /// A user as apps that were written for Cotter know them.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - name: the client's own name for the user; nil for none.
    ///   - identifier: the address; empty for none.
    ///   - methods: what the reply says to be enrolled.
    ///   - caller: the client that calls.
    static func json(
        _ user: UserID, called name: ExternalID?, identifier: String, enrolled methods: [String] = [],
        for caller: Caller
    ) -> JSONValue {
        let time = JSONValue.string("\(user.time)")
        return [
            "ID": .string("\(user)"), "created_at": time, "updated_at": time, "update_at": time,
            "deleted_at": CotterTime.never, "issuer": .string(caller.key),
            "client_user_id": .string(name?.text ?? ""), "identifier": .string(identifier),
            "enrolled": .array(methods.map(JSONValue.string)), "default_method": "",
        ]
    }
}

/// The times that Cotter's replies have besides those that there are.
enum CotterTime {
    /// What stands where nothing has happened.
    static let never: JSONValue = "0001-01-01T00:00:00Z"
    /// For how long a browser was known at Cotter.
    static let known = Seconds.days(30)
}

/// The statement, signed by Ed25519, that a person has proved an address.
///
/// What is signed are the four texts one after the other. An address has no digits and letters of ours at its end that
/// could be read otherwise: a mail address ends with a domain and a number with digits, before a word in capital letters.
struct CotterIdentityToken: Sendable {
    let identifier: VerifiedIdentifier
    /// The client that may rely on it, as it has written its id.
    let receiver: String
    let now: Timestamp

    init(identifier: VerifiedIdentifier, receiver: String, at now: Timestamp) {
        self.identifier = identifier
        self.receiver = receiver
        self.now = now
    }

    /// When it ends, in seconds since 1970.
    private var end: String { "\(now.adding(TokenLifetimes.identity).seconds)" }

    /// What is signed.
    var signed: String {
        "\(identifier.address)\(identifier.address.kind.cotterName)\(receiver)\(end)"
    }

    /// The most octets of a user's name in an event.
    private static let longestName = 1024

    /// Whether an event may name a user so.
    ///
    /// The same key signs events, and the name, which anybody may write, is the first of their texts. So it must not
    /// hold what could be read as an address, its kind and a receiver: a careless reader would take the rest, at which
    /// no number stands, for a time.
    ///
    /// - Parameter name: the user, as an app names them.
    static func leavesRoom(toEventsOf name: String) -> Bool {
        let octets = Array(name.utf8)
        return octets.count <= longestName
            && !PersonalAddress.Kind.allCases.contains { kind in
                let word = Array(kind.cotterName.utf8)
                return octets.indices.contains { octets[$0...].starts(with: word) }
            }
    }

    func json(signedBy key: PrivateJWK) async throws -> JSONValue {
        let signature = try await key.jwsSignature(of: Array(signed.utf8))
        return [
            "identifier_id": .string(identifier.id.uuid), "expire_at": .string(end),
            "identifier": .string("\(identifier.address)"),
            "identifier_type": .string(identifier.address.kind.cotterName), "receiver": .string(receiver),
            "signature": .string(Base64.encode(signature)), "timestamp": .string("\(now.seconds)"),
        ]
    }
}

extension ProvedAddress {
    /// The address and the browser in which it was proved.
    ///
    /// `expiry` is what it was at Cotter, where a browser needed no code until then. Here it says nothing. `public_key` is
    /// there because some clients read nothing without it.
    fileprivate func cotterJSON(at time: Timestamp) -> JSONValue {
        let when = JSONValue.string("\(time)")
        return [
            "ID": .string(identifier.id.uuid), "created_at": .string("\(identifier.verifiedAt)"), "updated_at": when,
            "update_at": when, "deleted_at": CotterTime.never, "identifier": .string("\(identifier.address)"),
            "identifier_type": .string(identifier.address.kind.cotterName), "public_key": "",
            "device_type": "BROWSER", "device_name": .string(userAgent ?? ""),
            "expiry": .string("\(time.adding(CotterTime.known))"), "timestamp": when,
        ]
    }
}
