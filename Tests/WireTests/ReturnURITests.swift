import CountersignWire
import Encodings
import Testing

@Suite("Where a device goes back to, and with what")
struct ReturnURITests {
    @Test(
        "https, loopback in development, and an app's own scheme, which is a domain's name backwards",
        arguments: [
            ("https://shop.example.com/back", true, true), ("https://shop.example.com?a=b", true, true),
            ("http://127.0.0.1:8080/back", false, true), ("http://localhost/", false, true),
            ("http://shop.example.com/back", false, false), ("com.example.shop:/back", true, true),
            ("com.example-2.shop://back?x", true, true), ("javascript:alert(1)", false, false),
            ("data:text/html,x", false, false), ("file:///etc/passwd", false, false), ("tel:+4912", false, false),
            ("intent://x#Intent;end", false, false), ("shop:/back", false, false), (".shop:/back", false, false),
            ("COM.example:/back", false, false), ("com..shop:/back", false, false),
            ("//evil.example.com", false, false),
            ("/back", false, false), ("", false, false), ("https:", false, false), ("https:///back", false, false),
            ("https://u@shop.example.com", false, false), ("https://shop.example.com/#x", false, false),
            ("com.example.shop:/back#x", false, false), ("com.example.shop:/?return_code=x", false, false),
            ("https://shop.example.com/?return_code", false, false), ("https://shop.example.com/a b", false, false),
            ("https://shop.example.com/\n", false, false), ("https://shop.example.com/ä", false, false),
        ])
    func accepted(_ text: String, _ isAccepted: Bool, _ inDevelopment: Bool) {
        #expect((ReturnURI(text, isDevelopment: false) != nil) == isAccepted)
        #expect((ReturnURI(text, isDevelopment: true) != nil) == inDevelopment)
    }

    @Test("An app opens https, the schemes that it names, and loopback for a server that is there itself")
    func opened() throws {
        let issuer = try #require(Issuer("https://login.example.com"))
        let local = try #require(Issuer("http://[::1]:1"))
        func isOpened(_ text: String, by schemes: Set<String> = [], asked issuer: Issuer) throws -> Bool {
            try #require(ReturnURI(text, isDevelopment: true)).isOpened(by: schemes, asked: issuer)
        }
        #expect(try isOpened("https://shop.example.com/", asked: issuer))
        #expect(try isOpened("https://shop.example.com/", by: ["com.example.shop"], asked: issuer))
        #expect(try !isOpened("http://127.0.0.1/", asked: issuer) && isOpened("http://127.0.0.1/", asked: local))
        #expect(try !isOpened("http://127.0.0.1/", by: ["http"], asked: issuer), "nobody names that one")
        #expect(try !isOpened("com.example.shop:/", asked: issuer) && !isOpened("com.example.shop:/", asked: local))
        #expect(try isOpened("com.example.shop:/", by: ["com.example.shop"], asked: issuer))
        #expect(try !isOpened("com.example.shop.evil:/", by: ["com.example.shop"], asked: issuer))
    }

    @Test("The code is a parameter after those that are there, and the place is told by host or scheme")
    func bringing() throws {
        for (text, whole, place) in [
            ("https://shop.example.com/a", "https://shop.example.com/a?return_code=x", "shop.example.com"),
            ("https://shop.example.com/?", "https://shop.example.com/?return_code=x", "shop.example.com"),
            ("https://shop.example.com/?a=b", "https://shop.example.com/?a=b&return_code=x", "shop.example.com"),
            ("com.example.shop:/back", "com.example.shop:/back?return_code=x", "com.example.shop"),
        ] {
            let uri = try #require(ReturnURI(text, isDevelopment: false))
            #expect(uri.bringing(Secret("x")).reveal() == whole && uri.place == place)
        }
    }

    @Test("A message with a code comes back; of another version or kind, or with a code that is no base64url, is none")
    func message() throws {
        let sample = try Sample()
        let message = ReturnMessage(
            issuer: sample.issuer, challenge: sample.challenge, enrollment: sample.enrollment, code: Secret("AQ_-"))
        let read = try ReturnMessage(try JSONValue(parsing: message.json.encoded))
        #expect(read.code.isSame(as: message.code) && read.challenge == sample.challenge)
        #expect(read.enrollment == sample.enrollment && read.issuer == sample.issuer)
        for (name, value) in [
            ("v", 2), ("kind", "challenge"), ("issuer", "x"), ("challenge", "x"), ("enrollment", "x"), ("code", ""),
            ("code", "A&b="), ("code", "A"),
        ] as [(String, JSONValue)] {
            var object = message.json.object ?? [:]
            object[name] = value
            #expect(throws: JSONShapeError.self, "\(name)") { try ReturnMessage(.object(object)) }
        }
        #expect(throws: JSONShapeError.self) { try ChallengeBody(message.json) }
    }
}
