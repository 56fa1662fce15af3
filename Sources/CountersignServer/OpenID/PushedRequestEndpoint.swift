import CountersignCore
import CountersignWire
import Encodings
import Hummingbird

/// Where a client pushes what it will send a browser for, so that no browser carries it.
///
/// Spec: RFC 9126 §2.
extension OAuthDoor {
    func addPushedRequests(to table: inout RouteTable) {
        addShared(.post, "/oauth2/par", to: &table) { [self] incoming in
            let form = try FormFields(form: incoming)
            let key = try provedKey(of: incoming)
            let (calling, party) = try await caller(of: incoming, form)
            let client = calling.id
            // The code would be for the key, and the tokens for the certificate.
            // check: CertificateBoundTests.pushedWithProof
            guard key == nil || party?.bindsToCertificate != true else { throw Self.proofBesideCertificate }
            let seconds = try await PushedRequest.count(by: client, from: incoming.context.network, ports: ports)
            if let seconds {
                throw OAuthError(
                    .temporarilyUnavailable, "too many requests", status: 429, retryAfter: seconds.value)
            }
            return (withNonce(try await push(form, by: client, with: key), for: key), client)
        }
    }

    /// Spec: RFC 9126 §2.1, §2.2.
    private func push(_ form: FormFields, by client: ClientID, with key: ProvedKey?) async throws -> Response {
        // check: PushedRequestTests.refused
        guard form["request_uri"] == nil else {
            throw OAuthError(.invalidRequest, "request_uri must not be pushed")
        }
        // A client that has authenticated need not name itself again; another's name was refused.
        let named = form.setting("client_id", to: "\(client)")
        let (passed, sent) = try await AuthorizationChecks.check(pushed: named, ports: ports)
        var checked = sent
        if let key, case .key(let thumbprint) = key.thumbprint {
            // The code will be good for the holder of this key alone. Spec: RFC 9449 §10.1.
            // check: PushedRequestTests.bound
            guard checked["dpop_jkt"] == nil || checked["dpop_jkt"] == thumbprint else {
                throw OAuthError(.invalidDPoPProof, "the proof is by another key than dpop_jkt names")
            }
            let isFirst = try await PushedRequest.spend(key, of: client, ports: ports)
            // check: PushedRequestTests.proofOnce
            guard isFirst else { throw OAuthError(KeyProofRefusal.replayed, ports: ports) }
            checked = checked.setting("dpop_jkt", to: thumbprint)
        }
        let parameters = checked.query(of: AuthorizationChecks.parameters)
        let isStrict = passed.wanted.isStrict
        guard let uri = try PushedRequest.seal(parameters, of: client, isStrict: isStrict, ports: ports) else {
            throw OAuthError(.invalidRequest, "the request is too long", status: 413)
        }
        return Response(
            json: ["request_uri": .string(uri), "expires_in": .integer(PushedRequest.lifetime.value)], status: 201)
    }
}
