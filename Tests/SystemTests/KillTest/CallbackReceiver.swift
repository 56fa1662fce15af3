import Crypto
import Encodings
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TestSupport

/// Receives the shops' callbacks: a real HTTP server on a free port of this machine.
///
/// Some callbacks it refuses, after it has taken note of them: those must come again, the same.
final class CallbackReceiver: Sendable {
    /// A callback, as it was told apart by its receiver.
    struct Callback: Hashable, Sendable {
        let id: String
        let body: [UInt8]
    }

    /// Where it judges what custom authenticators hand over.
    static let hook = "/hook"

    private struct State {
        /// The challenges that a hook said yes to.
        var judged: Set<String> = []
        /// Every distinct callback, by the id of the challenge it is about.
        var callbacks: [String: Set<Callback>] = [:]
        var total = 0
        var violations: [String] = []
        var random: SeededGenerator
        /// How many requests get no answer at all, before the others get one.
        var silentFor: Int
        /// Whether it takes no note of anything, and answers nothing.
        var hangs = false
        var counted: [(total: Int, Occurrence)] = []
        var missing: Set<String> = []
        var complete: Occurrence?
    }

    private let state: Mutex<State>
    private let secrets = Mutex<[String: String]>([:])

    /// A receiver that does not listen yet.
    ///
    /// - Parameters:
    ///   - random: decides what it refuses.
    ///   - silentFor: how many requests it does not answer at all, before it answers the others.
    init(random: SeededGenerator, silentFor: Int = 0) {
        state = Mutex(State(random: random, silentFor: silentFor))
    }

    /// Listens for as long as the body runs.
    ///
    /// - Parameter body: is given the port.
    func listening<Result: Sendable>(_ body: (Int) async throws -> Result) async throws -> Result {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Handler(receiver: self))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let result = try await body(channel.localAddress?.port ?? 0)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }

    /// From now on it takes no note of anything and answers nothing; or it does again.
    func hang(_ hangs: Bool) {
        state.withLock { $0.hangs = hangs }
    }

    /// From now on, callbacks to this path are signed by this secret.
    func expect(secret: String, at path: String) {
        secrets.withLock { $0[path] = secret }
    }

    /// How many arrived, repeats included.
    var total: Int { state.withLock { $0.total } }
    /// Every distinct callback, by the id of the challenge it is about.
    var callbacks: [String: Set<Callback>] { state.withLock { $0.callbacks } }
    /// The challenges that a hook said yes to.
    var judged: Set<String> { state.withLock { $0.judged } }
    /// What must not have arrived.
    var violations: [String] { state.withLock { $0.violations } }

    /// Happens when a callback has arrived for each of these challenges.
    func arrival(of challenges: some Sequence<String>) -> Occurrence {
        let complete = Occurrence()
        state.withLock { state in
            state.missing = Set(challenges).subtracting(state.callbacks.keys)
            state.complete = complete
            if state.missing.isEmpty { complete.happen() }
        }
        return complete
    }

    /// Happens when this many callbacks have arrived, repeats included.
    func arrivals(_ total: Int) -> Occurrence {
        let arrived = Occurrence()
        state.withLock { state in
            if state.total >= total { arrived.happen() } else { state.counted.append((total, arrived)) }
        }
        return arrived
    }

    /// The challenges whose callbacks have not arrived.
    var missing: Set<String> { state.withLock { $0.missing } }

    /// Takes note of a request and decides on the answer, or not to answer.
    fileprivate func answer(_ head: HTTPRequestHead, _ body: [UInt8]) -> (HTTPResponseStatus, [UInt8])? {
        guard head.uri == Self.hook else { return receive(head, body).map { ($0, []) } }
        let question = try? JSONValue(parsing: body)
        let verdict: JSONValue = state.withLock { state in
            guard let challenge = question?["challenge"]?["id"]?.string else {
                // The device that registers hands over its own id here, and the challenge's to approve.
                let isRight = question?["data"] == question?["enrollment"]
                return ["result": .string(isRight ? "ok" : "fail")]
            }
            guard question?["data"] == .string(challenge) else { return ["result": "fail"] }
            if state.random.happens(percent: 5) { return ["result": "retry"] }
            state.judged.insert(challenge)
            return ["result": "ok"]
        }
        return (.ok, verdict.encoded)
    }

    private func receive(_ head: HTTPRequestHead, _ body: [UInt8]) -> HTTPResponseStatus? {
        let secret = secrets.withLock { $0[head.uri] }
        let json = try? JSONValue(parsing: body)
        return state.withLock { state in
            guard !state.hangs else { return nil }
            state.total += 1
            for (total, arrived) in state.counted where total == state.total { arrived.happen() }
            guard let id = head.headers.first(name: "webhook-id"), let secret, let challenge = json?["challenge"],
                let about = challenge["id"]?.string,
                json?["type"] == .string("challenge.\(challenge["state"]?.string ?? "")"),
                Self.isSigned(head, body, by: secret)
            else {
                state.violations.append("\(head): \(String(decoding: body, as: UTF8.self))")
                return .badRequest
            }
            state.callbacks[about, default: []].insert(Callback(id: id, body: body))
            state.missing.remove(about)
            if state.missing.isEmpty { state.complete?.happen() }
            if state.total <= state.silentFor { return nil }
            return state.random.happens(percent: 3) ? .serviceUnavailable : .noContent
        }
    }

    /// Spec: Standard Webhooks, *Verifying signatures*.
    private static func isSigned(_ head: HTTPRequestHead, _ body: [UInt8], by secret: String) -> Bool {
        guard let key = Base64.decode(secret.dropFirst("whsec_".count)),
            let id = head.headers.first(name: "webhook-id"),
            let time = head.headers.first(name: "webhook-timestamp"),
            let signature = head.headers.first(name: "webhook-signature"), signature.hasPrefix("v1,"),
            let code = Base64.decode(signature.dropFirst(3))
        else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(
            code, authenticating: Array("\(id).\(time).".utf8) + body, using: SymmetricKey(data: key))
    }
}

/// Collects one request after the other and answers it.
private final class Handler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receiver: CallbackReceiver
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(receiver: CallbackReceiver) {
        self.receiver = receiver
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
        case .body(let buffer):
            body += Array(buffer.readableBytesView)
        case .end:
            guard let head, let (status, content) = receiver.answer(head, body) else { return }
            let answer = HTTPResponseHead(
                version: head.version, status: status, headers: ["content-length": "\(content.count)"])
            context.write(wrapOutboundOut(.head(answer)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: content)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The server was killed while it spoke.
        context.close(promise: nil)
    }
}
