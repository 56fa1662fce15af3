import CountersignWire
import Testing

// Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
@Suite("Where a client publishes its keys")
struct KeysURITests {
    @Test(
        "https, and loopback in development; no user, no fragment, nothing that is no URI",
        arguments: [
            ("https://shop.example.com/keys", true, true), ("https://shop.example.com:8443/keys?a=b", true, true),
            ("https://127.0.0.1/keys", true, true), ("http://127.0.0.1:8080/keys", false, true),
            ("http://localhost/keys", false, true), ("http://[::1]:1/keys", false, true),
            ("http://shop.example.com/keys", false, false), ("HTTPS://shop.example.com/keys", false, false),
            ("https://u@shop.example.com/keys", false, false), ("https://u:p@shop.example.com/keys", false, false),
            ("https://shop.example.com/keys#x", false, false), ("https://shop.example.com/keys#", false, false),
            ("https:///keys", false, false), ("https:", false, false), ("/keys", false, false), ("", false, false),
            ("file:///etc/passwd", false, false), ("https://shop.example.com/a b", false, false),
            ("https://shop.example.com/\r\nx", false, false), ("https://shop.example.com/ä", false, false),
        ])
    func accepted(_ text: String, _ isAccepted: Bool, _ inDevelopment: Bool) {
        #expect((KeysURI(text, isDevelopment: false) != nil) == isAccepted)
        #expect((KeysURI(text, isDevelopment: true) != nil) == inDevelopment)
    }

    @Test("2048 bytes at most")
    func length() {
        let base = "https://shop.example.com/"
        for (length, isAccepted) in [(2048, true), (2049, false)] {
            let text = base + String(repeating: "x", count: length - base.utf8.count)
            #expect((KeysURI(text, isDevelopment: false) != nil) == isAccepted)
        }
    }
}
