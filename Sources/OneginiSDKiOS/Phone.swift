import Countersign
import Foundation

#if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
    import CountersignApple
#endif

/// The SDK as this app has set it up.
struct Phone: Sendable {
    /// The name of the record with the users.
    private static let record = "onewelcome-users"

    let settings: ClientSettings
    let vault: any Vault
    let authenticator: Countersign.Authenticator
    private let issuer: URL
    private let clientID: String
    private let redirectURI: URL

    /// Opens keys and records.
    init(_ settings: ClientSettings) async throws {
        func value(_ key: String) throws -> String {
            guard let value = settings.model[key] else { throw CountersignError.configurationInvalid("no \(key)") }
            return value
        }
        func url(_ key: String) throws -> URL {
            guard let url = URL(string: try value(key)) else {
                throw CountersignError.configurationInvalid("\(key) is no URL")
            }
            return url
        }
        self.settings = settings
        issuer = try url(ConfigModel.Key.baseURL)
        clientID = try value(ConfigModel.Key.identifier)
        redirectURI = try url(ConfigModel.Key.redirectURL)
        let app =
            settings.app
            ?? AppDescription(
                name: clientID, version: settings.model[ConfigModel.Key.version] ?? "", deviceName: "This device")
        vault = try settings.vault ?? Self.defaultVault()
        authenticator = try await Countersign.Authenticator(
            issuer: issuer, app: app, vault: vault, transport: settings.transport, clock: settings.clock)
    }

    private static func defaultVault() throws -> any Vault {
        #if canImport(CryptoKit) && canImport(LocalAuthentication) && canImport(Security)
            return try SecureEnclaveVault.secureEnclave()
        #else
            throw CountersignError.configurationInvalid("no vault")
        #endif
    }

    /// The users that are kept.
    func users() async throws -> [User] {
        guard let bytes = try await vault.appRecord(Self.record) else { return [] }
        return try JSONDecoder().decode([User].self, from: Data(bytes))
    }

    func keep(_ users: [User]) async throws {
        try await vault.writeAppRecord(Array(try JSONEncoder().encode(users)), as: Self.record)
    }

    /// Whether the device can hold a key for biometrics.
    var hasBiometrics: Bool { vault is any BiometricVault }

    /// The ids of the enrollments.
    var profiles: Set<String> {
        get async { Set(await authenticator.enrollments.map { "\($0.id)" }) }
    }

    func enrollment(_ profile: String) async throws -> Enrollment {
        guard let found = await authenticator.enrollments.first(where: { "\($0.id)" == profile }) else {
            throw CountersignError.notEnrolled
        }
        return found
    }

    /// A client for one sign-in, whose tokens are in memory alone.
    func openID(_ scopes: [String]) throws -> OpenIDClient {
        var asked: [String] = []
        for scope in scopes where !asked.contains(scope) { asked.append(scope) }
        return try OpenIDClient(
            OpenIDRegistration(issuer: issuer, clientID: clientID, redirectURI: redirectURI, scopes: asked),
            vault: MemoryVault(), transport: settings.transport, clock: settings.clock)
    }

    /// Signs a user in by the device.
    func session(_ profile: String, _ scopes: [String], by proof: Proof) async throws -> Session {
        let openID = try openID(scopes)
        let signedIn = try await openID.signIn(by: try await enrollment(profile), with: proof)
        return try await session(profile, signedIn, openID)
    }

    /// The tokens of somebody who has signed in.
    func session(_ profile: String, _ signedIn: SignedIn, _ openID: OpenIDClient) async throws -> Session {
        Session(
            profile: profile, openID: openID, token: try await openID.accessToken(), isLasting: signedIn.isLasting)
    }
}
