import CountersignWire
import Crypto
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("The certificate a device enrolls with")
struct DeviceCertificateTests {
    /// One thing that is wrong with a certificate.
    enum Fault: CaseIterable {
        case otherUser, otherEnrollment, otherIssuer, onlyCertifies, noEncryption, noAuthentication, signingSubkey
        case twoAuthentications, authenticationMayEncrypt, keyFromTheFuture, nothing
    }

    private func certificate(_ fault: Fault, for device: TestDevice) async throws -> Certificate {
        let world = device.world
        let now = world.time.now.unixSeconds
        let invitation = device.invitation
        let user = fault == .otherUser ? world.random.id(at: world.time.now) : invitation.user
        let enrollment = fault == .otherEnrollment ? world.random.id(at: world.time.now) : invitation.enrollment
        let issuer = fault == .otherIssuer ? Issuer("https://login.example.org") : invitation.issuer
        let made = fault == .keyFromTheFuture ? now + 61 : now
        var subkeys: [Certificate.NewSubkey] = []
        if fault != .noAuthentication {
            subkeys.append(.authentication(SigningKeyPair(device.authentication, createdAt: now)))
        }
        if fault == .twoAuthentications {
            subkeys.append(.authentication(SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)))
        } else if fault != .noEncryption {
            subkeys.append(
                .encryption(DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: made).publicKey))
        }
        if fault == .signingSubkey {
            subkeys.append(.signing(SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)))
        }
        if fault == .authenticationMayEncrypt {
            subkeys[0] = .encryption(DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: now).publicKey)
        }
        return try await Certificate.make(
            primary: device.primary, flags: fault == .onlyCertifies ? .certify : [.certify, .sign],
            userID: DeviceKeys.userID(of: user, enrollment: enrollment, issuer: try #require(issuer)),
            subkeys: subkeys, at: made)
    }

    @Test("Each respect in which a certificate is not the device's is refused", arguments: Fault.allCases)
    func refused(_ fault: Fault) async throws {
        let world = try await World()
        let client = try await world.makeClient().client
        let user = try await world.makeUser(of: client)
        let device = try await TestDevice(try await world.makeTicket(for: user, by: client), in: world)
        let outcome = try await device.enroll(certificate: try await certificate(fault, for: device))
        let expected: String
        switch fault {
        case .otherUser, .otherEnrollment, .otherIssuer: expected = "certificate userID"
        case .onlyCertifies, .noEncryption, .noAuthentication, .signingSubkey, .twoAuthentications,
            .authenticationMayEncrypt:
            expected = "certificate keys"
        case .keyFromTheFuture: expected = "certificate time"
        case .nothing: expected = "enrolled \(device.enrollment)"
        }
        #expect(outcome.summary == expected)
        #expect(try await world.count("enrollments") == (fault == .nothing ? 1 : 0))
        let unspent = try await world.count("tickets", where: "spent_at IS NULL")
        #expect(unspent == (fault == .nothing ? 0 : 1), "a refused certificate does not cost the ticket")
    }

    @Test("Bytes that are no certificate are refused with the reason of their parser")
    func garbage() async throws {
        let world = try await World()
        let client = try await world.makeClient().client
        let user = try await world.makeUser(of: client)
        let device = try await TestDevice(try await world.makeTicket(for: user, by: client), in: world)
        let request = try await device.request(keyID: "\(device.certificate.fingerprint)")
        for bytes in [[], [0x99], Array(device.certificate.encoded.dropLast())] as [[UInt8]] {
            let body = EnrollmentRequest(
                ticket: device.invitation.ticket, certificate: bytes,
                device: DeviceDescription(name: try DisplayLine("x"), storage: .software), versions: [1])
            let outcome = try await EnrollDevice.enroll(body, provedBy: request, ports: world.ports)
            guard case .certificateInvalid(.openPGP) = outcome else {
                Issue.record("\(outcome)")
                continue
            }
        }
    }
}
