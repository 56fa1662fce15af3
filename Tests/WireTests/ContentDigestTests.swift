import CountersignWire
import Encodings
import Testing

@Suite("RFC 9530: the digest of a body")
struct ContentDigestTests {
    private static let body = Array("{\"hello\": \"world\"}\n".utf8)
    private static let digest = "RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="
    private static let other = "X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE="

    @Test("RFC 9530 Appendix B: the digest of the example")
    func vector() {
        #expect(ContentDigest.field(for: Self.body) == "sha-256=:\(Self.digest):")
        #expect(ContentDigest.matches("sha-256=:\(Self.digest):", body: Self.body))
    }

    @Test("RFC 9421 B.2: the same body without its newline has another digest")
    func exact() {
        #expect(ContentDigest.field(for: Self.body.dropLast()) == "sha-256=:\(Self.other):")
        #expect(!ContentDigest.matches("sha-256=:\(Self.digest):", body: Self.body.dropLast()))
        #expect(!ContentDigest.matches("sha-256=:\(Self.other):", body: Self.body))
    }

    @Test("The empty body has a digest like any other")
    func empty() {
        let field = "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"
        #expect(ContentDigest.field(for: []) == field)
        #expect(ContentDigest.matches(field, body: []))
        #expect(!ContentDigest.matches(field, body: [0]))
    }

    @Test("RFC 9530 §2: digests by other algorithms and parameters are not looked at, wherever they stand")
    func otherAlgorithms() {
        let right = "sha-256=:\(Self.digest):"
        for field in [
            "\(right), sha-512=:AAAA:", "sha-512=:AAAA:, \(right)", "md5=:AAAA:, \(right), unixsum=:AAAA:",
            " \(right) ",
            "\(right);a=1", "foo, \(right)",
        ] {
            #expect(ContentDigest.matches(field, body: Self.body), "\(field)")
        }
    }

    @Test(
        "A field without the SHA-256 digest of the body does not match",
        arguments: [
            "", " ", "sha-256", "sha-256=::", "sha-256=?1", "sha-256=DIGEST", "sha-256=\"DIGEST\"",
            "sha-256=(:DIGEST:)",
            "sha-512=:DIGEST:", "sha-25=:DIGEST:", "sha-256x=:DIGEST:", "SHA-256=:DIGEST:", "sha256=:DIGEST:",
            "md5=:DIGEST:", "sha-256=:DIGEST", "sha-256=:DIGEST:,", "sha-256=:DIGEST: x", ":DIGEST:",
            "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg:",
            "sha-256=:RK_0qy18MlBSVnWgjwz6lZEWjP_lF5HF9bvEF8FabDg=:",
            "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDh=:",
            "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabA==:",
            "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDgA:",
            "sha-256=:44aff4ab2d7c3250525675a08f0cfa9591168cffe51791c5f5bbc417c15a6c38:",
        ])
    func noMatch(field: String) {
        #expect(!ContentDigest.matches(field.replacing("DIGEST", with: Self.digest), body: Self.body))
    }

    @Test("RFC 9651 §4.2.2: of a name that stands twice the last counts")
    func twice() {
        let (right, wrong) = ("sha-256=:\(Self.digest):", "sha-256=:\(Self.other):")
        #expect(ContentDigest.matches("\(wrong), \(right)", body: Self.body))
        #expect(!ContentDigest.matches("\(right), \(wrong)", body: Self.body))
        #expect(!ContentDigest.matches("\(right), sha-256=1", body: Self.body))
    }
}
