package import CountersignWire

/// Shows the calling device its methods, with a nonce for a change.
package enum ShowMethods {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The methods.
        case methods(MethodsReply)
        /// The call is refused.
        case refused(DeviceRefusal)
    }

    /// Shows the methods of the calling device.
    ///
    /// - Parameters:
    ///   - call: the call of the device.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func show(to call: DeviceCall, ports: Ports) async throws -> Outcome {
        let now = ports.time.now
        let nonce = ports.hasher.changeNonce(for: call.enrollment, at: now, random: ports.random.bytes(8))
        return try await ports.read(for: call, at: now, refused: Outcome.refused) { work, enrollment in
            guard let certificate = try work.methods.certificate(of: enrollment.id) else {
                throw StoreError.corruptRow("certificate")
            }
            return .methods(
                MethodsReply(
                    nonce: nonce, pin: enrollment.pinState, attemptsLeft: try work.stores.attemptsLeft(of: enrollment),
                    policy: try work.stores.pinPolicy(of: enrollment), hasBiometric: enrollment.biometric != nil,
                    custom: try work.stores.customs(of: enrollment),
                    waiting: Dictionary(uniqueKeysWithValues: enrollment.waiting(at: now).map { ($0, $1) }),
                    changesLeft: DeviceCertificateForm.changesLeft(in: certificate.count)))
        }
    }
}
