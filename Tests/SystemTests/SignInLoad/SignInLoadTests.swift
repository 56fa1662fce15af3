import BenchmarkSupport
import Encodings
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import CountersignSignIn

/// What a figure of the sign-in benchmark rests on: each reply is one to its request, and is as it must be.
@Suite("The load of the sign-in benchmark")
struct SignInLoadTests {
    private static let host = "127.0.0.1"

    /// Sends requests to a receiver that answers each with its path.
    private static func fire(_ requests: [PreparedRequest], expecting status: Int = 200) async throws -> [Exchange?] {
        let receiver = try await HTTPReceiver { head, _ in ByteBuffer(string: head.uri) }
        do {
            let volley = try Volley(to: [receiver.port], connections: 8)
            defer { volley.end() }
            let exchanges = try await volley.fire(requests[...], expecting: status)
            try await receiver.close()
            return exchanges
        } catch {
            try await receiver.close()
            throw error
        }
    }

    @Test("Each request is sent once, and gets the reply to it, whoever sends it")
    func order() async throws {
        // Longer than what is read at once.
        let long = String(repeating: "x", count: 40_000)
        let paths = (0..<500).map { "/\($0)" } + ["/\(long)"]
        let exchanges = try await Self.fire(paths.map { PreparedRequest($0, at: Self.host) })
        #expect(exchanges.map { $0.map { String(decoding: $0.reply.body, as: UTF8.self) } } == paths)
        #expect(exchanges.allSatisfy { $0?.reply.field("content-length") != nil && $0?.reply.field("length") == nil })
    }

    @Test("A request that has become too old is not sent; those beside it are")
    func old() async throws {
        let requests = (0..<20).map { number in
            var request = PreparedRequest("/\(number)", at: Self.host)
            request.notAfter = .now + .seconds(number.isMultiple(of: 2) ? -1 : 60)
            return request
        }
        let exchanges = try await Self.fire(requests)
        #expect(exchanges.map { $0 != nil } == requests.indices.map { !$0.isMultiple(of: 2) })
    }

    @Test("A reply with another status ends the run")
    func status() async throws {
        await #expect(throws: Unexpected(description: "200 instead of 303: /a")) {
            try await Self.fire([PreparedRequest("/a", at: Self.host)], expecting: 303)
        }
    }

    /// The exchange that gives these tokens.
    private static func exchange(_ access: String, _ refresh: String, by algorithm: String = "ES256") throws -> Exchange
    {
        let header = Base64URL.encode(Array(#"{"alg":"\#(algorithm)"}"#.utf8))
        let body: JSONValue = [
            "token_type": "Bearer", "access_token": .string(access), "id_token": .string("\(header).\(access).s"),
            "refresh_token": .string(refresh),
        ]
        let head = Array("HTTP/1.1 200 OK\r\n\r\n".utf8)
        let reply = try #require(PlainReply(head + body.encoded, bodyStart: head.count))
        return Exchange(reply: reply, at: .now, seconds: 0)
    }

    @Test("Tokens that differ are counted; one that comes twice ends the run")
    func distinct() throws {
        let (first, second) = (try Self.exchange("a", "r"), try Self.exchange("b", "s"))
        let tokens = try Tokens.all([first, second], signedBy: "ES256")
        #expect(tokens.map(\.access) == ["a", "b"] && tokens.map(\.refresh) == ["r", "s"])
        for other in [try Self.exchange("a", "s"), try Self.exchange("b", "r")] {
            #expect(throws: Unexpected(description: "a token was given twice")) {
                try Tokens.all([first, other], signedBy: "ES256")
            }
        }
    }

    @Test("An ID token signed by another algorithm ends the run", arguments: ["RS256", "none"])
    func algorithm(_ algorithm: String) throws {
        let exchange = try Self.exchange("a", "r", by: algorithm)
        let body = String(decoding: exchange.reply.body, as: UTF8.self)
        #expect(throws: Unexpected(description: "tokens: \(body)")) { try Tokens.all([exchange], signedBy: "ES256") }
    }

    @Test("Each person has one cycle at a time, and no more than their turns")
    func turns() async throws {
        let rota = Rota(Array(0..<10), turns: 3)
        let busy = Mutex<[Int: Int]>([:])
        let next = Atomic<Int>(0)
        let turns = try await rota.run(30, atOnce: 4) { person in
            let others = busy.withLock { busy in
                busy[person, default: 0] += 1
                return busy[person]
            }
            #expect(others == 1, "\(person)")
            await Task.yield()
            busy.withLock { $0[person] = 0 }
            return "\(next.wrappingAdd(1, ordering: .relaxed).oldValue)"
        }
        #expect(turns.count == 30)
        await #expect(throws: Unexpected.self) { try await rota.run(1, atOnce: 4) { "\($0)" } }
        let again = Rota(Array(0..<10), turns: 3)
        await #expect(throws: Unexpected.self) { try await again.run(2, atOnce: 1) { _ in "the same" } }
    }

    @Test("A code must come back to the client, with its state and the issuer")
    func code() throws {
        let verifier = Code.newVerifier
        let good = "\(Party.redirectURI)?code=c&state=\(verifier.prefix(22))&iss=http%3A%2F%2F127.0.0.1%3A1"
        func code(_ location: String) throws -> Code {
            let head = Array("HTTP/1.1 303 See Other\r\nLocation: \(location)\r\n\r\n".utf8)
            let reply = try #require(PlainReply(head, bodyStart: head.count))
            return try Code(
                Exchange(reply: reply, at: .now, seconds: 0), verifier: verifier, at: "http://127.0.0.1:1")
        }
        #expect(try code(good).text == "c")
        let wrong = [
            good.replacing("shop.", with: "evil."), good.replacing("code=", with: "error="),
            good.replacing("state=", with: "state=x"), good.replacing("A1", with: "A2"), "",
        ]
        for location in wrong {
            #expect(throws: Unexpected(description: "instead of a code: \(location)")) { try code(location) }
        }
    }
}
