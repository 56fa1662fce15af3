import BenchmarkSupport
import CountersignWire
import Encodings

/// An authorization code.
struct Code: Sendable {
    /// How old a code may be when it is redeemed.
    static let oldest = Duration.seconds(40)

    let text: String
    let verifier: String
    /// When it was asked for; it is no older.
    let at: ContinuousClock.Instant

    /// A new code verifier.
    static var newVerifier: String { Base64URL.encode((0..<32).map { _ in UInt8.random(in: 0...(.max)) }) }

    /// The code that a browser takes to the client.
    init(_ exchange: Exchange, verifier: String, at issuer: String) throws {
        let location = exchange.reply.field("location") ?? ""
        let query = FormText.fields(in: location.drop { $0 != "?" }.dropFirst()) ?? []
        func value(_ name: String) -> String? { query.first { $0.name == name }?.value }
        guard location.hasPrefix("\(Party.redirectURI)?"), let code = value("code"),
            value("state") == String(verifier.prefix(22)), value("iss") == issuer
        else { throw Unexpected(description: "instead of a code: \(location)") }
        (text, self.verifier, at) = (code, verifier, exchange.at)
    }
}
