import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes

/// How clients authenticate whose requests are forms, at whichever door.
extension DoorResources {
    /// The client that calls: by its secret in the header or in the form, by an assertion, by the certificate of its
    /// connection or, if it keeps no secret, by its id; with its settings, if it uses the provider.
    ///
    /// Spec: RFC 6749 §2.3.1, §3.2.1; RFC 8705 §2.
    ///
    /// - Parameters:
    ///   - incoming: the request.
    ///   - form: its form.
    ///   - mayBePublic: whether a client that keeps no secret may call.
    func caller(
        of incoming: Incoming, _ form: FormFields, mayBePublic: Bool = true
    ) async throws -> (client: Client, party: RelyingParty?) {
        let header = incoming.headers[.authorization]
        if let assertion = form["client_assertion"] {
            // check: ClientKeyTests.refused
            guard header == nil, form["client_secret"] == nil else {
                throw OAuthError(.invalidRequest, "the client must authenticate in one way only")
            }
            return try await client(of: incoming, form, asserting: Secret(assertion))
        }
        guard
            let pair = try header.map({ try Self.basic($0) })
                ?? form["client_secret"].map({ secret in
                    (form["client_id"] ?? "", Secret(secret))
                })
        else { return try await bareClient(form["client_id"], of: incoming, mayBePublic: mayBePublic) }
        // check: TokenTests.authentication
        guard header == nil || form["client_secret"] == nil else {
            throw OAuthError(.invalidRequest, "the client must authenticate in one way only")
        }
        let (id, secret) = pair
        // check: TokenTests.authentication
        guard form["client_id"].map({ $0.hasSameBytes(as: id) }) ?? true else {
            throw OAuthError(.invalidRequest, "client_id is not that of the header")
        }
        let (authentication, party) = try await relyingParty(id, secret: secret, from: incoming.context)
        guard case .client(let caller) = authentication else {
            throw Self.refusal(authentication, "the client's id and secret do not fit")
        }
        // A client with a certificate or keys has given up its secret here: whoever finds one has nothing. Beside a
        // certificate keys only sign requests.
        // check: CertificateClientTests.oneWay
        guard party?.certificate == nil else { throw Self.certificateMissing }
        // check: ClientKeyTests.signsIn
        guard party?.hasKeys != true else {
            throw OAuthError(.invalidClient, "the client must authenticate by its key")
        }
        return (caller.client, party)
    }

    private static let certificateMissing = OAuthError(
        .invalidClient, "the client must authenticate by its certificate in TLS")

    private static func refusal(_ failure: ClientAuthentication, _ description: String) -> OAuthError {
        guard case .tooManyFailures(let seconds) = failure else { return OAuthError(.invalidClient, description) }
        return OAuthError(.temporarilyUnavailable, "too many wrong secrets", status: 429, retryAfter: seconds.value)
    }

    /// The client that has signed an assertion, which may be for the issuer, for the token endpoint, or for the
    /// endpoint that it was sent to, each at either of its addresses.
    ///
    /// Spec: RFC 7521 §4.2, RFC 7523 §2.2 and §3, RFC 8705 §5.
    private func client(
        of incoming: Incoming, _ form: FormFields, asserting assertion: Secret<String>
    ) async throws -> (client: Client, party: RelyingParty?) {
        guard form["client_assertion_type"] == AuthenticateByKey.assertionType else {
            throw OAuthError(.invalidClient, "client_assertion_type is missing or not known")
        }
        let path = String(incoming.target.prefix { $0 != "?" })
        let endpoints = [ports.issuer, ports.certificateURL].compactMap(\.self)
            .flatMap { [$0.uri("/oauth2/token"), $0.uri(path)] }
        let audiences = ["\(ports.issuer)"] + endpoints
        let description = "the assertion is not good, or not for this server"
        switch try await AuthenticateByKey.authenticate(assertion, for: audiences, ports: ports) {
        case .authenticated(let client, let party):
            // check: ClientKeyTests.refused
            guard client.disabledAt == nil, form["client_id"].map({ $0.hasSameBytes(as: "\(client.id)") }) ?? true
            else {
                throw OAuthError(.invalidClient, description)
            }
            return (client, party)
        case .refused: throw Self.refusal(try await failed(from: incoming.context), description)
        }
    }

    /// The client that a request only names: it keeps no secret, or its connection has its certificate.
    private func bareClient(
        _ text: String?, of incoming: Incoming, mayBePublic: Bool
    ) async throws -> (client: Client, party: RelyingParty?) {
        let refusal = OAuthError(.invalidClient, "the client must authenticate")
        guard let id = text.flatMap({ ClientID($0) }),
            case .shown(let client, let party) = try await ShowRelyingParty.show(id, ports: ports)
        else { throw refusal }
        guard party.certificate != nil else {
            guard mayBePublic, !party.profile.isConfidential else { throw refusal }
            return (client, party)
        }
        guard let certificate = incoming.context.certificate else { throw Self.certificateMissing }
        switch AuthenticateByCertificate.authenticate(client, party, by: certificate) {
        case .authenticated: return (client, party)
        case .refused:
            throw Self.refusal(
                try await failed(from: incoming.context), "the certificate is not the client's")
        }
    }

    /// The id and the secret of a field Authorization.
    private static func basic(_ field: String) throws(OAuthError) -> (String, Secret<String>) {
        let parts = field.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "basic", let pair = Incoming.basicCredentials(parts[1]) else {
            throw OAuthError(.invalidClient, "the field Authorization is malformed")
        }
        return pair
    }
}
