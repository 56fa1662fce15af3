import CountersignCore
import CountersignDelivery
import CountersignWire
import Encodings
import NIOCore
import Testing

// Spec: OpenID Connect Dynamic Client Registration 1.0 §2.
@Suite("Fetching the keys that clients publish", .timeLimit(.minutes(5)))
struct KeyFetcherTests {
    private static func uri(_ base: String) throws -> KeysURI {
        try #require(KeysURI("\(base)/keys?a=b", isDevelopment: true))
    }

    /// What comes of an answer.
    private static func fetch(
        answering reply: Receiver.Reply, reach: OutboundAddressPolicy = .publicAddressesAndLoopback,
        timeout: TimeAmount = .seconds(60)
    ) async throws -> (fetched: FetchedKeys, calls: [Receiver.Call], seconds: Double) {
        try await Receiver.with({ _ in reply }) { receiver, base in
            try await with(KeyFetcher(reach: reach, timeout: timeout)) { fetcher in
                let (address, start) = (try uri(base), ContinuousClock.now)
                let fetched = await fetcher.fetch(address)
                return (fetched, receiver.calls, (ContinuousClock.now - start) / .seconds(1))
            }
        }
    }

    private static func with<Result: Sendable>(
        _ fetcher: KeyFetcher, _ body: (KeyFetcher) async throws -> Result
    ) async throws -> Result {
        fetcher.start()
        do {
            let result = try await body(fetcher)
            try await fetcher.shutdown()
            return result
        } catch {
            try await fetcher.shutdown()
            throw error
        }
    }

    private static func reply(_ body: String, status: String = "200 OK") -> Receiver.Reply {
        .bytes(Array("HTTP/1.1 \(status)\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }

    private static func isFailure(_ fetched: FetchedKeys) -> Bool {
        if case .failed = fetched { true } else { false }
    }

    /// A JSON text of this many bytes.
    private static func text(_ length: Int) -> String { "\"\(String(repeating: "x", count: length - 2))\"" }

    @Test("A document comes as it is, up to 64 KiB, and the host learns nothing but that we ask")
    func fetched() async throws {
        let fetched = try await Self.fetch(answering: Self.reply(#"{"keys":[]}"#))
        #expect(fetched.fetched == .document(["keys": []]))
        let call = try #require(fetched.calls.first)
        #expect(call.line == "GET /keys?a=b HTTP/1.1" && call.body.isEmpty && fetched.calls.count == 1)
        #expect(call.fields.keys.sorted() == ["accept", "connection", "host", "user-agent"])
        let longest = try await Self.fetch(answering: Self.reply(Self.text(65_536)))
        #expect(longest.fetched == .document(.string(String(repeating: "x", count: 65_534))))
    }

    @Test(
        "What is not status 200 with JSON is no document: a redirect is not followed, and too much is not read",
        arguments: [
            (reply("ok"), "they are no JSON"), (reply(""), "they are no JSON"), (.status(200), "they are no JSON"),
            (reply("{}", status: "201 Created"), "the host answered 201"),
            (reply("{}", status: "404 Not Found"), "the host answered 404"),
            (.status(302, fields: ["location: /other"]), "the host answered 302"),
            (reply(text(65_537)), "the reply is longer than 65536 bytes"),
            (.endless, "the reply is longer than 65536 bytes"),
        ] as [(Receiver.Reply, String)])
    func refused(_ reply: Receiver.Reply, _ reason: String) async throws {
        let fetched = try await Self.fetch(answering: reply)
        #expect(fetched.fetched == .failed(reason) && fetched.calls.count == 1, "\(fetched.fetched)")
    }

    @Test(
        "A host that says nothing, or stops in the middle, is waited for as long as is allowed",
        arguments: [
            .silence, .beginning(Array("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".utf8)),
        ] as [Receiver.Reply])
    func slow(_ reply: Receiver.Reply) async throws {
        let fetched = try await Self.fetch(answering: reply, timeout: .seconds(1))
        #expect(fetched.fetched == .failed("Deadline exceeded"))
        // On a loaded machine it takes longer; without a deadline, fifteen seconds.
        #expect(fetched.seconds >= 1 && fetched.seconds < 14, "\(fetched.seconds)")
    }

    @Test("Keys are fetched from no further than callbacks go: not from this machine, where that is not allowed")
    func reach() async throws {
        let fetched = try await Self.fetch(answering: Self.reply("{}"), reach: .publicAddresses)
        #expect(fetched.fetched == .failed("the host's address is not public") && fetched.calls.isEmpty)
    }

    @Test("A task that is cancelled ends no fetch, for which others may wait")
    func cancelled() async throws {
        try await Receiver.with({ _ in Self.reply("{}") }) { _, base in
            try await Self.with(KeyFetcher(reach: .publicAddressesAndLoopback)) { fetcher in
                let uri = try Self.uri(base)
                let task = Task {
                    while !Task.isCancelled { await Task.yield() }
                    return await fetcher.fetch(uri)
                }
                task.cancel()
                #expect(await task.value == .document([:]))
            }
        }
    }

    @Test("Nothing comes where nobody listens, where the connection ends, or to a server that does not run")
    func nobody() async throws {
        let closed = try Self.uri("http://127.0.0.1:\(try await Receiver.closedPort())")
        try await Self.with(KeyFetcher(reach: .publicAddressesAndLoopback)) { fetcher in
            #expect(Self.isFailure(await fetcher.fetch(closed)))
        }
        let ended = [Receiver.Reply.bytes([]), .bytes(Array("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}".utf8))]
        for reply in ended {
            #expect(Self.isFailure(try await Self.fetch(answering: reply).fetched))
        }
        let stopped = await KeyFetcher(reach: .publicAddressesAndLoopback).fetch(closed)
        #expect(stopped == .failed("the server does not run"))
    }
}
