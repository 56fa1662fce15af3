import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE

/// The call by which tokens are refreshed, and the keys that verify what is signed.
extension CotterDoor {
    func addTokens(to table: inout RouteTable) {
        addShared("\(Self.path)/token", to: &table) { [self] in try await refresh($0) }
        addShared("\(Self.path)/token/:key", to: &table) { [self] in try await refresh($0) }
        table.add(.get, "\(Self.path)/token/jwks") { [self] request, context in
            _ = try await Incoming(request, context)
            let isOn = try await VendorSwitch.isOn(.cotter, ports: ports)
            // check: CotterSwitchTests.keys
            guard isOn else { throw RequestFailure.unknownPath }
            let tokens = try ports.keys.current().tokens
            // Tokens are verified by the first key in some clients: those of tokens come first.
            var response = Response(json: JWKSet(tokens.published.keys + tokens.publishedForCotter.keys).json)
            response.headers[.cacheControl] = "public, max-age=3600"
            response.headers[.accessControlAllowOrigin] = "*"
            return response
        }
    }

    private func refresh(_ incoming: Incoming) async throws -> (Response, ClientID) {
        let caller = try await caller(of: incoming)
        // check: CotterTokenTests.refused
        guard incoming.parameter("key").map({ ClientID(cotter: $0) == caller.client.id }) ?? true else {
            throw CotterError.apiKey
        }
        let body = try body(of: incoming)
        // check: CotterTokenTests.refused
        guard body["grant_type"] == "refresh_token" else { throw CotterError.malformed("grant_type") }
        guard let token = body["refresh_token"]?.string else { throw CotterError.malformed("refresh_token") }
        switch try await RefreshTokens.refresh(Secret(token), scopes: nil, by: caller.client.id, ports: ports) {
        case .refreshed(let given):
            let tokens = try await SignTokens.sign(given, ports: ports)
            return (Response(json: tokens.cotterJSON(of: given.family.authentication)), caller.client.id)
        case .invalid, .scopeExceeded, .nothing, .unknownResource:
            throw CotterError(.refreshToken, "The refresh token is not valid")
        case .unproved: throw Self.bound
        case .clientGone: throw CotterError.apiKey
        }
    }
}

extension SignedTokens {
    /// The tokens in Cotter's form.
    ///
    /// - Parameter authentication: how the person has signed in.
    func cotterJSON(of authentication: Authentication) -> JSONValue {
        [
            "access_token": .string(access.reveal()), "id_token": .string(identity?.reveal() ?? ""),
            "refresh_token": .string(refresh?.reveal() ?? ""), "expires_in": .integer(expiresIn.value),
            "token_type": "Bearer", "auth_method": .string(authentication.cotterMethod),
        ]
    }
}

extension Authentication {
    /// Cotter's word for how somebody has signed in: a code and the link beside it are one mail.
    var cotterMethod: String {
        switch evidence {
        case .code: "OTP"
        case .passkey: "WEBAUTHN"
        case .approval: "TRUSTED_DEVICE"
        }
    }
}
