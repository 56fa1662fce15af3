package import CountersignWire
import OpenPGP

/// Authenticates the device that calls.
///
/// Spec: docs/protocol/requests.md, *Checks of the server*.
package enum VerifyDevice {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The enrollment's key has signed the call, and the time of its proof is accepted.
        case verified(DeviceCall)
        /// The proof is not valid, its time is not accepted, or the enrollment is unknown or known to be
        /// removed.
        case refused(DeviceRefusal)
    }

    /// Verifies that a call comes from an enrolled device, which may be suspended or removed.
    ///
    /// The database is read only for the first call of a device; see ``KnownDevice``.
    ///
    /// - Parameters:
    ///   - proof: the proof, whose key id is the enrollment's id.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func verify(_ proof: some DeviceProof, ports: Ports) async throws -> Outcome {
        guard let id = EnrollmentID(proof.keyID), let (device, removal) = try await ports.knownDevice(id) else {
            return .refused(.unknownEnrollment)
        }
        let now = ports.time.now
        do throws(DeviceRefusal) {
            try proof.check(by: device.key)
            if let removal { throw .deregistered(removal) }
            return .verified(
                DeviceCall(enrollment: id, of: device.user, replayGuard: try ReplayGuard(proof, now: now)))
        } catch {
            return .refused(error)
        }
    }
}

extension DeviceProof {
    /// Verifies the proof with the authentication key of a device.
    ///
    /// - Throws: ``DeviceRefusal/proof(_:)``.
    func check(by key: CertifiedKey) throws(DeviceRefusal) {
        guard case .ecdsa(let publicKey) = key.publicKey.material else { throw .proof(.invalid) }
        do { try verify(by: publicKey) } catch { throw .proof(error) }
    }
}
