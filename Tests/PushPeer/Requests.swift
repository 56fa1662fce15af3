import Dispatch
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// What the peer does besides keeping the rules, as a test says on its standard input, one JSON object a line.
final class Script: Sendable {
    /// What becomes of pushes to one device.
    struct Turn: Sendable {
        let answer: Answer?
        /// How long the answer takes, in milliseconds.
        let delay: Int64
        /// Whether the connection is cut off instead of an answer.
        let breaks: Bool
        /// How often; nil for always.
        var times: Int?
    }

    private struct State {
        var turns: [String: Turn] = [:]
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// How far the peer's clock is ahead, in seconds.
        var ahead: Int64 = 0
        /// What came since it is to be quiet; nil while it tells of everything.
        var noted: [String]?
    }

    private let state = Mutex(State())

    var now: Int64 { Int64(Date().timeIntervalSince1970) + state.withLock { $0.ahead } }

    func opened(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.connections[id] = channel }
        channel.closeFuture.whenComplete { [self] _ in _ = state.withLock { $0.connections.removeValue(forKey: id) } }
    }

    /// What becomes of this push to a device.
    func turn(for device: String) -> Turn? {
        state.withLock { state in
            for key in [device, "*"] {
                guard var turn = state.turns[key] else { continue }
                guard let times = turn.times else { return turn }
                turn.times = times - 1
                state.turns[key] = times > 1 ? turn : nil
                return turn
            }
            return nil
        }
    }

    /// Notes an arrival; false when it is to be told.
    func note(_ id: String) -> Bool {
        let time = DispatchTime.now().uptimeNanoseconds
        return state.withLock { state in
            guard state.noted != nil else { return false }
            state.noted?.append("\(id) \(time)")
            return true
        }
    }

    /// Does what a line says.
    func obey(_ line: String) {
        guard let order = try? JSONValue(parsing: Array(line.utf8)) else { return }
        if let device = order["device"]?.string {
            let status = order["status"]?.integer
            let turn = Turn(
                answer: status.map {
                    Answer(
                        status: Int($0), reason: order["reason"]?.string, timestamp: order["timestamp"]?.integer,
                        retryAfter: order["retry_after"]?.integer)
                }, delay: order["delay"]?.integer ?? 0, breaks: order["breaks"]?.bool ?? false,
                times: order["times"]?.integer.map { Int($0) })
            state.withLock { $0.turns[device] = turn }
        }
        if order["quiet"]?.bool == true { state.withLock { $0.noted = [] } }
        if order["report"]?.bool == true {
            let noted = state.withLock { state in
                defer { state.noted = [] }
                return state.noted ?? []
            }
            FileHandle.standardOutput.write(Data(noted.map { $0 + "\n" }.joined().utf8))
        }
        if let seconds = order["ahead"]?.integer { state.withLock { $0.ahead = seconds } }
        if order["goaway"]?.bool == true {
            for channel in state.withLock({ Array($0.connections.values) }) {
                let frame = HTTP2Frame(
                    streamID: .rootStream,
                    payload: .goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil))
                channel.writeAndFlush(frame, promise: nil)
            }
        }
        tell(["done": .string(line)])
    }
}

/// Tells the test something, one JSON object a line.
func tell(_ members: JSONObject) {
    FileHandle.standardOutput.write(Data((JSONValue.object(members).text + "\n").utf8))
}

/// One request.
final class StreamHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let rules: any PeerRules
    private let script: Script
    private let connection: ConnectionState
    private var head: HTTPRequestHead?
    private var payload: [UInt8] = []

    init(rules: any PeerRules, script: Script, connection: ConnectionState) {
        self.rules = rules
        self.script = script
        self.connection = connection
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let buffer): payload += buffer.readableBytesView
        case .end: answer(context)
        }
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard let head else { return }
        let push = Push(
            method: head.method.rawValue, path: head.uri, fields: head.headers.map { ($0.name.lowercased(), $0.value) },
            payload: payload)
        let judgement = rules.judge(push, on: connection, now: script.now)
        if judgement.opensConnection, let parent = context.channel.parent {
            // More streams at a time from now on.
            let settings = HTTP2Frame.FramePayload.Settings.settings([
                HTTP2Setting(parameter: .maxConcurrentStreams, value: 1000)
            ])
            parent.writeAndFlush(HTTP2Frame(streamID: .rootStream, payload: .settings(settings)), promise: nil)
        }
        let turn = judgement.device.flatMap { script.turn(for: $0) }
        let answer = turn?.answer ?? judgement.answer
        let id = push.values("apns-collapse-id").first ?? push.path
        if !script.note(id) { report(push, answer, breaks: turn?.breaks ?? false) }
        if turn?.breaks == true {
            context.channel.parent?.close(promise: nil)
            return
        }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(turn?.delay ?? 0)) {
            let (handler, context) = bound.value
            handler.send(answer, to: push, context)
        }
    }

    private func send(_ answer: Answer, to push: Push, _ context: ChannelHandlerContext) {
        let id = push.values("apns-id").first ?? UUID().uuidString
        var headers: HTTPHeaders = ["apns-id": id]
        if let seconds = answer.retryAfter { headers.add(name: "retry-after", value: "\(seconds)") }
        let head = HTTPResponseHead(
            version: .http2, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        let body = rules.body(of: answer)
        if !body.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    private func report(_ push: Push, _ answer: Answer, breaks: Bool) {
        var fields = JSONObject()
        for (name, value) in push.fields where name.hasPrefix("apns-") { fields[name] = .string(value) }
        tell([
            "path": .string(push.path), "fields": .object(fields),
            "status": .integer(breaks ? 0 : Int64(answer.status)),
            "reason": answer.reason.map(JSONValue.string) ?? .null,
            "token": .string(push.values("authorization").first ?? ""),
            "payload": .string(String(decoding: push.payload, as: UTF8.self)),
        ])
    }
}
