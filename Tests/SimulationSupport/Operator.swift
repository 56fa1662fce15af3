import CountersignCore
import CountersignWire
import StorageTestSupport

/// The operator, who removes and suspends devices, ends locks and rotates keys during the simulation.
final class Operator: @unchecked Sendable {
    private unowned let world: SimulatedWorld

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    func work() async {
        while !world.isCalm {
            try? await world.pause(.seconds(world.draw(60...600)))
            guard !world.isCalm else { return }
            do { try await act() } catch { world.trace.note("operator", "fails: \(error)") }
        }
    }

    private func act() async throws {
        let admin = world.portals[0].client
        guard let user = world.pick(world.users) else { return }
        let device = world.pick(user.phones)?.device?.id
        let act = world.draw(0...10)
        world.trace.note("operator", "does \(act) to \(user.number)")
        let network = Network(world: world)
        switch act {
        case 0: if let device { await world.pick(world.portals)?.remove(device, of: user) }
        case 1:
            guard let device else { return }
            _ = try await network.call(world.someNode()) {
                try await RemoveEnrollment.remove(device, because: .lost, by: admin.actor, ports: $0.ports)
            }
        case 2, 3:
            guard let device else { return }
            for isSuspended in [true, false] {
                _ = try await network.call(world.someNode()) {
                    try await SuspendEnrollment.suspend(device, isSuspended, by: admin.actor, ports: $0.ports)
                }
                try await world.pause(.seconds(world.draw(1...120)))
            }
        case 4:
            let listed = try await network.call(world.someNode()) {
                try await ListLocks.list(after: nil, limit: 10, ports: $0.ports)
            }
            guard case .locks(let locks) = listed else { return }
            for lock in locks {
                _ = try await network.call(world.someNode()) {
                    try await EndLock.end(lock.challenge, by: admin.actor, ports: $0.ports)
                }
            }
        case 5: try await delete(user)
        case 6:
            let portal = world.pick(world.portals.filter { user.id(at: $0) != nil })
            if let portal { world.scheduler.start { await portal.letGo(user) } }
        case 7, 8:
            let clients = Array(world.portals.dropFirst()) + world.callCentres.map(\.client)
            guard let portal = world.pick(clients), !portal.isGone else { return }
            let isForGood = portal.number == 3 && portal.role == .portal && world.happens(percent: 25)
            if isForGood { try await delete(portal) } else { try await disable(portal) }
        default:
            guard let use = world.pick(KeyUse.allCases) else { return }
            _ = try await network.call(world.someNode()) {
                try await RotateIssuerKey.begin(use, isAtOnce: true, by: admin.actor, ports: $0.ports)
            }
        }
    }

    /// Repeats a call until it is answered.
    private func insist<Reply: Sendable>(
        _ body: @escaping @Sendable (Node.Services) async throws -> Reply
    ) async throws -> Reply {
        while true {
            do { return try await Network(world: world).call(world.someNode(), body) } catch is Unanswered {
            } catch StoreError.unavailable {
            } catch is CancellationError {
            }
            try await world.pause(.seconds(1))
        }
    }

    /// Deletes a user; the portals create the user again by the same name after a while.
    private func delete(_ user: User) async throws {
        let admin = world.portals[0].client
        guard let id = world.pick(user.links.filter { $0.end == nil })?.id else { return }
        let known = world.portals.filter { user.id(at: $0) == id }
        _ = try await insist { try await DeleteUser.delete(.id(id), by: admin.caller, ports: $0.ports) }
        world.trace.note("operator", "has deleted \(id)")
        world.ledger.counts.deletedUsers += 1
        user.unlink(id)
        for portal in known {
            world.scheduler.start { [world] in
                try? await world.pause(.seconds(world.draw(1...120)))
                await portal.makeAnew(user)
            }
        }
    }

    /// Disables a client while it waits, and enables it again after a while.
    private func disable(_ portal: Portal) async throws {
        let (admin, id) = (world.portals[0].client, portal.client.id)
        portal.beDisabled()
        let disabled = try await insist { try await DisableClient.disable(id, by: admin.actor, ports: $0.ports) }
        world.trace.note("operator", "has disabled \(portal.name)")
        if case .disabled = disabled { try world.watch.nothingOpen(of: id) }
        // A request to disable that was repeated may still be on its way, and would disable the client again.
        try await world.pause(Network.longestDelay + .seconds(world.draw(1...60)))
        _ = try await insist { try await EnableClient.enable(id, by: admin.actor, ports: $0.ports) }
        portal.beEnabled()
    }

    private func delete(_ portal: Portal) async throws {
        let (admin, id) = (world.portals[0].client, portal.client.id)
        portal.beDeleted()
        _ = try await insist { try await DeleteClient.delete(id, by: admin.actor, ports: $0.ports) }
        world.trace.note("operator", "has deleted \(portal.name)")
    }
}

/// Reads the audit with a cursor, from changing nodes.
package final class Auditor: @unchecked Sendable {
    private unowned let world: SimulatedWorld
    private(set) var sequence: Int64 = 0
    private(set) var read: [String] = []

    init(_ world: SimulatedWorld) {
        self.world = world
    }

    func read() async {
        while !world.isCalm {
            try? await world.pause(.seconds(world.draw(10...120)))
            let sequence = sequence
            let found = try? await Network(world: world).call(world.someNode()) { services in
                let end = try await services.ports.store.auditEnd()
                let events = try await services.ports.store.read { try $0.audit.list(after: sequence, limit: 1000) }
                return events.filter { $0.sequence <= end }.map { ($0.sequence, "\($0.event.id)") }
            }
            for (next, id) in found ?? [] {
                self.sequence = next
                hear(id)
            }
        }
    }

    /// Records an event that was read.
    func hear(_ id: String) { read.append(id) }
}
