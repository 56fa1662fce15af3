import CountersignWire
import Testing

@Suite("RFC 3986 §3.2: the issuer, compared byte for byte")
struct IssuerTests {
    @Test(
        "Scheme, host and port, and nothing else",
        arguments: [
            ("https://login.example.com", "login.example.com"), ("https://example.com:8443", "example.com"),
            ("https://a", "a"), ("https://xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("https://192.0.2.1", "192.0.2.1"),
            ("https://[2001:db8::1]:8443", "[2001:db8::1]"), ("https://example.com:65535", "example.com"),
            ("https://a-b.example.com:1", "a-b.example.com"),
        ])
    func issuers(text: String, host: String) throws {
        let issuer = try #require(Issuer(text))
        #expect(issuer.description == text)
        #expect(issuer.host == host)
        #expect(!issuer.isLoopback)
        #expect(issuer.uri("/v1/device?a=b") == "\(text)/v1/device?a=b")
    }

    @Test(
        "Plain HTTP is allowed for this machine's own names alone",
        arguments: ["http://localhost", "http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"])
    func loopback(text: String) throws {
        #expect(try #require(Issuer(text)).isLoopback)
    }

    // Modules: oidcc-discovery-endpoint-verification
    @Test(
        "Anything else is refused",
        arguments: [
            "", "login.example.com", "https://", "https:", "https:login.example.com", "//login.example.com",
            "http://login.example.com", "http://127.0.0.2", "http://localhost.example.com",
            "http://127.0.0.1.example.com",
            "ftp://login.example.com", "HTTPS://login.example.com", "Https://login.example.com", "https ://a",
            "https://login.example.com/", "https://login.example.com//", "https://login.example.com/auth",
            "https://login.example.com?", "https://login.example.com?a=b", "https://login.example.com#",
            "https://login.example.com#a", "https://user@login.example.com", "https://@login.example.com",
            "https://user:secret@login.example.com", "https://:@login.example.com", "https://Login.example.com",
            "https://LOGIN.EXAMPLE.COM", " https://login.example.com", "https://login.example.com ",
            "https://login.example.com\n", "https://login.example.com\r\nX: y", "https://login example.com",
            "https://bücher.example", "https://login.example.com:", "https://login.example.com:x",
            "https://login.example.com:-1", "https://login.example.com:+1", "https://login.example.com:99999",
            "https://login.example.com:0", "https://login.example.com:0443", "https://:443",
            "https://login.example.com%2Fa", "https://login.example.com%2fa", "https://a%40b", "https://a%0Ab",
            "https://a%3E", "https://%61", "https://a\u{0}", "https://a\\b", "https://a<b>", "https://a\"b",
            "https://login.example.com:443\u{301}", "https://a,b", "https://a;b", "https://a(b)",
            "https://[2001:db8::1", "https://[]", "https://[::1]a", "https://[2001:DB8::1]", "https://[fe80::1%25eth0]",
            "https://-a", "https://.a", "https://login.example.com:65536", "https://login.example.com:443:443",
            "https://a'b",
        ])
    func refused(text: String) {
        #expect(Issuer(text) == nil)
    }
}
