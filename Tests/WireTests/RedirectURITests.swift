import CountersignWire
import Testing

@Suite("Where a browser may return to")
struct RedirectURITests {
    // Spec: RFC 8252 §7.
    @Test(
        "Kinds",
        arguments: [
            ("https://shop.example.com/callback", RedirectURI.Kind.https), ("https://shop.example.com/?a=1", .https),
            ("http://127.0.0.1/callback", .loopback), ("http://[::1]:8080/", .loopback),
            ("http://localhost:3000/x", .loopback), ("com.example.app:/callback", .privateScheme),
            ("yourapp://", .bareScheme), ("yourapp:/x", .bareScheme), ("your-app://callback?a=1", .bareScheme),
        ])
    func kinds(_ text: String, _ kind: RedirectURI.Kind) {
        #expect(RedirectURI(text)?.kind == kind)
    }

    // Spec: RFC 8252 §7.1 and §8.4.
    @Test(
        "What may not be",
        arguments: [
            "", "shop.example.com", "http://shop.example.com/", "https://", "https:///x", "https://a@shop.example.com/",
            "https://shop.example.com/#", "https://*.example.com/", "HTTPS://shop.example.com/",
            "https://shop.example.com/ x",
            "https://shop.example.com/\u{E4}", "app:x", "a:/x", "com.example.app://x", "com.example.app:x",
            "javascript:alert(1)",
            "javascript://x", "javascript:/x", "data://x", "intent://x", "file:///x", "blob:/x", "httpx://a",
            "vbscript:/x",
            "your_app://x", "YourApp://x", "data:text/html,x", "https://127.0.0.1:x/",
        ])
    func refused(_ text: String) {
        #expect(RedirectURI(text) == nil)
    }

    // Spec: RFC 8252 §8.3.
    @Test(
        "RFC 8252 §7.3: only the port of a loopback address is free",
        arguments: [
            ("http://127.0.0.1/cb", "http://127.0.0.1:51234/cb", true),
            ("http://127.0.0.1:1/cb", "http://127.0.0.1/cb", true),
            ("http://[::1]/cb", "http://[::1]:9/cb", true), ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb/", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1/cb?x", false),
            ("http://127.0.0.1/cb", "http://[::1]/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:1@evil.example/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.example/cb", false),
            ("http://localhost:1/cb", "http://localhost:2/cb", false),
            ("http://localhost:1/cb", "http://localhost:1/cb", true),
            ("https://shop.example.com/cb", "https://shop.example.com:443/cb", false),
            ("https://shop.example.com/cb", "https://shop.example.com/cb", true),
        ])
    func allows(_ registered: String, _ named: String, _ isAllowed: Bool) throws {
        let uri = try #require(RedirectURI(registered))
        #expect(uri.allows(named, isApp: true) == isAllowed)
        #expect(uri.allows(named, isApp: false) == (registered == named))
    }

    @Test(
        "The site of a client keeps its port, and an app or a program on this machine has none",
        arguments: [
            ("https://shop.example.com/callback?x=1", "https://shop.example.com/"),
            ("https://shop.example.com:8443/callback", "https://shop.example.com:8443/"),
            ("https://shop.example.com:443/", "https://shop.example.com/"), ("http://127.0.0.1:50123/callback", nil),
            ("com.example.app:/callback", nil),
        ])
    func site(_ registered: String, _ expected: String?) throws {
        #expect(try #require(RedirectURI(registered)).site == expected)
    }
}
