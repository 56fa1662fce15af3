public import CountersignCore
public import CountersignWire

extension WatchChallenge {
    /// A client's challenge, or nil, when it has ended or at the deadline.
    public static func end(
        of id: ChallengeID, for client: ClientID, by deadline: Timestamp, ports: Ports
    ) async throws -> Shown? {
        switch try await challenge(id, of: client, waitingUntil: deadline, wakes: ports.wakes, ports: ports) {
        case .ended(let shown): shown
        case .waiting(let wait): try await wait.outcome(ports: ports)
        }
    }
}
