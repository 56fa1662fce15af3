package import CountersignWire
package import Encodings

/// Enrolls a device that has JWKs, with a ticket.
///
/// The request carries no proof that the device has the private keys: the vendors' devices send none. Nothing is gained
/// by the key of somebody else, since each answer is signed; and no key is enrolled twice.
///
/// Spec: docs/protocol/jwk-devices.md, *Enrolling*.
package enum EnrollByJWK {
    /// The result of the operation; `refused` and `certificateInvalid` do not occur.
    package typealias Outcome = EnrollDevice.Outcome

    /// The request of a device.
    package struct Request: Sendable {
        /// The secret of the ticket.
        package let ticket: Secret<String>
        /// The device's keys.
        package let keys: DeviceJWKs
        /// The device's description of itself.
        package let device: DeviceDescription
        /// The device's push registration; nil for none.
        package let push: PushRegistration?

        /// A request of these parts.
        package init(
            ticket: Secret<String>, keys: DeviceJWKs, device: DeviceDescription, push: PushRegistration? = nil
        ) {
            self.ticket = ticket
            self.keys = keys
            self.device = device
            self.push = push
        }
    }

    /// Enrolls a device.
    ///
    /// - Parameters:
    ///   - request: the request of the device.
    ///   - place: the place that the request came from, as the user's other devices show it; nil if it is not known.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func enroll(
        _ request: Request, from place: ContextLine? = nil, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        guard let ticket = try await ports.store.read({ try $0.tickets.find(SecretHash(of: request.ticket)) }) else {
            return .ticketInvalid
        }
        let candidate = EnrollmentCandidate(
            credential: .jwk(request.keys), certificate: [], device: request.device, versions: [], push: request.push,
            place: place, approval: ports.random.id(at: now), nonce: ports.random.bytes(32))
        return try await ports.commit(at: now, as: .device(ticket.enrollment)) { work in
            try candidate.enroll(with: ticket, ports, in: work)
        }
    }
}
