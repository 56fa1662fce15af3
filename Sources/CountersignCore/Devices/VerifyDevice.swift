package import CountersignWire
import OpenPGP

/// Authenticates the device that calls.
///
/// Spec: design 3.5 and 3.8, step 1.
package enum VerifyDevice {
    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The call comes from this enrollment, and the time of its proof is accepted.
        case verified(DeviceCall)
        /// The proof is not valid, its time is not accepted, or the enrollment is unknown or removed.
        case refused(DeviceRefusal)
    }

    /// Verifies that a call comes from an enrolled device, which may be suspended.
    ///
    /// - Parameters:
    ///   - proof: the proof, whose key id is the enrollment's id.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func verify(_ proof: some DeviceProof, ports: Ports) async throws -> Outcome {
        guard let id = EnrollmentID(proof.keyID),
            let enrollment = try await ports.store.read({ try $0.enrollments.find(id) })
        else { return .refused(.unknownEnrollment) }
        let now = ports.time.now
        do throws(DeviceRefusal) {
            try proof.check(by: enrollment.keys.authentication)
            if let notice = enrollment.state.removalNotice(of: enrollment.id, issuer: ports.issuer) {
                throw .deregistered(notice)
            }
            return .verified(DeviceCall(enrollment: enrollment, replayGuard: try ReplayGuard(proof, now: now)))
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
