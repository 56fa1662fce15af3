package import CountersignWire
import Encodings
import OpenPGP

/// Enrolls a device with a ticket.
///
/// Spec: docs/protocol/enrollment.md, *The steps of a device*.
package enum EnrollDevice {
    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The enrollment, made now or by an earlier copy of the request, and its wait; nil if it does not wait.
        case enrolled(Enrollment, AwaitedApproval?)
        /// The proof that the request comes from the device is refused.
        case refused(DeviceRefusal)
        /// The certificate does not have the form that a device's certificate must have.
        case certificateInvalid(DeviceCertificateRefusal)
        /// There is no such ticket, or its client is disabled or no longer linked to the user.
        case ticketInvalid
        /// The ticket was used before, by another device or for an enrollment that was removed since.
        case ticketUsed
        /// The ticket has expired.
        case ticketExpired
        /// The certificate's primary key, or a JWK, was enrolled before.
        case alreadyEnrolled
        /// The user has as many devices as the client allows.
        case tooManyDevices
        /// The client does not let the user enroll devices.
        case blocked
        /// Another enrollment of the user has the same push token.
        case pushTokenInUse
    }

    /// Enrolls a device.
    ///
    /// - Parameters:
    ///   - enrollment: the request of the device.
    ///   - proof: the proof that the request comes from the device; its key id is the fingerprint of the certificate.
    ///   - place: the place that the request came from, as the user's other devices show it; nil if it is not known.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func enroll(
        _ enrollment: EnrollmentRequest, provedBy proof: some DeviceProof, from place: ContextLine? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let ticket = try await ports.store.read({ try $0.tickets.find(SecretHash(of: enrollment.ticket)) }) else {
            return .ticketInvalid
        }
        let certificate: Certificate
        let keys: DeviceKeys
        do throws(DeviceCertificateRefusal) {
            (certificate, keys) = try deviceKeys(enrollment.certificate, ticket: ticket, ports: ports, now: now)
        } catch {
            return .certificateInvalid(error)
        }
        let replayGuard: ReplayGuard
        do throws(DeviceRefusal) {
            // check: EnrollDeviceTests.signature
            guard proof.keyID == "\(certificate.fingerprint)" else { throw .proof(.otherKey) }
            try proof.check(by: keys.authentication)
            replayGuard = try ReplayGuard(proof, now: now)
        } catch {
            return .refused(error)
        }
        let candidate = EnrollmentCandidate(
            credential: .openPGP(keys), certificate: certificate.encoded, device: enrollment.device,
            versions: enrollment.versions, push: enrollment.push, place: place, approval: ports.random.id(at: now),
            nonce: ports.random.bytes(32))
        return try await ports.commit(at: now, as: .device(ticket.enrollment)) { work in
            if let refusal = try work.spend(replayGuard) { return .refused(refusal) }
            return try candidate.enroll(with: ticket, ports, in: work)
        }
    }

    private static func deviceKeys(
        _ bytes: [UInt8], ticket: Ticket, ports: Ports, now: Timestamp
    ) throws(DeviceCertificateRefusal) -> (Certificate, DeviceKeys) {
        let userID = DeviceKeys.userID(of: ticket.user, enrollment: ticket.enrollment, issuer: ports.issuer)
        let latest = now.adding(ReplayGuard.tolerance).unixSeconds
        return try DeviceKeys.enrolling(bytes, userID: userID, now: latest)
    }
}
