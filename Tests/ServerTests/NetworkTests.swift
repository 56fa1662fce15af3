import HTTPTypes
import Testing

@testable import CountersignServer

@Suite("Whom a request is from: what a trusted proxy says, and nobody else")
struct NetworkTests {
    @Test(
        "A network is an address with a length, and no bits behind it",
        arguments: [
            ("10.0.0.0/8", true), ("10.1.2.3", true), ("0.0.0.0/0", true), ("10.1.2.3/32", true), ("fd00::/8", true),
            ("::/0", true), ("::1", true), ("10.0.0.1/8", false), ("10.0.0.0/33", false), ("10.0.0.0/-1", false),
            ("10.0.0.0/", false), ("10.0.0.0/08", false), ("10.0.0/8", false), ("fd00::1/8", false), ("::/129", false),
            ("example.com", false), ("", false), ("/8", false), ("10.0.0.0/8/8", false), (" 10.0.0.0/8", false),
        ])
    func networks(_ text: String, _ isNetwork: Bool) {
        #expect((Network(text) != nil) == isNetwork)
    }

    @Test(
        "RFC 4291 §2.5.5.2: an address is in a network when its first bits are the network's; IPv4 inside IPv6 is IPv4",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.0/9", "10.127.0.1", true),
            ("10.0.0.0/9", "10.128.0.1", false), ("0.0.0.0/0", "192.0.2.1", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("::/0", "192.0.2.1", false), ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe00::1", false), ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ])
    func containing(_ network: String, _ address: String, _ isIn: Bool) throws {
        let network = try #require(Network(network))
        #expect(network.contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(
        "An address to listen on is an address or a name with a port",
        arguments: [
            ("127.0.0.1:9464", true), ("[::1]:9464", true), ("localhost:1", true), ("a-b.example.com:65535", true),
            ("127.0.0.1", false), ("127.0.0.1:0", false), ("127.0.0.1:65536", false), ("127.0.0.1:", false),
            (":9464", false), ("::1:9464", false), ("[127.0.0.1]:9464", false), ("[]:1", false), ("300.1.1.1:1", false),
            ("a b:1", false), ("http://localhost:1", false),
        ])
    func listenAddresses(_ text: String, _ isAddress: Bool) {
        let address = ListenAddress(text)
        #expect((address != nil) == isAddress)
        if isAddress { #expect(address?.description == text) }
    }

    private static let proxies = ["10.0.0.0/8", "fd00::/8"].compactMap { Network($0) }

    private func caller(_ peer: String, _ fields: [(String, String)], _ header: ProxyHeader) throws -> String? {
        var headers = HTTPFields()
        for (name, value) in fields {
            headers.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return try TrustedProxies(networks: Self.proxies, header: header).caller(from: IPAddress(peer), headers)?
            .description
    }

    @Test(
        "X-Forwarded-For is believed from its end, as long as a proxy of ours wrote it",
        arguments: [
            ("10.0.0.1", "192.0.2.1", "192.0.2.1"), ("10.0.0.1", "198.51.100.7, 192.0.2.1", "192.0.2.1"),
            ("10.0.0.1", "198.51.100.7, 192.0.2.1, 10.0.0.2", "192.0.2.1"),
            ("10.0.0.1", "10.0.0.9, 10.0.0.2", "10.0.0.9"), ("10.0.0.1", "127.0.0.1, 192.0.2.1", "192.0.2.1"),
            ("10.0.0.1", "192.0.2.1:5678", "192.0.2.1"), ("10.0.0.1", "[2001:db8::1]:5678", "2001:db8::1"),
            ("10.0.0.1", "2001:db8::1", "2001:db8::1"), ("10.0.0.1", "::ffff:192.0.2.1", "192.0.2.1"),
            ("10.0.0.1", "192.0.2.1, unknown", "10.0.0.1"), ("10.0.0.1", "192.0.2.1, 10.0.0.3, ", "10.0.0.1"),
            ("10.0.0.1", "", "10.0.0.1"), ("10.0.0.1", "nonsense, 192.0.2.1", "192.0.2.1"),
            ("10.0.0.1", "192.0.2.1, _hidden", "10.0.0.1"),
            ("192.0.2.9", "198.51.100.7", "192.0.2.9"), ("127.0.0.1", "198.51.100.7", "127.0.0.1"),
        ])
    func forwardedFor(_ peer: String, _ value: String, _ expected: String) throws {
        #expect(try caller(peer, [("X-Forwarded-For", value)], .xForwardedFor) == expected)
    }

    @Test("Of several fields of the name the last one is the newest")
    func severalFields() throws {
        let fields = [("X-Forwarded-For", "198.51.100.7"), ("X-Forwarded-For", "192.0.2.1")]
        #expect(try caller("10.0.0.1", fields, .xForwardedFor) == "192.0.2.1")
    }

    @Test(
        "RFC 7239 §4: Forwarded is a list of pairs, its addresses quoted where they must be",
        arguments: [
            ("for=192.0.2.1", "192.0.2.1"), ("For=\"192.0.2.1\"", "192.0.2.1"),
            ("for=192.0.2.43, for=198.51.100.17", "198.51.100.17"),
            ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"),
            ("for=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17"),
            ("for=192.0.2.1, for=10.0.0.2", "192.0.2.1"), ("for=\"_gazonk\"", "10.0.0.1"),
            ("for=unknown", "10.0.0.1"), ("proto=https", "10.0.0.1"), ("for=\"unknown:_a\"", "10.0.0.1"),
            ("by=\"a,for=192.0.2.9\";for=192.0.2.1", "192.0.2.1"), ("host=\"a\\\"b\";for=192.0.2.1", "192.0.2.1"),
            (";for=192.0.2.1;", "192.0.2.1"), ("for=192.0.2.1 ,\tfor=198.51.100.17", "198.51.100.17"),
            ("for=192.0.2.1,", "10.0.0.1"), ("for=\"192.0.2.1:80\"", "192.0.2.1"), ("FOR=\"\\192.0.2.1\"", "192.0.2.1"),
        ])
    func forwarded(_ value: String, _ expected: String) throws {
        #expect(try caller("10.0.0.1", [("Forwarded", value)], .forwarded) == expected)
    }

    @Test(
        "RFC 7239 §4, §6: a Forwarded that is not of the grammar is refused, wherever the fault stands",
        arguments: [
            "for=203.0.113.9:\"", "for=203.0.113.9:\", for=198.51.100.7", "a=\", for=198.51.100.7",
            "a=\"\\\", for=198.51.100.7", "for=192.0.2.1;for=192.0.2.2", "for=192.0.2.1;For=192.0.2.1", "for", "for=",
            "for=\"\"", "for =192.0.2.1", "for= 192.0.2.1", "for=192.0.2.1 ;proto=http", "for=192.0.2.1; proto=http",
            "for=2001:db8::1", "for=[2001:db8::1]", "for=\"2001:db8::1\"", "for=\"[2001:db8::1\"",
            "for=\"[192.0.2.1]\"",
            "for=192.0.2.1:80", "for=\"192.0.2.1:\"", "for=\"192.0.2.1:123456\"", "for=\"192.0.2.1 \"", "for=192.0.2",
            "for=example.com", "for=_", "for=192.0.2.1\"", "192.0.2.1", "=192.0.2.1", "for=\"192.0.2.1\"x",
            "for=\"192.0.2.1\u{7F}\"",
        ])
    func malformedForwarded(_ value: String) throws {
        // Spec: RFC 9110 §5.6.
        #expect(throws: MalformedRequest(description: "Forwarded is malformed")) {
            try caller("10.0.0.1", [("Forwarded", value)], .forwarded)
        }
        // Nobody else's is read.
        #expect(try caller("192.0.2.9", [("Forwarded", value)], .forwarded) == "192.0.2.9")
    }

    @Test("What a caller opens in one field Forwarded does not reach into the next")
    func openedBefore() throws {
        #expect(throws: MalformedRequest(description: "Forwarded is malformed")) {
            try caller("10.0.0.1", [("Forwarded", "a=\""), ("Forwarded", "for=192.0.2.1;by=\"\"")], .forwarded)
        }
    }

    @Test(
        "X-Forwarded-For with what is neither an address nor hidden is refused, where a proxy of ours wrote it",
        arguments: ["nonsense", "192.0.2.1, nonsense", "192.0.2.1\"", "192.0.2.1, nonsense, 10.0.0.2", "[::1", "1.2.3"])
    func malformedForwardedFor(_ value: String) throws {
        #expect(throws: MalformedRequest(description: "X-Forwarded-For is malformed")) {
            try caller("10.0.0.1", [("X-Forwarded-For", value)], .xForwardedFor)
        }
    }

    @Test("The header that the proxies do not use says nothing: they pass it on as the caller wrote it")
    func otherHeader() throws {
        #expect(try caller("10.0.0.1", [("Forwarded", "for=198.51.100.7")], .xForwardedFor) == "10.0.0.1")
        #expect(try caller("10.0.0.1", [("X-Forwarded-For", "198.51.100.7")], .forwarded) == "10.0.0.1")
    }
}
