package import CountersignWire

/// Shows a device the user's other devices.
///
/// Spec: design 13 §1.6 and §2.3.
package enum ShowOtherDevices {
    /// The other devices, as the calling one sees them.
    package struct List: Equatable, Sendable {
        /// What an act is signed with.
        package let nonce: Nonce
        /// The devices.
        package let enrollments: [Enrollment]
        /// Whether resuming one needs a method's signature; removing or suspending one may need none where this says so.
        package let needsMethod: Bool
        /// When this is so.
        package let now: Timestamp
    }

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// The devices.
        case list(List)
        /// The call is refused.
        case refused(DeviceRefusal)
        /// The calling device waits to be added itself.
        case waiting
    }

    /// Lists the user's other devices.
    package static func show(to call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let id = call.enrollment.id
        let nonce = ports.hasher.changeNonce(for: id, at: now, random: ports.random.bytes(8))
        return try await ports.commit(at: now, as: call.actor) { work in
            if let refusal = try work.admit(call) { return .refused(refusal) }
            let trust = try work.trustState(of: call.enrollment.user)
            guard trust.has(id) else { return .waiting }
            return .list(
                List(
                    nonce: nonce, enrollments: trust.enrollments.filter { $0.id != id },
                    needsMethod: trust.isGuarded(), now: now))
        }
    }
}

extension TrustState {
    /// Whether a device is let in.
    fileprivate func has(_ id: EnrollmentID) -> Bool { enrollments.contains { $0.id == id && $0.isLetIn(at: now) } }
}
