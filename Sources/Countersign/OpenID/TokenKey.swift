import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE

/// The key to which the tokens of one sign-in are bound: nobody can use a token without it, whoever may copy one.
///
/// Each sign-in has a key of its own, which is no key of an enrollment, and is kept with the tokens.
///
/// Spec: docs/protocol/signing-in.md, *Tokens that are bound to a key*.
struct TokenKey: Sendable {
    /// The key itself.
    let key: PrivateJWK
    /// What servers have said of proofs.
    let told: ProofMemory
    private let clock: any DeviceClock

    init(_ key: PrivateJWK, told: ProofMemory, clock: any DeviceClock) {
        self.key = key
        self.told = told
        self.clock = clock
    }

    /// The thumbprint of the key.
    var thumbprint: String { key.publicKey.thumbprint }

    /// A proof for one request, which no other proof is like.
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - url: its address.
    ///   - token: the access token that it shows; nil for none.
    ///   - nonce: the nonce that the server wants; nil for the one that it has told last, if any.
    func proof(
        _ method: String, _ url: URL, for token: Secret<String>? = nil, nonce: String? = nil
    ) async throws(CountersignError) -> String {
        var generator = SystemRandomNumberGenerator()
        let known = await told.nonce(of: url)
        let correction = await told.correction
        let now = Timestamp(milliseconds: clock.millisecondsSince1970 + correction)
        let proof = KeyProof(
            method: method, uri: url.absoluteString,
            named: Base64URL.encode((0..<18).map { _ in generator.next() as UInt8 }), at: now, nonce: nonce ?? known,
            for: token)
        do {
            return try await proof.signed(by: key)
        } catch {
            throw .vault("\(error)")
        }
    }

    /// Notes what a reply says of proofs.
    ///
    /// - Returns: whether the server wants the request again, with a proof that has the nonce of this reply.
    func notes(_ response: TransportResponse, from url: URL) async -> Bool {
        await told.note(response, from: url, at: clock.millisecondsSince1970)
    }
}

/// What servers have said of the proofs that they want: a nonce each, and what time it is.
///
/// Spec: RFC 9449 §8.2, §9.
actor ProofMemory {
    /// The smallest and the largest difference, in milliseconds, by which the time of proofs is corrected.
    private static let corrected: ClosedRange<Int64> = 5_000...86_400_000
    /// How long a nonce may be, in bytes.
    private static let longestNonce = 1024

    private var nonces: [String: String] = [:]
    /// How many milliseconds the issuer's clock is ahead.
    ///
    /// A proof is good for a minute alone, by the server's clock.
    private(set) var correction: Int64 = 0

    /// The nonce that the server at an address has told last; nil for none.
    func nonce(of url: URL) -> String? { nonces[Self.origin(of: url)] }

    /// Notes what a reply says; see ``TokenKey/notes(_:from:)``.
    func note(_ response: TransportResponse, from url: URL, at now: Int64) -> Bool {
        guard let nonce = response.headers[KeyProof.nonceField.lowercased()],
            (1...Self.longestNonce).contains(nonce.utf8.count),
            // Spec: RFC 9449 §8.1.
            nonce.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return false }
        nonces[Self.origin(of: url)] = nonce
        guard response.proofError == "use_dpop_nonce" else { return false }
        if let date = response.date {
            let difference = date.milliseconds - now
            correction = Self.corrected.contains(abs(difference)) ? difference : 0
        }
        return true
    }

    /// The scheme, the host and the port of an address.
    private static func origin(of url: URL) -> String {
        "\(url.scheme ?? "")://\(url.host() ?? ""):\(url.port.map { "\($0)" } ?? "")"
    }
}

extension TransportResponse {
    /// The code of the error by which a proof was refused; nil for any other reply.
    ///
    /// The token endpoint says it in its body, and whoever takes access tokens in a header field. Spec: RFC 9449 §5,
    /// §7.1, §8, §9.
    var proofError: String? {
        guard status == 400 || status == 401 else { return nil }
        let said = (try? JSONValue(parsing: body))?["error"]?.string
        return ["use_dpop_nonce", "invalid_dpop_proof"].first { code in
            said?.hasSameBytes(as: code) == true
                || headers["www-authenticate"]?.contains("error=\"\(code)\"") == true
        }
    }
}
