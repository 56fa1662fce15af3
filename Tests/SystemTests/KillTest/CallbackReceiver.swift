import Crypto
import Encodings
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TestSupport

/// Receives the shops' callbacks: a real HTTP server on a free local port.
///
/// It refuses some callbacks after it has recorded them; the server must send those again, unchanged.
final class CallbackReceiver: Sendable {
    /// The parts by which callbacks are told apart.
    struct Callback: Hashable, Sendable {
        let id: String
        let body: [UInt8]
    }

    /// The path at which it judges the data of custom authenticators.
    static let hook = "/hook"

    private struct State {
        /// The challenges that the hook has accepted.
        var judged: Set<String> = []
        /// All distinct callbacks, by the id of their challenge.
        var callbacks: [String: Set<Callback>] = [:]
        var total = 0
        var violations: [String] = []
        var random: SeededGenerator
        /// How many requests get no answer before the others are answered.
        var silentFor: Int
        /// Whether it records nothing and answers nothing.
        var hangs = false
        var counted: [(total: Int, Occurrence)] = []
        var missing: Set<String> = []
        var complete: Occurrence?
    }

    private let state: Mutex<State>
    private let secrets = Mutex<[String: String]>([:])

    /// Creates a receiver that does not listen yet.
    ///
    /// - Parameters:
    ///   - random: decides which callbacks it refuses.
    ///   - silentFor: how many requests get no answer before the others are answered.
    init(random: SeededGenerator, silentFor: Int = 0) {
        state = Mutex(State(random: random, silentFor: silentFor))
    }

    /// Listens while the body runs.
    ///
    /// - Parameter body: the body, which gets the port.
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

    /// Stops or resumes recording and answering requests.
    func hang(_ hangs: Bool) {
        state.withLock { $0.hangs = hangs }
    }

    /// Sets the secret with which callbacks to a path must be signed.
    func expect(secret: String, at path: String) {
        secrets.withLock { $0[path] = secret }
    }

    /// The number of callbacks that arrived, including repeats.
    var total: Int { state.withLock { $0.total } }
    /// All distinct callbacks, by the id of their challenge.
    var callbacks: [String: Set<Callback>] { state.withLock { $0.callbacks } }
    /// The challenges that the hook has accepted.
    var judged: Set<String> { state.withLock { $0.judged } }
    /// The callbacks that should not have arrived.
    var violations: [String] { state.withLock { $0.violations } }

    /// An event that happens when a callback has arrived for each of these challenges.
    func arrival(of challenges: some Sequence<String>) -> Occurrence {
        let complete = Occurrence()
        state.withLock { state in
            state.missing = Set(challenges).subtracting(state.callbacks.keys)
            state.complete = complete
            if state.missing.isEmpty { complete.happen() }
        }
        return complete
    }

    /// An event that happens when this many callbacks have arrived, including repeats.
    func arrivals(_ total: Int) -> Occurrence {
        let arrived = Occurrence()
        state.withLock { state in
            if state.total >= total { arrived.happen() } else { state.counted.append((total, arrived)) }
        }
        return arrived
    }

    /// The challenges whose callbacks have not arrived.
    var missing: Set<String> { state.withLock { $0.missing } }

    /// Records a request, and returns the answer or nil for none.
    fileprivate func answer(_ head: HTTPRequestHead, _ body: [UInt8]) -> (HTTPResponseStatus, [UInt8])? {
        guard head.uri == Self.hook else { return receive(head, body).map { ($0, []) } }
        let question = try? JSONValue(parsing: body)
        let verdict: JSONValue = state.withLock { state in
            guard let challenge = question?["challenge"]?["id"]?.string else {
                // A device's data is its enrollment's id when it registers, and the challenge's id when it approves.
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

/// Collects each request and answers it.
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
        // The server was killed while it was sending.
        context.close(promise: nil)
    }
}
