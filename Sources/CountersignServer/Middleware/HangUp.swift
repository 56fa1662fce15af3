import NIOCore
import Synchronization

/// Notices when the caller at the other end of a connection hangs up.
///
/// A request that waits reads and writes nothing, so nothing else would tell; its place among the waits would be
/// taken until its time is up.
final class HangUpHandler: ChannelInboundHandler, RemovableChannelHandler, Sendable {
    typealias InboundIn = NIOAny

    private struct State {
        var isHungUp = false
        var waiting: [Int: AsyncStream<Never>.Continuation] = [:]
        var next = 0
    }

    /// The handlers of all connections: to ask a pipeline for its handler would take a turn of its event loop.
    private static let all = Mutex<[ObjectIdentifier: HangUpHandler]>([:])

    private let state = Mutex(State())

    /// The handler of a connection; nil when it has ended.
    static func of(_ channel: any Channel) -> HangUpHandler? {
        all.withLock { $0[ObjectIdentifier(channel)] }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = ObjectIdentifier(context.channel)
        Self.all.withLock { $0[channel] = self }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        let channel = ObjectIdentifier(context.channel)
        Self.all.withLock { $0[channel] = nil }
    }

    /// Returns when the caller has hung up, or when the task is cancelled.
    func hungUp() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        let number = state.withLock { state -> Int? in
            guard !state.isHungUp else { return nil }
            state.next += 1
            state.waiting[state.next] = continuation
            return state.next
        }
        guard let number else { return }
        for await _ in stream {}
        state.withLock { state in state.waiting[number] = nil }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { tell() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        tell()
        context.fireChannelInactive()
    }

    private func tell() {
        let waiting = state.withLock { state in
            state.isHungUp = true
            return state.waiting.values.map { $0 }
        }
        for continuation in waiting { continuation.finish() }
    }
}

extension ServerContext {
    /// Runs something that may wait; it is cancelled when the caller hangs up.
    ///
    /// - Throws: `CancellationError` when the caller has hung up, besides what `body` throws.
    func untilHungUp<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        guard let caller = HangUpHandler.of(channel) else {
            // The connection is gone, and its handlers with it.
            throw CancellationError()
        }
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await caller.hungUp()
                return nil
            }
            defer { group.cancelAll() }
            guard let result = try await group.next() ?? nil else { throw CancellationError() }
            return result
        }
    }
}
