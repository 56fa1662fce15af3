import CountersignWire
import Crypto
import OpenPGP
import OpenPGPTestSupport
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

@Suite("How a device's certificate grows")
struct CertificateRoomTests {
    @Test("One binding of each key and one revocation of each that was replaced, whatever a change repeats")
    func components() async throws {
        let scene = try await PINScene()
        var old: SigningKeyPair?
        for _ in 0..<3 {
            let new = scene.device.newPINKey()
            #expect(try await PINChange(of: scene.device, from: old, to: new).send().summary == "changed")
            old = new
            scene.world.time.advance(seconds: 5)
        }
        let components = try await scene.certificate().components
        #expect(components.map { $0.signatures.count } == [0, 1, 1, 1, 2, 2, 1])
        // The first binding of a key stays: the one that supersedes it is of a later time.
        let replaced = try #require(components.first { $0.signatures.count == 2 }?.signatures)
        #expect(replaced.map(\.type) == [.subkeyBinding, .subkeyRevocation])
        #expect(replaced[0].createdAt < replaced[1].createdAt)
    }

    /// What a device might put into its certificate beside the new key.
    enum Trick: CaseIterable, Sendable {
        case bindingAhead, revokedLongAgo, revokedTwice, strangersSignature, samePoint, compromised
    }

    @Test(
        "A change by which receipts would not be good for others is refused, and changes nothing",
        arguments: Trick.allCases)
    func tricks(_ trick: Trick) async throws {
        let scene = try await PINScene()
        let first = try await scene.device.setPIN()
        scene.world.time.advance(seconds: 3600)
        let before = try await scene.certificate()
        let now = scene.world.time.now.unixSeconds
        let (device, primary) = (scene.device, scene.device.primary)
        let statements = [AnswerMethod.pin.notation(of: scene.world.ports.issuer)]
        var change = try await PINChange(of: device, from: first, to: device.newPINKey())
        let old = first.publicKey.fingerprint
        if trick == .samePoint { change.new = SigningKeyPair(device.authentication, createdAt: now) }
        let new = Certificate.NewSubkey.signing(try #require(change.new), notations: statements)
        let bound = try await device.certificate.adding(.signing(first, notations: statements), by: primary, at: now)
        switch trick {
        case .bindingAhead:
            change.certificate = try await bound.revoking(old, because: .superseded, by: primary, at: now)
                .adding(new, by: primary, at: now + 61)
        case .revokedLongAgo:
            change.certificate = try await bound.revoking(old, because: .superseded, by: primary, at: now - 1800)
                .adding(new, by: primary, at: now)
        case .revokedTwice:
            change.certificate = try await bound.revoking(old, because: .superseded, by: primary, at: now)
                .revoking(old, because: .retired, by: primary, at: now).adding(new, by: primary, at: now)
        case .strangersSignature:
            let stranger = SigningKeyPair(P256.Signing.PrivateKey(), createdAt: now)
            change.certificate = try Certificate(
                parsing: try await change.grown().encoded
                    + HandmadeSignature.packet(
                        .subkeyBinding, by: stranger,
                        hashed: HandmadeSignature.seconds(2, now)
                            + HandmadeSignature.key(33, stranger.publicKey.fingerprint)))
        case .samePoint: break
        case .compromised:
            change.certificate = try await change.grown(because: .compromised)
        }
        #expect(try await change.send().summary == "invalid")
        #expect(try await scene.refusals() == ["certificate"])
        #expect(try await scene.certificate().encoded == before.encoded)
        #expect(try await PINChange(of: device, from: first, to: device.newPINKey()).send().summary == "changed")
    }

    @Test("Its room ends, which is told before; then nothing is stored, the PIN stays, and what was signed is good")
    func room() async throws {
        let scene = try await PINScene()
        var pin = try await scene.device.setPIN()
        var changes = 0
        var left = try await scene.device.methods().changesLeft
        while true {
            let new = scene.device.newPINKey()
            let outcome = try await PINChange(of: scene.device, from: pin, to: new).send().summary
            guard outcome == "changed" else {
                #expect(outcome == "certificate full")
                break
            }
            pin = new
            changes += 1
            let now = try await scene.device.methods().changesLeft
            // It is told too early rather than too late.
            #expect(now <= left && left - now <= 1)
            left = now
        }
        #expect(left == 0 && changes > 20)
        let certificate = try await scene.certificate()
        #expect(certificate.encoded.count <= DeviceCertificateForm.size)
        #expect(certificate.subkeys.count == changes + 3)
        let asked = try await scene.ask()
        #expect(try await scene.approve(asked, by: pin) == "decided approved -")
        #expect(try await scene.device.methods().pin == .set)
    }
}
