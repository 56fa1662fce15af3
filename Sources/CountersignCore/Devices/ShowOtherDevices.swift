package import CountersignWire

/// Shows the calling device the user's other devices.
///
/// Spec: docs/protocol/devices.md, *The list*.
package enum ShowOtherDevices {
    /// The user's other devices, with what the calling device needs to act on them.
    package struct List: Equatable, Sendable {
        /// The nonce for an act.
        package let nonce: Nonce
        /// The devices.
        package let enrollments: [Enrollment]
        /// Whether resuming a device needs a method's signature.
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
            let trust = try work.trustState(of: call.user)
            guard trust.has(id) else { return .waiting }
            return .list(
                List(
                    nonce: nonce, enrollments: trust.enrollments.filter { $0.id != id },
                    needsMethod: trust.isGuarded(), now: now))
        }
    }
}

extension TrustState {
    /// Whether one of the enrollments has this id and is let in.
    fileprivate func has(_ id: EnrollmentID) -> Bool { enrollments.contains { $0.id == id && $0.isLetIn(at: now) } }
}
