import Crypto
import CountersignWire
import Encodings
import NIOHTTP1
import OpenPGP
import OpenPGPTestSupport
import ServerTestSupport
import TestSupport
import Testing

@Suite("A device's certificate is exactly what it must be")
struct DeviceCertificateTests {
    /// What is wrong with a certificate.
    enum Mistake: String, CaseIterable, Sendable {
        case otherUser, otherEnrollment, otherIssuer, moreInUserID
        case noAuthentication, noEncryption, noSubkeys, extraAuthentication, extraEncryption, signingSubkey
        case signingForAuthentication, certifyOnly, signOnly, authenticatingPrimary
        case primaryFromTheFuture
    }

    @Test("Each mistake is refused, and the ticket stays good", arguments: Mistake.allCases)
    func mistakes(_ mistake: Mistake) async throws {
        try await Self.expectRefused { phone in try await Self.certificate(of: phone, mistake).encoded }
    }

    private static func certificate(of phone: TestPhone, _ mistake: Mistake) async throws -> Certificate {
        let invitation = phone.invitation
        let now = phone.server.clock.now.unixSeconds
        var (primary, flags) = (phone.primary, [.certify, .sign] as KeyFlags)
        var userID = DeviceKeys.userID(of: invitation.user, enrollment: phone.enrollment, issuer: invitation.issuer)
        let authentication = Certificate.NewSubkey.authentication(
            SigningKeyPair(phone.authentication, createdAt: now))
        let encryption = Certificate.NewSubkey.encryption(phone.encryption.publicKey)
        let another = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
        var subkeys = [authentication, encryption]
        switch mistake {
        case .otherUser: userID = userID.replacing("\(invitation.user)", with: "usr_00000000000000000000000000")
        case .otherEnrollment: userID = userID.replacing("\(phone.enrollment)", with: "enr_00000000000000000000000000")
        case .otherIssuer: userID = userID.replacing("@127.0.0.1>", with: "@login.example.com>")
        case .moreInUserID: userID += " "
        case .noAuthentication: subkeys = [encryption]
        case .noEncryption: subkeys = [authentication]
        case .noSubkeys: subkeys = []
        case .extraAuthentication: subkeys.append(.authentication(another))
        case .extraEncryption:
            subkeys.append(
                .encryption(DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: now).publicKey))
        case .signingSubkey: subkeys.append(.signing(another))
        case .signingForAuthentication:
            subkeys = [.signing(SigningKeyPair(phone.authentication, createdAt: now)), encryption]
        case .certifyOnly: flags = .certify
        case .signOnly: flags = .sign
        case .authenticatingPrimary: flags = [.certify, .sign, .authenticate]
        case .primaryFromTheFuture: primary = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now + 3600)
        }
        return try await Certificate.make(
            primary: primary, flags: flags, userID: userID, subkeys: subkeys, at: max(now, primary.publicKey.createdAt))
    }

    /// Bytes that are not one certificate.
    enum Damage: String, CaseIterable, Sendable {
        case empty, garbage, firstByte, truncatedHeader, truncatedPacket, lastSignatureCut, bitFlipped
        case armored, twice, trailingPacket, signatureAlone, withoutUserID, subkeyFirst
    }

    @Test("Bytes that are not one certificate are refused", arguments: Damage.allCases)
    func damaged(_ damage: Damage) async throws {
        try await Self.expectRefused { phone in
            let bytes = phone.certificate.encoded
            switch damage {
            case .empty: return []
            case .garbage: return (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
            case .firstByte: return [bytes[0]]
            case .truncatedHeader: return Array(bytes.prefix(2))
            case .truncatedPacket: return Array(bytes.prefix(40))
            case .lastSignatureCut: return Array(bytes.dropLast(9))
            case .bitFlipped: return bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]
            case .armored: return Array(phone.certificate.armored.utf8)
            case .twice: return bytes + bytes
            case .trailingPacket: return bytes + [0xC0 | 11, 1, 0]
            case .signatureAlone: return [0xC2, 1, 4]
            case .withoutUserID: return Array(bytes.prefix(2 + Int(bytes[1])))
            case .subkeyFirst: return [0xC0 | 14] + bytes.dropFirst()
            }
        }
    }

    /// Enrolls with a certificate that must be refused; the right one must still be taken.
    private static func expectRefused(
        _ certificate: @escaping @Sendable (TestPhone) async throws -> [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            let ticket = try await scene.shop.makeTicket(for: user)
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            let bytes = try await certificate(phone)
            let fingerprint = (try? Certificate(parsing: bytes))?.fingerprint ?? phone.certificate.fingerprint
            var object = try #require(try phone.enrollmentRequest.object)
            object["certificate"] = .string(Base64.encode(bytes))
            let reply = try await phone.send(.POST, "/v1/enrollments", .object(object), keyID: "\(fingerprint)")
            #expect(
                reply.refusal == Refusal(422, "certificate_invalid"), "\(reply)", sourceLocation: sourceLocation)
            let devices = try await scene.shop.call(.GET, "/v1/users/\(user)/enrollments").success()["enrollments"]
            #expect(devices == [], sourceLocation: sourceLocation)
            #expect(try await phone.enroll().status == 201, sourceLocation: sourceLocation)
        }
    }

    @Test("A certificate that gpg limited in time is refused")
    func limitedInTime() async throws {
        try await Self.expectRefused { phone in
            let gpg = try GPG()
            let userID = DeviceKeys.userID(
                of: phone.invitation.user, enrollment: phone.enrollment, issuer: phone.invitation.issuer)
            #expect(try gpg.run("--quick-generate-key", userID, "nistp256", "cert,sign", "1y").status == 0)
            let listing = try gpg.run("--with-colons", "--list-keys").output
            let line = try #require(listing.split(separator: "\n").first { $0.hasPrefix("fpr:") })
            let fingerprint = String(line.split(separator: ":", omittingEmptySubsequences: false)[9])
            for (algorithm, usage) in [("nistp256/ecdsa", "auth"), ("nistp256", "encr")] {
                #expect(try gpg.run("--quick-add-key", fingerprint, algorithm, usage, "1y").status == 0)
            }
            let exported = try gpg.run("--armor", "--export", fingerprint).output
            let certificate = try Certificate(armored: exported)
            #expect(certificate.primary.expiresAt != nil)
            return certificate.encoded
        }
    }

    @Test("A primary key is enrolled once per issuer, also after its removal", arguments: [false, true])
    func sameKeyTwice(_ isRemoved: Bool) async throws {
        try await DeviceScene.with { scene in
            let old = scene.phone
            if isRemoved { #expect(try await old.send(.DELETE, "/v1/enrollments/self").status == 204) }
            let user = try await scene.shop.makeUser()
            let ticket = try await scene.shop.makeTicket(for: user)
            let phone = try await TestPhone(invitation: ticket, server: scene.server)
            let now = old.certificate.primary.publicKey.createdAt
            let certificate = try await Certificate.make(
                primary: old.primary, flags: [.certify, .sign],
                userID: DeviceKeys.userID(
                    of: phone.invitation.user, enrollment: phone.enrollment, issuer: phone.invitation.issuer),
                subkeys: [
                    .authentication(SigningKeyPair(phone.authentication, createdAt: now)),
                    .encryption(DecryptionKeyPair(P256.KeyAgreement.PrivateKey(), createdAt: now).publicKey),
                ], at: now)
            var object = try #require(try phone.enrollmentRequest.object)
            object["certificate"] = .string(Base64.encode(certificate.encoded))
            let reply = try await phone.send(
                .POST, "/v1/enrollments", .object(object), keyID: "\(certificate.fingerprint)")
            #expect(reply.refusal == Refusal(409, "already_enrolled"), "\(reply)")
            #expect(try await phone.enroll().status == 201)
        }
    }

    @Test("A phone's clock may be 60 seconds early")
    func slightlyFromTheFuture() async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            scene.server.clock.advance(seconds: 55)
            let phone = try await TestPhone(
                invitation: try await scene.shop.makeTicket(for: user), server: scene.server)
            scene.server.clock.advance(seconds: -55)
            let reply = try await phone.enroll()
            #expect(reply.status == 201, "\(reply)")
        }
    }
}

@Suite("A certificate by which receipts are good everywhere, and for good")
struct DeviceCertificateTrickTests {
    @Test("Each trick is refused in words that say which rule it breaks", arguments: CertificateTrick.allCases)
    func tricks(_ trick: CertificateTrick) async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            let phone = try await TestPhone(
                invitation: try await scene.shop.makeTicket(for: user), server: scene.server)
            let now = scene.server.clock.now.unixSeconds
            let userID = DeviceKeys.userID(
                of: phone.invitation.user, enrollment: phone.enrollment, issuer: phone.invitation.issuer)
            let holder = try await Holder(userID: userID, at: now)
            let bytes = try await trick.encoded(of: holder, userID: userID, at: now)
            let reply = try await phone.enroll(with: bytes, of: holder)
            if let detail = trick.detail {
                #expect(reply.refusal == Refusal(422, "certificate_invalid"), "\(reply)")
                #expect(reply.json["detail"] == .string(detail))
                #expect(try await phone.enroll().status == 201)
            } else {
                #expect(reply.status == 201, "\(reply)")
            }
        }
    }

    @Test("What is served is our own encoding: what nothing covers is not stored")
    func canonical() async throws {
        try await DeviceScene.with { scene in
            let user = try await scene.shop.makeUser()
            let invited = try await TestPhone(
                invitation: try await scene.shop.makeTicket(for: user), server: scene.server)
            let now = scene.server.clock.now.unixSeconds
            let userID = DeviceKeys.userID(
                of: invited.invitation.user, enrollment: invited.enrollment, issuer: invited.invitation.issuer)
            let holder = try await Holder(userID: userID, at: now)
            let plain = try await CertificateTrick.none.encoded(of: holder, userID: userID, at: now)
            let padded = try HandmadeSignature.padded(plain, by: 12_000)
            #expect(padded.count > 12_000)
            #expect(try await invited.enroll(with: padded, of: holder).status == 201)
            let phone = TestPhone(invited, holder: holder)
            let asked = try await scene.shop.ask(user, [:])
            let id = try #require(asked["id"]?.string)
            let number = try #require(asked["number"]?.string.flatMap { EntryNumber($0) })
            #expect(try await phone.answer(id, .approved(.confirm, number: number)).json["state"] == "approved")
            let served = try await scene.shop.call(.GET, "/v1/challenges/\(id)/receipt?format=certificate")
            #expect(try Certificate(armored: String(decoding: served.body, as: UTF8.self)).encoded == plain)
        }
    }
}

extension TestPhone {
    /// Sends an enrollment with another certificate, signed by its authentication key.
    fileprivate func enroll(with certificate: [UInt8], of holder: Holder) async throws -> Reply {
        var object = try #require(try enrollmentRequest.object)
        object["certificate"] = .string(Base64.encode(certificate))
        let other = TestPhone(self, holder: holder)
        return try await other.send(
            .POST, "/v1/enrollments", .object(object), keyID: "\(holder.certificate.fingerprint)")
    }
}
