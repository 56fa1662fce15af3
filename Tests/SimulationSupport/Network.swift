/// What a caller hears of a call that nobody answered.
struct Unanswered: Error {}

/// Brings messages from phones and portals to nodes, late, twice, or not at all.
struct Network {
    /// How long a caller waits for an answer, besides what the server may hold the call.
    private static let patience = Duration.seconds(10)

    let world: SimulatedWorld

    /// Has a node do something, as a request over the network does.
    ///
    /// - Parameters:
    ///   - node: whom.
    ///   - waiting: how long the node may hold it.
    ///   - body: what it does; of a message that arrives twice it is done twice, and the first answer is heard.
    /// - Throws: ``Unanswered``, or what the body throws.
    func call<Reply: Sendable>(
        _ node: Node, waiting: Duration = .zero, _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) async throws -> Reply {
        let fault = world.faults.next(.message)
        let reply = Once<Reply>()
        let scheduler = world.scheduler
        scheduler.at(scheduler.elapsed + Self.patience + waiting) { reply.end(.failure(Unanswered())) }
        let delay = fault == .late ? world.milliseconds(1000...30_000) : world.latency()
        if fault != .requestLost { arrive(at: node, after: delay, reply: fault == .replyLost ? nil : reply, body) }
        if fault == .doubled { arrive(at: node, after: delay + world.milliseconds(0...2000), reply: nil, body) }
        return try await withCheckedThrowingContinuation { reply.wait($0) }
    }

    private func arrive<Reply: Sendable>(
        at node: Node, after delay: Duration, reply: Once<Reply>?,
        _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) {
        let (world, scheduler) = (world, world.scheduler)
        scheduler.at(scheduler.elapsed + delay) {
            // Nobody listens there: the connection is refused.
            guard let services = node.services, let life = node.life else {
                reply?.end(.failure(Unanswered()))
                return
            }
            let task = scheduler.start {
                let result: Result<Reply, any Error>
                do { result = .success(try await body(services)) } catch { result = .failure(error) }
                guard !life.isOver else { return }
                scheduler.at(scheduler.elapsed + world.latency()) { reply?.end(result) }
            }
            life.onEnd {
                task.cancel()
                reply?.end(.failure(Unanswered()))
            }
        }
    }
}
