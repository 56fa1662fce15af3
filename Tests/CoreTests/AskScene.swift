import CountersignWire
import Crypto
import Encodings
import OpenPGP
import StorageTestSupport

@testable import CountersignCore

/// The facts an ask is decided on, each of which a test can change.
struct AskScene {
    static let hasher = KeyedHasher(key: SymmetricKey(data: [UInt8](repeating: 3, count: 32)))
    static let now = Timestamp(milliseconds: 1_795_169_702_345)
    static let callback = "https://shop.example.com/countersign"
    static let returnURI = "https://shop.example.com/back"
    static let number = EntryNumber(value: 471_932)

    var openChallenges = 0
    var recentAsks: [RecentAsk] = []
    var enrollments: [Enrollment]
    var numberEntry = true
    var signingData = true
    var methods: [AnswerMethod] = [.confirm]
    var isLocked = false
    var maximumAsks = 4
    var denialPause: Seconds = 0
    var channel = ChannelKind.devices
    var fallback: TypeName?
    var texts: [LanguageTag: DisplayMessage] = [:]

    /// A user with this many devices.
    init(devices: UInt8 = 2) throws {
        enrollments = try (0..<devices).map { try Self.enrollment($0) }
    }

    /// An active device.
    static func enrollment(_ number: UInt8) throws -> Enrollment {
        func key(_ flags: KeyFlags) -> CertifiedKey {
            CertifiedKey(
                previouslyCertified: PublicKey(.ecdsa(P256.Signing.PrivateKey().publicKey), createdAt: 1), flags: flags)
        }
        return Enrollment(
            id: id(number), user: id(200), client: id(201), state: .active,
            credential: .openPGP(
                DeviceKeys(
                    primary: key([.certify, .sign]), authentication: key(.authenticate), encryption: key(.encrypt))),
            device: DeviceDescription(name: try DisplayLine("Phone \(number)"), storage: .enclave), createdAt: now)
    }

    static func id<Kind>(_ number: UInt8) -> ID<Kind> {
        ID(at: now, random: [UInt8](repeating: number, count: 10))
    }

    var type: ChallengeType {
        ChallengeType(
            name: .confirm, methods: methods, channel: channel, lifetime: 120, numberEntry: numberEntry,
            signingData: signingData, assurance: .receipt, fallback: fallback, maximumPending: 3,
            maximumAsks: maximumAsks,
            denialPause: denialPause,
            maximumResends: 3, texts: texts)
    }

    /// Decides on a request with changes.
    func decide(_ change: (inout AskChallenge.Request) throws -> Void = { _ in }) throws -> AskChallenge.Decided {
        guard let issuer = Issuer(World.issuer) else { throw World.Broken("issuer") }
        var request = AskChallenge.Request(
            user: .id(Self.id(200)), type: .confirm, message: try DisplayMessage("Pay?"))
        try change(&request)
        let client = Client(
            id: Self.id(201), name: try ClientName("ACME"), secretHash: nil, rights: [.challenges],
            callbackURIs: [CallbackURI(stored: Self.callback)],
            returnURIs: [ReturnURI(stored: Self.returnURI)], waivesEnrollmentApproval: false, isOperator: false,
            createdAt: Self.now)
        let facts = AskChallenge.Facts(
            client: client, user: request.user == nil ? nil : Self.id(200), type: type, enrollments: enrollments,
            isLocked: isLocked,
            openChallenges: openChallenges,
            recentAsks: recentAsks, now: Self.now)
        let chance = AskChallenge.RandomInputs(
            challenge: Self.id(202), nonce: [UInt8](repeating: 9, count: 32), number: Self.number)
        return try AskChallenge.decide(request, facts, chance, issuer: issuer, hasher: Self.hasher)
    }
}
