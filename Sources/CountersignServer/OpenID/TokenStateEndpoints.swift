import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// The endpoints that say whether a token is good, and take it back.
extension OAuthDoor {
    func addTokenState(to table: inout RouteTable) {
        // Spec: RFC 7662 §2.
        table.add(.post, "/oauth2/introspect") { [self] request, context in
            let incoming = try await Incoming(request, context)
            let (client, token) = try await tokenRequest(incoming, mayBePublic: false)
            let state: JSONValue =
                switch try await IntrospectToken.introspect(token, by: client, ports: ports) {
                case .access(let access): try describe(access.family, access.scopes, access)
                case .client(let access): describe(access)
                case .refresh(let family): try describe(family, family.scopes, nil)
                case .inactive: ["active": false]
                }
            // Spec: RFC 9701 §4, §5.
            if incoming.prefers(Self.signedState),
                let signed = try await SignTokenState.sign(state, for: client, ports: ports)
            {
                return Response(bytes: Array(signed.utf8), type: Self.signedState)
            }
            return Response(json: state)
        }
        // Spec: RFC 7009 §2.
        addShared(.post, "/oauth2/revoke", to: &table) { [self] incoming in
            let (client, token) = try await tokenRequest(incoming, mayBePublic: true)
            if let response = try await cancelDeviceGrant(token, by: client) { return (response, client) }
            switch try await RevokeToken.revoke(token, by: client, ports: ports) {
            case .revoked: return (Response(status: .ok), client)
            case .notYours: throw OAuthError(.invalidGrant, "the token was given to another client")
            }
        }
    }

    private static let signedState = "application/\(SignTokenState.type)"

    /// The authenticated client, and the token that it asks about; a hint of the token's type is not needed.
    private func tokenRequest(
        _ incoming: Incoming, mayBePublic: Bool
    ) async throws -> (ClientID, Secret<String>) {
        let form = try FormFields(form: incoming)
        let client = try await client(of: incoming, form, mayBePublic: mayBePublic)
        guard let token = form["token"] else { throw OAuthError(.invalidRequest, "token is missing") }
        return (client, Secret(token))
    }

    /// Spec: RFC 7662 §2.2.
    private func describe(_ access: VerifiedOwnAccess) -> JSONValue {
        .members([
            "active": true, "scope": .string(access.scopes.joined(separator: " ")),
            "client_id": .string("\(access.client)"),
            "token_type": .string(Self.tokenType(boundTo: access.keyThumbprint)), "sub": .string("\(access.client)"),
            "iss": .string("\(ports.issuer)"), "aud": .string(ports.issuer.audience(of: access.resource)),
            "iat": .integer(access.token.issuedAt.seconds), "exp": .integer(access.token.expiresAt.seconds),
            "jti": .string(access.token.jti),
            "cnf": access.keyThumbprint.map { SignTokens.confirmation(of: $0) },
        ])
    }

    /// Spec: RFC 9449 §5, §6.2.
    private static func tokenType(boundTo key: KeyThumbprint?) -> String { key?.isProved == true ? "DPoP" : "Bearer" }

    /// Spec: RFC 7662 §2.2; RFC 9396 §9.2.
    private func describe(
        _ family: TokenFamily, _ scopes: [String], _ access: VerifiedAccess?
    ) throws -> JSONValue {
        .members([
            "active": true, "scope": .string(scopes.joined(separator: " ")), "client_id": .string("\(family.client)"),
            "token_type": access.map { .string(Self.tokenType(boundTo: $0.keyThumbprint)) },
            "sub": .string("\(family.user)"),
            "iss": .string("\(ports.issuer)"),
            "aud": .string(ports.issuer.audience(of: access?.resource)),
            "iat": .integer((access?.issuedAt ?? family.createdAt).seconds),
            "exp": .integer((access?.expiresAt ?? min(family.idleUntil, family.expiresAt)).seconds),
            "jti": access.map { .string($0.jti) }, "auth_time": .integer(family.authentication.at.seconds),
            "acr": .string(family.authentication.strength.rawValue),
            "amr": .array(family.authentication.methods.map(JSONValue.string)),
            "cnf": access?.keyThumbprint.map { SignTokens.confirmation(of: $0) },
            AuthorizationDetails.parameter: try family.details(ports: ports),
        ])
    }
}
