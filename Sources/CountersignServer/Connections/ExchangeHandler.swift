import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Synchronization

/// Handles the exchanges on a connection one by one: a request, its reply, and only then the next request.
///
/// Nothing more is read until a reply is sent, so a caller who reads no replies cannot make them pile up here. Data
/// that was read before is held, up to a small limit. The connection ends after a time if the caller leaves bytes
/// unread, if a body does not arrive, or if the connection is not used. A hangup is noticed in any case, because the
/// system reports it without reading.
///
/// One handler does all of this, because each handler takes memory for as long as a caller waits.
final class ExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// Input that arrived before its turn.
    private enum Held {
        case part(HTTPServerRequestPart)
        case unreadable
        case inputClosed
    }

    /// The cancellers of all open connections: asking a pipeline for its handler would take a turn of its event loop.
    private static let open = Mutex<[ObjectIdentifier: WaitCanceller]>([:])

    /// Refuses a request at once; nil if the request is to be passed on.
    typealias Refusing = @Sendable (HTTPRequest, any Channel) -> RenderedRefusal?

    private let limits: ExchangeLimits
    private let refusing: Refusing
    private let canceller = WaitCanceller()
    private var context: ChannelHandlerContext?

    /// Whether the head of a request was passed on, but not its end.
    private var isReceiving = false
    /// Whether the head of a request was passed on, but its reply is not sent.
    private var isAnswering = false
    /// Whether the request that is being received was refused, and the rest of it is discarded.
    private var isRefused = false
    /// Whether the connection ends after the reply.
    private var endsWithReply = false
    /// Whether the server is stopping; it then does not wait for callers to read.
    private var isQuiescing = false
    /// Whether input is read and discarded.
    private var isOver = false
    private var isOutputClosed = false
    private var isReadPending = false
    private var held = CircularBuffer<Held>(initialCapacity: 0)
    private var heldCost = 0

    private var replies = CircularBuffer<(part: HTTPResponsePart, promise: EventLoopPromise<Void>?)>(initialCapacity: 0)
    /// The bytes that were passed to the system, but not yet accepted by it.
    private var unsent = 0
    private var isWriting = false

    /// When an idle connection ends.
    private var idleDue: NIODeadline?
    private var bodyDue: NIODeadline?
    private var writeDue: NIODeadline?
    private var timer: (at: NIODeadline, task: Scheduled<Void>)?

    init(limits: ExchangeLimits = ExchangeLimits(), refusing: @escaping Refusing = { _, _ in nil }) {
        self.limits = limits
        self.refusing = refusing
    }

    /// The canceller for the waits of a connection; nil if the connection has ended.
    static func canceller(of channel: any Channel) -> WaitCanceller? {
        open.withLock { $0[ObjectIdentifier(channel)] }
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let channel = ObjectIdentifier(context.channel)
        Self.open.withLock { $0[channel] = canceller }
        idleDue = context.eventLoop.now + limits.idle
        schedule()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        let channel = ObjectIdentifier(context.channel)
        Self.open.withLock { $0[channel] = nil }
        end()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    private func end() {
        canceller.interrupt()
        timer?.task.cancel()
        (timer, idleDue, bodyDue, writeDue) = (nil, nil, nil, nil)
        (isOver, isAnswering) = (true, false)
        held.removeAll()
        let unwritten = replies
        replies.removeAll()
        for reply in unwritten { reply.promise?.fail(ChannelError.ioOnClosedChannel) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            canceller.interrupt()
            // Requests that arrived before the hangup are passed on before it.
            if held.isEmpty { context.fireUserInboundEventTriggered(event) } else { held.append(.inputClosed) }
            if isOutputClosed { context.close(promise: nil) }
        case is ChannelShouldQuiesceEvent:
            (endsWithReply, isQuiescing) = (true, true)
            if !isAnswering { context.close(promise: nil) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard error is HTTPParserError else {
            canceller.interrupt()
            context.fireErrorCaught(error)
            return
        }
        if isOver { return }
        if isHolding {
            held.append(.unreadable)
        } else if !isReceiving {
            passUnreadable(MalformedRequest(description: "it is not HTTP"))
            context.fireChannelReadComplete()
        } else {
            breakOff(error)
        }
    }

    /// Ends a request whose body will not arrive completely.
    private func breakOff(_ error: any Error) {
        guard isAnswering else {
            context?.close(promise: nil)
            return
        }
        (isOver, isReceiving, endsWithReply, bodyDue) = (true, false, true, nil)
        context?.fireErrorCaught(error)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else {
            context.close(mode: mode, promise: promise)
            return
        }
        // The caller of this function has written everything, but some of it may not be sent yet.
        endsWithReply = true
        if !isAnswering { closeOutput() }
        promise?.succeed()
    }

    /// Closes the output, and keeps the connection a little longer so that the caller can read the reply.
    ///
    /// If the connection were closed at once while the caller still sends, it would be reset and the reply lost. Spec:
    /// RFC 9112 §9.6.
    private func closeOutput() {
        guard let context, !isOutputClosed else { return }
        (isOver, isReceiving, isOutputClosed, bodyDue) = (true, false, true, nil)
        held.removeAll()
        idleDue = context.eventLoop.now + limits.linger
        schedule()
        let closed = context.eventLoop.makePromise(of: Void.self)
        closed.futureResult.assumeIsolated().whenFailure { _ in context.close(promise: nil) }
        context.close(mode: .output, promise: closed)
        context.read()
    }

    // MARK: Requests

    /// Whether further input must wait for the reply to an earlier request.
    private var isHolding: Bool { isAnswering && !isReceiving || !held.isEmpty }

    func read(context: ChannelHandlerContext) {
        if isHolding { isReadPending = true } else { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if isOver { return }
        let part = unwrapInboundIn(data)
        guard isHolding else {
            pass(part)
            return
        }
        heldCost += Self.cost(of: part)
        guard heldCost <= limits.held else {
            context.close(promise: nil)
            return
        }
        held.append(.part(part))
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        // Input after the last reply is read until the time is up.
        if isOutputClosed { context.read() }
        expectBody()
    }

    private func pass(_ part: HTTPServerRequestPart) {
        guard let context else { return }
        switch part {
        case .head(let head):
            endsWithReply = endsWithReply || !head.isKeepAlive
            do throws(MalformedRequest) {
                let request = try HTTPRequest(checked: head)
                (isReceiving, isAnswering, idleDue) = (true, true, nil)
                if let refusal = refusing(request, context.channel) {
                    isRefused = true
                    reply(with: refusal, isHead: request.method == .head)
                } else {
                    context.fireChannelRead(wrapInboundOut(.head(request)))
                }
            } catch {
                passUnreadable(error, (try? HTTPRequest.Method(head.method)) ?? .get)
            }
        case .body(let bytes):
            if !isRefused { context.fireChannelRead(wrapInboundOut(.body(bytes))) }
        case .end:
            (isReceiving, bodyDue) = (false, nil)
            // No door reads trailers.
            if !isRefused { context.fireChannelRead(wrapInboundOut(.end(nil))) }
            isRefused = false
            if !isAnswering { rest() }
        }
    }

    /// Passes on a request that cannot be parsed; all later input is discarded.
    private func passUnreadable(_ fault: MalformedRequest, _ method: HTTPRequest.Method = .get) {
        (isOver, isAnswering, endsWithReply, idleDue) = (true, true, true, nil)
        context?.fireChannelRead(wrapInboundOut(.head(.unreadable(method, fault))))
        context?.fireChannelRead(wrapInboundOut(.end(nil)))
    }

    /// Passes on the held input for which it is time.
    private func release() {
        guard let context else { return }
        while !isOver, !(isAnswering && !isReceiving), let next = held.popFirst() {
            switch next {
            case .part(let part):
                heldCost -= Self.cost(of: part)
                pass(part)
            case .unreadable: passUnreadable(MalformedRequest(description: "it is not HTTP"))
            case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
        }
        context.fireChannelReadComplete()
        expectBody()
        if isReadPending, !isHolding {
            isReadPending = false
            context.read()
        }
    }

    /// Starts the time limit for a body if more of the request is to come.
    private func expectBody() {
        guard let context, isReceiving, bodyDue == nil else { return }
        bodyDue = context.eventLoop.now + limits.body
        schedule()
    }

    private func rest() {
        guard let context else { return }
        idleDue = context.eventLoop.now + limits.idle
        schedule()
    }

    /// The memory that it takes to hold a part, roughly in bytes.
    private static func cost(of part: HTTPServerRequestPart) -> Int {
        switch part {
        case .head(let head):
            head.headers.reduce(512 + head.uri.utf8.count) { $0 + 32 + $1.name.utf8.count + $1.value.utf8.count }
        case .body(let bytes): 64 + bytes.readableBytes
        case .end: 64
        }
    }

    // MARK: Replies

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // There is no request to reply to: the connection has ended, or the framework adds a reply of its own.
        guard isAnswering else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        replies.append((unwrapOutboundIn(data), promise))
    }

    func flush(context: ChannelHandlerContext) { send() }

    /// Replies without passing the request on.
    private func reply(with refusal: RenderedRefusal, isHead: Bool) {
        var head = HTTPResponse(status: .init(code: refusal.status), headerFields: refusal.headers)
        head.headerFields[.contentLength] = "\(refusal.body.count)"
        replies.append((.head(head), nil))
        // The caller would read a body here as the beginning of the next reply. Spec: RFC 9110 §9.3.2.
        if !isHead { replies.append((.body(ByteBuffer(bytes: refusal.body)), nil)) }
        replies.append((.end(nil), nil))
        send()
    }

    /// Passes as much of the replies to the system as the limit allows.
    private func send() {
        // A write may complete at once, which calls this function again.
        guard let context, !isWriting else { return }
        isWriting = true
        var wasWritten = true
        while wasWritten {
            wasWritten = false
            while let next = replies.first, write(next.part, next.promise) { wasWritten = true }
            if wasWritten { context.flush() }
        }
        isWriting = false
        if unsent == 0 {
            writeDue = nil
        } else if writeDue == nil {
            writeDue = context.eventLoop.now + limits.write
            schedule()
        }
    }

    /// Writes the first remaining part or a slice of it; returns false if it must wait until more bytes are accepted.
    private func write(_ part: HTTPResponsePart, _ promise: EventLoopPromise<Void>?) -> Bool {
        switch part {
        case .head(let response):
            guard unsent < limits.slice else { return false }
            replies.removeFirst()
            var head = HTTPResponseHead(response)
            if !head.isKeepAlive { endsWithReply = true }
            if endsWithReply { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            write(.head(head), size: 512, promise)
        case .body(var bytes):
            guard unsent < limits.slice else { return false }
            guard let slice = bytes.readSlice(length: min(limits.slice, bytes.readableBytes)) else { return false }
            if bytes.readableBytes == 0 {
                replies.removeFirst()
                write(.body(.byteBuffer(slice)), size: max(1, slice.readableBytes), promise)
            } else {
                replies[replies.startIndex].part = .body(bytes)
                write(.body(.byteBuffer(slice)), size: slice.readableBytes, nil)
            }
        case .end(let trailers):
            guard unsent == 0 else { return false }
            replies.removeFirst()
            write(.end(trailers.map { HTTPHeaders($0) }), size: 1, promise, isEnd: true)
        }
        return true
    }

    private func write(
        _ part: HTTPServerResponsePart, size: Int, _ promise: EventLoopPromise<Void>?, isEnd: Bool = false
    ) {
        guard let context else { return }
        unsent += size
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenComplete { [self] result in
            unsent -= size
            // A failed write ends the connection, which is handled elsewhere.
            guard case .success = result else { return }
            if isEnd { finish() }
            send()
        }
        written.futureResult.cascade(to: promise)
        context.write(wrapOutboundOut(part), promise: written)
    }

    /// Ends the connection after a reply, or continues with the next request.
    private func finish() {
        isAnswering = false
        if isQuiescing, !isReceiving {
            context?.close(promise: nil)
            return
        }
        guard !endsWithReply else { return closeOutput() }
        guard !isReceiving else { return }
        rest()
        release()
    }

    // MARK: Times

    private func schedule() {
        guard let context, let due = [idleDue, bodyDue, writeDue].compactMap({ $0 }).min() else { return }
        // A timer that is too early checks the deadlines again; most deadlines are never reached.
        if let timer, timer.at <= due { return }
        timer?.task.cancel()
        let task = context.eventLoop.assumeIsolated().scheduleTask(deadline: due) { [self] in lookAtTimes() }
        timer = (due, task)
    }

    private func lookAtTimes() {
        timer = nil
        guard let context else { return }
        let now = context.eventLoop.now
        if [idleDue, writeDue].compactMap({ $0 }).contains(where: { $0 <= now }) {
            (idleDue, bodyDue, writeDue) = (nil, nil, nil)
            context.close(promise: nil)
        } else if let bodyDue, bodyDue <= now {
            // The reply to the incomplete request has as much time as the body had.
            idleDue = now + limits.body
            breakOff(BodyTooSlow())
        }
        schedule()
    }
}

@available(*, unavailable)
extension ExchangeHandler: Sendable {}

/// The body did not arrive in time.
struct BodyTooSlow: Error {}
