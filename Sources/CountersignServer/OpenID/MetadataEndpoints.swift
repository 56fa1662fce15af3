import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE

/// What the provider says of itself, and the keys that verify its tokens.
extension OAuthDoor {
    func addMetadata(to table: inout RouteTable) {
        var members = Self.metadata(of: ports.issuer).object ?? JSONObject()
        for member in Self.backchannelMetadata(of: ports.issuer).members { members[member.name] = member.value }
        let metadata = withCertificates(.object(members)).encoded
        // Spec: OpenID Connect Discovery 1.0 §4, RFC 8414 §3, RFC 9728 §3.
        let documents = [
            "/.well-known/openid-configuration": metadata, "/.well-known/oauth-authorization-server": metadata,
            "/.well-known/oauth-protected-resource": withCertificates(Self.resourceMetadata(of: ports.issuer)).encoded,
        ]
        for (path, metadata) in documents {
            table.add(.get, path) { request, context in
                _ = try await Incoming(request, context)
                var response = Response(bytes: metadata, type: "application/json")
                response.headers[.cacheControl] = "public, max-age=3600"
                // What everybody may know, every page's script may read.
                response.headers[.accessControlAllowOrigin] = "*"
                return response
            }
        }
        // Spec: RFC 7517 §5.
        table.add(.get, "/oauth2/jwks") { [ports] request, context in
            _ = try await Incoming(request, context)
            var response = Response(json: try ports.keys.current().tokens.published.json)
            response.headers[.contentType] = "application/jwk-set+json"
            // A key is published a day before it signs, so a copy of an hour always has it.
            response.headers[.cacheControl] = "public, max-age=3600"
            response.headers[.accessControlAllowOrigin] = "*"
            return response
        }
    }

    /// What we say of ourselves as a resource, which is userinfo and our own API, so that a program that knows the
    /// address alone finds who gives tokens for it.
    ///
    /// Of the ways to send a token it names the one that works everywhere: a form is taken at userinfo alone. Spec: RFC
    /// 9728 §2, RFC 6750 §2.1, §2.2.
    private static func resourceMetadata(of issuer: Issuer) -> JSONValue {
        [
            "resource": .string("\(issuer)"), "authorization_servers": [.string("\(issuer)")],
            "jwks_uri": .string("\(issuer)/oauth2/jwks"), "bearer_methods_supported": ["header"],
            "scopes_supported": .array(
                (Right.allCases.map(\.rawValue) + OwnScopes.all).map(JSONValue.string)),
            "dpop_signing_alg_values_supported": proofAlgorithms,
            "resource_documentation": .string("\(issuer)/v1/openapi.json"),
        ]
    }

    private static func metadata(of issuer: Issuer) -> JSONValue {
        let strengths = Authentication.Strength.allCases.filter { issuer.hasPasskeys || $0 < .phishingResistant }
        let confidential: [JSONValue] = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
        let algorithms: JSONValue = ["ES256", "PS256", "RS256", "EdDSA"]
        return [
            "issuer": .string("\(issuer)"), "authorization_endpoint": .string("\(issuer)/oauth2/authorize"),
            "token_endpoint": .string("\(issuer)/oauth2/token"),
            // Spec: RFC 9126 §5.
            "pushed_authorization_request_endpoint": .string("\(issuer)/oauth2/par"),
            "require_pushed_authorization_requests": false,
            "userinfo_endpoint": .string("\(issuer)/oauth2/userinfo"), "jwks_uri": .string("\(issuer)/oauth2/jwks"),
            "scopes_supported": .array(OwnScopes.all.map(JSONValue.string)),
            "response_types_supported": ["code"], "response_modes_supported": ["query", "form_post"],
            "grant_types_supported": [
                "authorization_code", "refresh_token", "client_credentials", .string(DeviceAssertion.grantType),
                .string(deviceGrantType), .string(backchannelGrantType),
            ],
            "device_authorization_endpoint": .string("\(issuer)\(deviceAuthorizationPath)"),
            "introspection_endpoint": .string("\(issuer)/oauth2/introspect"),
            "revocation_endpoint": .string("\(issuer)/oauth2/revoke"),
            "end_session_endpoint": .string("\(issuer)\(SignInDoor.logoutPath)"),
            "backchannel_logout_supported": true, "backchannel_logout_session_supported": true,
            "introspection_endpoint_auth_methods_supported": .array(confidential),
            "introspection_endpoint_auth_signing_alg_values_supported": algorithms,
            "introspection_signing_alg_values_supported": ["RS256", "ES256"],
            "revocation_endpoint_auth_methods_supported": .array(confidential + ["none"]),
            "revocation_endpoint_auth_signing_alg_values_supported": algorithms,
            "acr_values_supported": .array(strengths.map { .string($0.rawValue) }),
            "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256", "ES256"],
            "token_endpoint_auth_methods_supported": .array(confidential + ["none"]),
            "token_endpoint_auth_signing_alg_values_supported": algorithms,
            "claims_supported": [
                "sub", "iss", "aud", "exp", "iat", "auth_time", "acr", "amr", "nonce", "sid", "at_hash", "email",
                "email_verified", "phone_number", "phone_number_verified",
            ],
            "prompt_values_supported": ["none", "login", "consent", "select_account"],
            "ui_locales_supported": ["en", "de"],
            "code_challenge_methods_supported": ["S256"], "claims_parameter_supported": true,
            // Spec: RFC 9101 §10.5.
            "request_parameter_supported": true, "request_object_signing_alg_values_supported": algorithms,
            "require_signed_request_object": false, "request_uri_parameter_supported": false,
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": proofAlgorithms,
        ]
    }

    /// Spec: RFC 9449 §5.1, RFC 9728 §2.
    private static let proofAlgorithms = JSONValue.array(KeyProof.algorithms.map { .string($0.rawValue) })
}
