import CountersignWire
import Crypto
import Encodings
import JOSE
import NIOHTTP1
import ServerTestSupport
import Synchronization

@testable import CountersignServer

/// A client's key over HTTP: it keeps the nonce that the server has given last, as a client does.
final class TestKey: Sendable {
    let server: TestServer
    let key = P256.Signing.PrivateKey()
    private let nonce = Mutex<String?>(nil)

    init(_ server: TestServer) { self.server = server }

    var thumbprint: String { key.jwsPublicKey.thumbprint }

    /// A proof for a request.
    func proof(
        _ method: HTTPMethod, _ path: String, for token: String? = nil, at issuer: String? = nil
    ) async throws -> String {
        try await KeyProof(
            method: method.rawValue, uri: (issuer ?? "\(server.issuer)") + path,
            named: "\(UInt64.random(in: 0...(.max)))", at: server.clock.now, nonce: nonce.withLock { $0 },
            for: token.map { Secret($0) }
        ).signed(by: key)
    }

    /// Sends a request with proofs, which gets a nonce first if the server wants another one.
    func send(
        _ method: HTTPMethod, _ path: String, _ fields: [(String, String)]? = nil, token: String? = nil,
        headers: [(String, String)] = []
    ) async throws -> Reply {
        let reply = try await sendOnce(method, path, fields, token: token, headers: headers)
        guard let given = reply.headers["dpop-nonce"] else { return reply }
        nonce.withLock { $0 = given }
        let isWanted =
            reply.json["error"] == "use_dpop_nonce"
            || reply.headers["www-authenticate"]?.contains("use_dpop_nonce") == true
        return isWanted ? try await sendOnce(method, path, fields, token: token, headers: headers) : reply
    }

    private func sendOnce(
        _ method: HTTPMethod, _ path: String, _ fields: [(String, String)]?, token: String?,
        headers: [(String, String)]
    ) async throws -> Reply {
        var sent = headers + [("DPoP", try await proof(method, path, for: token))]
        if let token { sent.append(("Authorization", "DPoP \(token)")) }
        if fields != nil { sent.append(("Content-Type", "application/x-www-form-urlencoded")) }
        return try await server.send(
            method, path, headers: sent, body: fields.map { Array(FormText.encoded($0).utf8) },
            isContract: !path.hasPrefix("/oauth2/"))
    }
}

extension SignInPageScene {
    /// The client's secret as a field.
    var basic: (String, String) {
        ("Authorization", "Basic \(Base64.encode(Array("\(credential.id):\(credential.secret)".utf8)))")
    }

    func redeemFields(_ code: String) -> [(String, String)] {
        [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", Self.redirectURI),
            ("code_verifier", Self.verifier),
        ]
    }
}
