package import CountersignWire

/// Lists what a device with JWKs is asked now, each challenge as the JWT that a push brings.
package enum PendingJWTChallenges {
    /// The most challenges of a list: each is signed by RSA, which takes time.
    static let maximumCount = 10

    /// The longest message that is shown whole, in bytes: of a longer one the app shows the short form.
    private static let longestMessage = 4096

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The challenges, newest first.
        case list([String])
        /// The device is suspended or removed.
        case refused(DeviceRefusal)
        /// The app has enrolled no such device of the user.
        case notFound
        /// The token does not manage this device.
        case scopeMissing
    }

    /// Lists them, and records nothing.
    ///
    /// - Parameters:
    ///   - id: the enrollment.
    ///   - owner: who asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of signing.
    package static func list(of id: EnrollmentID, for owner: DeviceOwner, ports: Ports) async throws -> Outcome {
        // check: OktaPendingTests.scopes
        guard owner.mayMaintain(id) else { return .scopeMissing }
        let now = ports.time.now
        let found = try await ports.store.read { reader -> (device: Enrollment, challenges: [Challenge])? in
            guard let device = try reader.appDevice(id, of: owner) else { return nil }
            let pending = try reader.targets.pending(of: id, user: owner.user, now: now, limit: maximumCount)
            return (device, pending?.challenges ?? [])
        }
        guard let (device, challenges) = found else { return .notFound }
        if let refusal = device.state.refusal(of: id, issuer: ports.issuer) { return .refused(refusal) }
        var tokens: [String] = []
        for challenge in challenges where !challenge.needsReceipt {
            let whole = challenge.question.message
            let message = whole.text.utf8.count <= longestMessage ? whole : challenge.alert
            tokens.append(try await challenge.token(for: device, showing: message, ports: ports))
        }
        return .list(tokens)
    }
}
