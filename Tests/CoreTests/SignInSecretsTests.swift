import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The secrets of a sign-in have their form")
struct SignInSecretsTests {
    private static let letters = String(repeating: "v", count: 42)

    @Test(
        "RFC 7636 §4.1: a verifier of other than 43 to 128 unreserved characters is refused, though it fits",
        arguments: [
            (letters, false), ("\(letters)v", true), (String(repeating: "v", count: 128), true),
            (String(repeating: "v", count: 129), false), ("\(letters)-._~AZaz09", true), ("\(letters)+", false),
            ("\(letters)/", false), ("\(letters)=", false), ("\(letters) ", false), ("\(letters)\u{E4}", false),
            ("", false),
        ])
    func verifiers(_ verifier: String, _ isTaken: Bool) async throws {
        let scene = try await SignInScene()
        var wanted = try scene.wanted()
        wanted.codeChallenge = Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8))))
        guard case .asked(let asked) = try await scene.ask(wanted, by: .device) else { throw World.Broken("ask") }
        try await scene.approve(asked)
        guard case .finished(let finished) = try await scene.finish(asked) else { throw World.Broken("finish") }
        let outcome = try await scene.redeem(finished.code, verifier: verifier)
        if case .redeemed = outcome { #expect(isTaken) } else { #expect(outcome == .invalid && !isTaken) }
    }

    // Spec: RFC 7636 §4.4; OWASP ASVS 7.2.3.
    @Test("A code and the value of a session's cookie are 256 random bits, new each time")
    func lengths() async throws {
        let scene = try await SignInScene()
        var seen: Set<String> = []
        for _ in 0..<3 {
            let finished = try await scene.signedIn()
            for secret in [finished.code, try #require(finished.session).secret] {
                #expect(Base64URL.decode(secret.reveal())?.count == 32)
                seen.insert(secret.reveal())
            }
        }
        #expect(seen.count == 6)
    }
}
