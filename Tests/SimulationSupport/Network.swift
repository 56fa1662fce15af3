import CountersignCore

/// The error of a caller who gets no answer.
struct Unanswered: Error {}

/// Delivers messages from phones and portals to nodes: late, twice, or not at all.
struct Network {
    /// How long a caller waits for an answer, in addition to the time for which the server may hold the call.
    private static let patience = Duration.seconds(10)
    /// After this time no request is still on its way.
    static let longestDelay = Duration.seconds(33)

    let world: SimulatedWorld

    /// Calls a node, as a request over the network does.
    ///
    /// - Parameters:
    ///   - node: the node.
    ///   - waiting: how long the node may hold the call.
    ///   - body: the work of the node; for a message that arrives twice it runs twice, and the first answer counts.
    /// - Throws: ``Unanswered``, and the errors of the body.
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

    /// Calls one node after the other until one answers, as a client does that repeats its request.
    ///
    /// - Parameters:
    ///   - name: the name of the caller; an error that does not come from a fault breaks liveness.
    ///   - tries: how often it calls.
    ///   - waiting: how long a node may hold the call.
    ///   - isWanted: whether the caller still wants the answer.
    ///   - body: the work of the node.
    /// - Returns: nil if there was no answer.
    func answer<Reply: Sendable>(
        for name: String, tries: Int, waiting: Duration = .zero, while isWanted: () -> Bool = { true },
        _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) async -> Reply? {
        for _ in 0..<tries where isWanted() {
            do { return try await call(world.someNode(), waiting: waiting, body) } catch is Unanswered {
            } catch StoreError.unavailable {
            } catch is CancellationError {
            } catch {
                world.violate(0, "\(name): \(error)")
            }
            try? await world.pause(world.milliseconds(200...3000))
        }
        return nil
    }

    private func arrive<Reply: Sendable>(
        at node: Node, after delay: Duration, reply: Once<Reply>?,
        _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) {
        let (world, scheduler) = (world, world.scheduler)
        scheduler.at(scheduler.elapsed + delay) {
            // The node is down, so the connection is refused.
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
