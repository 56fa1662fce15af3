package import CountersignWire

/// Shows the calling device the user's other devices on which it may act.
///
/// Spec: docs/protocol/devices.md, *The list*.
package enum ShowOtherDevices {
    /// The user's other devices, with what the calling device needs to act on them.
    package struct List: Equatable, Sendable {
        /// The nonce for an act.
        package let nonce: Nonce
        /// The devices.
        package let enrollments: [Enrollment]
        /// Whether resuming one of the devices needs a method's signature.
        ///
        /// If not, no act needs one. If so, suspending or removing a device may still need none: the methods of the
        /// device that is taken away do not count then, and a device that waits can always be removed.
        package let needsMethod: Bool
        /// When the list was read.
        package let now: Timestamp
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The devices.
        case list(List)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device itself still waits to be added.
        case waiting
    }

    /// Lists the user's other devices.
    ///
    /// - Parameters:
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(to call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let id = call.enrollment
        let nonce = ports.hasher.changeNonce(for: id, at: now, random: ports.random.bytes(8))
        return try await ports.read(for: call, at: now, refused: Outcome.refused) { work, _ in
            let all = try work.enrollments.active(of: call.user)
            guard let caller = all.first(where: { $0.id == id }), caller.isLetIn(at: now) else { return .waiting }
            let others = all.filter { $0.id != id && caller.mayActOn($0) }
            let groups = Set(others.map(\.trustGroup)).union([caller.trustGroup])
            let needsMethod = try groups.contains {
                try work.trustState(of: call.user, in: $0, among: all).isGuarded()
            }
            return .list(List(nonce: nonce, enrollments: others, needsMethod: needsMethod, now: now))
        }
    }
}
