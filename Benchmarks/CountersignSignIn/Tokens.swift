import BenchmarkSupport
import Encodings

/// The tokens that a client got.
struct Tokens: Sendable {
    let access: String
    let identity: String
    let refresh: String

    /// Reads the reply of the token endpoint.
    private init(_ reply: PlainReply, signedBy algorithm: String) throws {
        let json = try JSONValue(parsing: reply.body)
        guard json["token_type"] == "Bearer", let access = json["access_token"]?.string,
            let identity = json["id_token"]?.string, let refresh = json["refresh_token"]?.string,
            let header = Base64URL.decode(identity.prefix { $0 != "." }),
            try JSONValue(parsing: header)["alg"] == .string(algorithm)
        else { throw Unexpected(description: "tokens: \(String(decoding: reply.body, as: UTF8.self))") }
        (self.access, self.identity, self.refresh) = (access, identity, refresh)
    }

    /// Reads replies, whose tokens must all be different.
    ///
    /// - Parameters:
    ///   - exchanges: the exchanges with the token endpoint.
    ///   - algorithm: how the ID tokens must be signed.
    static func all(_ exchanges: [Exchange], signedBy algorithm: String) throws -> [Tokens] {
        let all = try exchanges.map { try Tokens($0.reply, signedBy: algorithm) }
        for kind in [\Tokens.access, \.identity, \.refresh] {
            guard Set(all.map { $0[keyPath: kind] }).count == all.count else {
                throw Unexpected(description: "a token was given twice")
            }
        }
        return all
    }
}
