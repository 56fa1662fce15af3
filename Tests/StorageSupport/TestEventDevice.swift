package import CountersignCore
package import CountersignWire
import Crypto
import JOSE

/// A device of an app that was written for Cotter, which signs short texts.
package struct TestEventDevice: Sendable {
    /// The fixture that the device belongs to.
    package let world: World
    package let user: UserID
    package let client: ClientID
    private let key = P256.Signing.PrivateKey()

    fileprivate init(of user: UserID, at client: ClientID, in world: World) {
        (self.user, self.client, self.world) = (user, client, world)
    }

    fileprivate func enroll(with ticket: EnrollmentInvitation) async throws -> EnrollByJWK.Outcome {
        let request = EnrollByJWK.Request(
            ticket: ticket.ticket, keys: DeviceJWKs(ofEvents: key.jwsPublicKey),
            device: DeviceDescription(name: try DisplayLine("Old phone"), storage: .software))
        return try await EnrollByJWK.enroll(request, ports: world.ports)
    }

    /// An answer to the only question that the user's devices are asked.
    package func answer(_ isApproved: Bool) async throws -> AnswerByEvent.Request {
        let (user, client) = ("\(user)", "\(client)")
        let found = try await FindPendingEvent.find(of: user, at: self.client, client, ports: world.ports)
        guard case .event(let shown) = found else { throw World.Broken("event") }
        let signed = SignedEvent(
            user: user, client: client, name: shown.event.name, timestamp: shown.event.timestamp,
            isApproved: isApproved)
        return AnswerByEvent.Request(
            number: shown.number, client: self.client, writtenClient: client, user: user, key: key.jwsPublicKey,
            signature: Array(try key.signature(for: Array(signed.text.utf8)).derRepresentation),
            isApproved: isApproved, network: nil)
    }
}

extension World {
    /// Creates and enrolls a device of a user that signs short texts.
    package func makeEventDevice(of user: UserID, by client: Client) async throws -> TestEventDevice {
        let device = TestEventDevice(of: user, at: client.id, in: self)
        guard case .enrolled = try await device.enroll(with: try await makeTicket(for: user, by: client)) else {
            throw Broken("device that signs events")
        }
        return device
    }
}
