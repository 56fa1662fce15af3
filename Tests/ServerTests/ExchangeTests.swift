import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Testing

@testable import CountersignServer

/// What stands between a connection and the network: it holds what is written until it is told that the caller reads.
private final class Dam: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart

    var isOpen = true
    private(set) var reads = 0
    private(set) var parts: [HTTPServerResponsePart] = []
    private var waiting: [EventLoopPromise<Void>?] = []

    /// How many bytes of bodies were written and not taken.
    private(set) var unsent = 0

    func read(context: ChannelHandlerContext) {
        reads += 1
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        parts.append(part)
        if case .body(let body) = part { unsent += body.readableBytes }
        waiting.append(promise)
    }

    func flush(context: ChannelHandlerContext) { if isOpen { drain() } }

    func drain() {
        let written = waiting
        waiting = []
        unsent = 0
        for promise in written { promise?.succeed() }
    }
}

/// A connection whose network, clock and application a test plays.
private struct Played {
    let channel = EmbeddedChannel()
    let dam = Dam()

    /// - Parameters:
    ///   - limits: the limits of the connection.
    ///   - refused: the path whose requests are refused at once.
    init(_ limits: ExchangeLimits = ExchangeLimits(), refusing refused: String? = nil) throws {
        let handler = ExchangeHandler(limits: limits) { request, _ in
            guard request.path == refused else { return nil }
            return RenderedRefusal(
                status: 503, headers: [.retryAfter: "1"], body: Array("full".utf8), code: "full", detail: nil)
        }
        try channel.pipeline.syncOperations.addHandlers([dam, handler])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func send(_ parts: HTTPServerRequestPart...) throws {
        for part in parts { channel.pipeline.fireChannelRead(part) }
        channel.pipeline.fireChannelReadComplete()
        try channel.throwIfErrorCaught()
    }

    func ask(_ path: String, _ fields: HTTPHeaders = ["Host": "a"], whole: Bool = true) throws {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: path, headers: fields)
        if whole { try send(.head(head), .end(nil)) } else { try send(.head(head)) }
    }

    /// The paths of the requests that were passed on since the last time.
    func passed() throws -> [String?] {
        var paths: [String?] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) {
            if case .head(let request) = part { paths.append(request.path) }
        }
        return paths
    }

    func answer(_ body: Int = 10, _ fields: HTTPFields = [:]) {
        channel.write(HTTPResponsePart.head(HTTPResponse(status: .ok, headerFields: fields)), promise: nil)
        channel.write(HTTPResponsePart.body(ByteBuffer(repeating: 0x20, count: body)), promise: nil)
        channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    }

    var isOver: Bool { ExchangeHandler.canceller(of: channel)?.isOver ?? true }
}

@Suite("A connection leads one exchange after the other")
struct ExchangeTests {
    @Test("The next request is passed on, and more is read, only when the reply is sent")
    func oneAfterTheOther() throws {
        let played = try Played()
        try played.ask("/1")
        try played.ask("/2")
        try played.ask("/3")
        #expect(try played.passed() == ["/1"])
        let reads = played.dam.reads
        played.channel.read()
        #expect(played.dam.reads == reads)
        played.dam.isOpen = false
        played.answer()
        #expect(try played.passed() == [])
        played.dam.isOpen = true
        played.dam.drain()
        #expect(try played.passed() == ["/2"])
        played.answer()
        #expect(try played.passed() == ["/3"])
        #expect(played.dam.reads == reads)
        played.answer()
        #expect(played.dam.reads == reads + 1)
    }

    /// The heads, and the bytes of the bodies, that were written since the last time.
    private func written(_ played: Played, from place: inout Int) -> (statuses: [UInt], body: Int, ends: Int) {
        let parts = played.dam.parts[place...]
        place = played.dam.parts.count
        return (
            parts.compactMap { if case .head(let head) = $0 { head.status.code } else { nil } },
            parts.reduce(0) { if case .body(let body) = $1 { $0 + body.readableBytes } else { $0 } },
            parts.count { if case .end = $0 { true } else { false } }
        )
    }

    @Test("A request that is refused at once is not passed on, nor is its body, and the next one is as usual")
    func refusedAtOnce() throws {
        let played = try Played(refusing: "/full")
        var place = 0
        func ask(_ method: HTTPMethod, _ body: Int) throws {
            let fields: HTTPHeaders = ["Host": "a", "Content-Length": "\(body)"]
            try played.send(.head(HTTPRequestHead(version: .http1_1, method: method, uri: "/full", headers: fields)))
            #expect(written(played, from: &place) == ([503], method == .HEAD ? 0 : 4, 1))
            if body > 0 { try played.send(.body(ByteBuffer(repeating: 0x20, count: body))) }
            try played.send(.end(nil))
            #expect(try played.passed() == [] && written(played, from: &place) == ([], 0, 0))
        }
        try ask(.POST, 100)
        try ask(.HEAD, 0)
        try ask(.GET, 0)
        try played.ask("/1")
        #expect(try played.passed() == ["/1"])
        // Several in one read come in their order.
        try played.send(
            .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/full", headers: ["Host": "a"])), .end(nil),
            .head(HTTPRequestHead(version: .http1_1, method: .GET, uri: "/2", headers: ["Host": "a"])), .end(nil))
        #expect(try played.passed() == [])
        played.answer()
        #expect(written(played, from: &place) == ([200, 503], 14, 2))
        #expect(try played.passed() == ["/2"])
        #expect(played.channel.isActive)
    }

    @Test("What was refused at once, and does not come whole in time, is hung up on")
    func refusedAndSlow() throws {
        let played = try Played(refusing: "/full")
        try played.ask("/full", whole: false)
        #expect(played.channel.isActive)
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(120))
        #expect(!played.channel.isActive)
    }

    @Test("A caller who leaves a reply unread for 30 seconds is hung up on; one who reads it in 29 is not")
    func writeDeadline() throws {
        for reads in [false, true] {
            let played = try Played()
            try played.ask("/")
            played.dam.isOpen = false
            played.answer()
            played.channel.embeddedEventLoop.advanceTime(by: .seconds(29))
            #expect(played.channel.isActive)
            played.dam.isOpen = reads
            if reads { played.dam.drain() }
            played.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
            #expect(played.channel.isActive == reads)
        }
    }

    @Test("A slow reader has 30 seconds for all of a reply, however often it takes a little")
    func drip() throws {
        let played = try Played()
        try played.ask("/")
        played.dam.isOpen = false
        played.answer(1 << 20)
        for _ in 0..<6 {
            #expect(played.channel.isActive)
            played.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
            played.dam.drain()
        }
        #expect(!played.channel.isActive)
    }

    @Test("While nothing is unsent no time runs: a request may wait for ten minutes")
    func wait() throws {
        let played = try Played()
        try played.ask("/")
        played.channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        #expect(played.channel.isActive)
        played.answer()
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(74))
        #expect(played.channel.isActive)
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!played.channel.isActive)
    }

    @Test("Of a long reply only so much is given to the system at a time, and all of it in the end")
    func slices() throws {
        let played = try Played()
        try played.ask("/")
        played.dam.isOpen = false
        played.answer(100_000)
        var steps = 0
        while played.dam.unsent > 0 {
            #expect(played.dam.unsent <= 16 * 1024)
            played.dam.drain()
            steps += 1
        }
        #expect(steps == 7)
        let sizes = played.dam.parts.map { part -> Int in
            if case .body(let body) = part { body.readableBytes } else { 0 }
        }
        #expect(sizes.reduce(0, +) == 100_000)
    }

    @Test("RFC 9110 §15.5.9: a body that has not come after 30 seconds ends the request, and then the connection")
    func bodyDeadline() throws {
        let played = try Played()
        try played.ask("/", ["Host": "a", "Content-Length": "100"], whole: false)
        for _ in 0..<5 {
            try played.send(.body(ByteBuffer(string: "a")))
            played.channel.embeddedEventLoop.advanceTime(by: .seconds(5))
        }
        #expect(try played.passed() == ["/"])
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(6))
        #expect(throws: BodyTooSlow.self) { try played.channel.throwIfErrorCaught() }
        #expect(played.channel.isActive)
        played.answer(10, [.connection: "close"])
        #expect(!played.channel.isActive)
    }

    @Test("A head that does not come whole within 75 seconds ends the connection")
    func idle() throws {
        let played = try Played()
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(74))
        #expect(played.channel.isActive)
        played.channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!played.channel.isActive)
    }

    @Test("Who hangs up while reading is paused is noticed at once, also behind requests that are held")
    func hangUp() throws {
        let played = try Played()
        try played.ask("/1")
        try played.ask("/2")
        #expect(!played.isOver)
        played.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(played.isOver)
    }

    @Test("Requests that come before their turn are held up to a bound, then the connection ends")
    func heldBound() throws {
        let played = try Played()
        for index in 0..<101 { try played.ask("/\(index)") }
        #expect(played.channel.isActive)
        for index in 101..<200 where played.channel.isActive { try played.ask("/\(index)") }
        #expect(!played.channel.isActive)
        #expect(try played.passed() == ["/0"])
    }

    @Test("A body that comes before its turn counts as what it is")
    func heldBody() throws {
        let played = try Played()
        try played.ask("/1")
        try played.ask("/2", whole: false)
        try played.send(.body(ByteBuffer(repeating: 0x20, count: 60_000)))
        #expect(played.channel.isActive)
        try played.send(.body(ByteBuffer(repeating: 0x20, count: 6_000)))
        #expect(!played.channel.isActive)
    }

    @Test("After a reply that says so, or a request that asks for it, the connection ends; the reply says so too")
    func closing() throws {
        for (asked, told) in [("close", HTTPFields()), ("x, Close", HTTPFields()), ("x", [.connection: "close"])] {
            let played = try Played()
            try played.ask("/1", ["Host": "a", "Connection": asked])
            try played.ask("/2")
            played.answer(10, told)
            #expect(try played.passed() == ["/1"])
            #expect(!played.channel.isActive)
            let head = try #require(played.dam.parts.first)
            guard case .head(let response) = head else { return #expect(Bool(false), "\(head)") }
            #expect(response.headers["Connection"] == ["close"])
        }
    }

    @Test("RFC 9112 §2.2: what is no HTTP is passed on as such when its turn comes, and nothing after it")
    func unreadable() throws {
        let played = try Played()
        try played.ask("/1")
        played.channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(try played.passed() == ["/1"])
        played.answer()
        #expect(try played.passed() == [nil])
        try played.ask("/2")
        played.answer()
        #expect(try played.passed() == [])
        #expect(!played.channel.isActive)
    }

    @Test("A server that stops ends the connection at once, or with the reply to the request it has read")
    func quiescing() throws {
        let idle = try Played()
        idle.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(!idle.channel.isActive)
        let busy = try Played()
        try busy.ask("/1")
        busy.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(busy.channel.isActive)
        busy.answer()
        #expect(!busy.channel.isActive)
    }
}

@Suite("How many connections there may be")
struct ConnectionCountTests {
    @Test("An address has as many as it may, an IPv6 address shares them with its half; who leaves makes room")
    func perAddress() throws {
        let counts = ConnectionCounts(limit: 2, proxies: TrustedProxies())
        for (first, second, other) in [
            ("192.0.2.1", "192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"),
        ] {
            let address = try #require(IPAddress(first))
            #expect(counts.enter(address))
            #expect(counts.enter(IPAddress(second)))
            #expect(!counts.enter(address))
            #expect(counts.enter(IPAddress(other)))
            counts.leave(address)
            #expect(counts.enter(IPAddress(second)))
            #expect(!counts.enter(address))
        }
        #expect(counts.current.refused == 4)
        #expect(counts.current.open == 6)
    }

    @Test("This machine and trusted proxies have no limit of their own")
    func exempt() throws {
        let proxies = TrustedProxies(networks: [try #require(Network("10.0.0.0/8"))])
        let counts = ConnectionCounts(limit: 1, proxies: proxies)
        for address in ["127.0.0.1", "::1", "10.1.2.3"] {
            for _ in 0..<5 { #expect(counts.enter(IPAddress(address)), "\(address)") }
        }
        #expect(counts.enter(nil) && counts.enter(nil))
    }

    @Test("One connection too many is hung up on before anything is read from it")
    func refused() throws {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: "192.0.2.1", port: 1)
        let counts = ConnectionCounts(limit: 0, proxies: TrustedProxies())
        let connection = HTTPConnection(responder: { _, _, _ in }, counts: counts, refusing: { _, _ in nil })
        let isSetUp = channel.eventLoop.makePromise(of: Bool.self)
        connection.setup(channel: channel, logger: Responder.silent).map { _ in true }.recover { _ in false }
            .cascade(to: isSetUp)
        #expect(try isSetUp.futureResult.wait() == false)
        channel.embeddedEventLoop.run()
        #expect(throws: ChannelError.self) {
            try channel.connect(to: SocketAddress(ipAddress: "1.1.1.1", port: 1)).wait()
        }
        #expect(counts.current == (0, 1))
    }
}
