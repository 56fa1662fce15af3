package import CountersignWire
import OpenPGP

/// Finds out which device calls.
///
/// Spec: design 3.5 and 3.8, step 1.
package enum VerifyDevice {
    /// What came of it.
    package enum Outcome: Sendable {
        /// The call is the enrollment's and within time.
        case verified(DeviceCall)
        /// It is not, or the enrollment is over.
        case refused(DeviceRefusal)
    }

    /// Verifies that a call comes from an enrolled device.
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
    /// Verifies the proof by the authentication key of a device.
    func check(by key: CertifiedKey) throws(DeviceRefusal) {
        guard case .ecdsa(let publicKey) = key.publicKey.material else { throw .proof(.invalid) }
        do { try verify(by: publicKey) } catch { throw .proof(error) }
    }
}
