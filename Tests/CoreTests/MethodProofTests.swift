import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport
import Testing

@testable import CountersignCore

/// An enrollment with a PIN, a biometric and a custom authenticator, each of which a test can set; without a database.
struct MethodScene: Sendable {
    enum Method: String, CaseIterable, Sendable {
        case none, waits, counts
    }

    /// What can change.
    enum Change: String, CaseIterable, Sendable {
        case setPIN, replacePIN, removePIN, setBiometric, replaceBiometric, removeBiometric, register, deregister
    }

    static let now = AskScene.now
    static let name = AuthenticatorName("signature")

    var pin = Method.none
    var biometric = Method.none
    var custom = Method.none
    var isLocked = false
    var age = Enrollment.enrolling
    var methodsCount = true
    let pinKey = Self.key()
    let biometricKey = Self.key()

    static func key() -> CertifiedKey {
        CertifiedKey(
            previouslyCertified: PublicKey(.ecdsa(P256.Signing.PrivateKey().publicKey), createdAt: 1), flags: .sign)
    }

    func enrollment(pinKey: CertifiedKey? = nil) throws -> Enrollment {
        func time(_ method: Method) -> Timestamp? {
            switch method {
            case .none: nil
            case .waits: Self.now.adding(seconds: 1)
            case .counts: Self.now
            }
        }
        let device = try AskScene.enrollment(1)
        let name = try #require(Self.name)
        return Enrollment(
            id: device.id, user: device.user, client: device.client, state: .active, credential: device.credential,
            device: device.device,
            pin: time(pin).map {
                EnrolledPIN(
                    key: pinKey ?? self.pinKey, wrongCount: 0, lockedAt: isLocked ? Self.now : nil, countsFrom: $0)
            },
            biometric: time(biometric).map { EnrolledBiometric(key: biometricKey, countsFrom: $0) },
            customs: time(custom).map { [name: EnrolledCustom(countsFrom: $0)] } ?? [:],
            createdAt: Self.now.adding(-age), methodsCount: methodsCount)
    }

    /// A change of the methods; nil where there is nothing to set, replace or remove.
    func change(_ change: Change) throws -> SignedChange? {
        let issuer = try #require(Issuer(World.issuer))
        let nonce = try #require(Nonce(bytes: [UInt8](repeating: 9, count: 32)))
        let name = try #require(Self.name)
        let header = ChangeHeader(issuer: issuer, enrollment: AskScene.id(1), nonce: nonce)
        func keyed(_ method: AnswerMethod, replacing old: CertifiedKey?, isRemoved: Bool = false) -> SignedChange {
            .key(
                MethodChange(
                    header, method: method, old: old?.fingerprint, new: isRemoved ? nil : Self.key().fingerprint,
                    certificate: [1]))
        }
        switch change {
        case .setPIN: return pin == .none ? keyed(.pin, replacing: nil) : nil
        case .replacePIN: return pin == .none ? nil : keyed(.pin, replacing: pinKey)
        case .removePIN: return pin == .none ? nil : keyed(.pin, replacing: pinKey, isRemoved: true)
        case .setBiometric: return biometric == .none ? keyed(.biometric, replacing: nil) : nil
        case .replaceBiometric: return biometric == .none ? nil : keyed(.biometric, replacing: biometricKey)
        case .removeBiometric:
            return biometric == .none ? nil : keyed(.biometric, replacing: biometricKey, isRemoved: true)
        case .register:
            return .custom(AuthenticatorChange(header, name: name, customDataHash: [UInt8](repeating: 1, count: 32)))
        case .deregister:
            return custom == .none ? nil : .custom(AuthenticatorChange(header, name: name, customDataHash: nil))
        }
    }
}

@Suite("Who signs a change of methods, and from when what is new counts")
struct MethodProofTests {
    /// Who signs a change, by the states of PIN and biometric and in the order of `MethodScene.Change`.
    ///
    /// "pin" must sign; "biometric/pin": one of them must; "(biometric)" may; "-": no signature counts; ".": there is
    /// nothing to set, replace or remove.
    private static let table = """
        pin     biometric  setPIN      replacePIN  removePIN setBiometric replaceBiometric removeBiometric register
        none    none       -           .           .         -            .                .               -
        none    waits      -           .           .         .            -                -               -
        none    counts     (biometric) .           .         .            biometric        biometric       (biometric)
        waits   none       .           -           -         -            .                .               -
        waits   waits      .           -           -         .            -                -               -
        waits   counts     .           (biometric) -         .            biometric        biometric       (biometric)
        counts  none       .           pin         pin       pin          .                .               pin
        counts  waits      .           pin         pin       .            pin              -               pin
        counts  counts     .           pin         pin       .            biometric/pin    biometric/pin   pin
        """

    private static func word(_ change: SignedChange, _ enrollment: Enrollment) -> String {
        let signers = enrollment.signers(of: change, at: MethodScene.now)
        let methods = signers.methods.map(\.rawValue).joined(separator: "/")
        return methods.isEmpty ? "-" : signers.isNeeded ? methods : "(\(methods))"
    }

    @Test(
        "A method that counts guards the changes of the others, and its own replacement and removal", arguments: 1...9)
    func signers(_ line: Int) throws {
        let lines = Self.table.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let row = Dictionary(uniqueKeysWithValues: zip(lines[0], lines[line]))
        var scene = MethodScene()
        scene.pin = try #require(row["pin"].flatMap { MethodScene.Method(rawValue: $0) })
        scene.biometric = try #require(row["biometric"].flatMap { MethodScene.Method(rawValue: $0) })
        for custom in MethodScene.Method.allCases {
            scene.custom = custom
            for isLocked in [false, true] {
                scene.isLocked = isLocked
                let enrollment = try scene.enrollment()
                for change in MethodScene.Change.allCases {
                    guard let signed = try scene.change(change) else {
                        if change != .deregister { #expect(row[change.rawValue] == ".", "\(change)") }
                        continue
                    }
                    // A custom authenticator that waits is taken back by the device alone.
                    let expected =
                        change != .deregister ? row[change.rawValue] : custom == .waits ? "-" : row["register"]
                    #expect(Self.word(signed, enrollment) == expected, "\(change), custom \(custom)")
                }
            }
        }
    }

    @Test("Without a method's signature a change needs a ticket, unless the device is new or takes back what waits")
    func tickets() throws {
        var scene = MethodScene()
        scene.custom = .waits
        for (age, isNeeded) in [(Enrollment.enrolling - 1, false), (Enrollment.enrolling, true)] as [(Seconds, Bool)] {
            scene.age = age
            let enrollment = try scene.enrollment()
            for change in MethodScene.Change.allCases {
                guard let signed = try scene.change(change) else { continue }
                #expect(
                    enrollment.needsTicket(for: signed, signedBy: nil, at: MethodScene.now)
                        == (isNeeded && change != .deregister), "\(change) at \(age)")
                #expect(!enrollment.needsTicket(for: signed, signedBy: .biometric, at: MethodScene.now))
            }
        }
    }

    @Test("What a change was signed by must count still, and be the same key, when the change is made")
    func proved() throws {
        var scene = MethodScene()
        (scene.pin, scene.biometric) = (.counts, .counts)
        let judged = try scene.enrollment()
        let change = try #require(try scene.change(.removeBiometric))
        func isProved(_ enrollment: Enrollment, by signer: AnswerMethod?) -> Bool {
            enrollment.isProved(change, by: signer, like: judged, at: MethodScene.now)
        }
        #expect(isProved(judged, by: .pin) && isProved(judged, by: .biometric))
        #expect(!isProved(judged, by: nil) && !isProved(judged, by: .confirm))
        let other = try scene.enrollment(pinKey: MethodScene.key())
        #expect(!isProved(other, by: .pin) && isProved(other, by: .biometric))
        scene.pin = .none
        let without = try scene.enrollment()
        #expect(!isProved(without, by: .pin) && isProved(without, by: .biometric))
    }

    @Test("What is new counts at once if a method that counts has signed, or it belongs to an enrolling that counted")
    func counting() throws {
        var scene = MethodScene()
        let end = MethodScene.now.adding(.minutes(60))
        for isProved in [false, true] {
            for methodsCount in [false, true] {
                for enrolls in [false, true] {
                    (scene.age, scene.methodsCount) = (Enrollment.enrolling - (enrolls ? 1 : 0), methodsCount)
                    let enrollment = try scene.enrollment()
                    let countsFrom = enrollment.newMethodCounts(
                        at: MethodScene.now, waitingUntil: end, isProved: isProved)
                    let isAtOnce = isProved || enrolls && methodsCount
                    #expect(countsFrom == (isAtOnce ? enrollment.createdAt : end))
                }
            }
        }
    }
}
