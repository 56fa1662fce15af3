import Countersign
import CountersignWire
import Foundation

/// The vendor's calls on one enrollment of the SDK.
final class SDKEnrollment: AwaitingEnrollment {
    /// The name of the vault's record with the id of the app's client, which is deleted with the enrollment.
    private static let clientRecord = "oidc-client"

    let organization: Organization
    private let enrollment: Enrollment
    private let authenticator: Authenticator
    private let settings: Settings
    private let isVerified: Locked<Bool>

    init(
        _ enrollment: Enrollment, of authenticator: Authenticator, at issuer: URL, _ settings: Settings
    ) async {
        organization = Organization(id: issuer.absoluteString, url: issuer)
        self.enrollment = enrollment
        self.authenticator = authenticator
        self.settings = settings
        isVerified = Locked(await enrollment.hasBiometricKey)
    }

    /// Keeps the id of the app's client, with which a token is fetched later.
    static func keep(_ client: String, of enrollment: EnrollmentID, in vault: any Vault) async throws {
        try await vault.write(Array(client.utf8), as: clientRecord, of: enrollment)
    }

    var enrollmentId: String { "\(enrollment.id)" }
    var user: User { User(id: "\(enrollment.user)", name: nil) }
    var userVerificationEnabled: Bool { isVerified.withLock { $0 } }
    var isCIBAEnabled: Bool { true }
    var approvalNumber: String? { enrollment.approval?.number }
    var activeAt: Date? { enrollment.approval.map { Date($0.expiresAt) } }

    func setUserVerification(
        authenticationToken: AuthToken, enable: Bool,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        run(at: organization.url, completion) { [self] in
            do throws(CountersignError) {
                try await setBiometric(enable)
            } catch {
                guard case .authorityNeeded = error else { throw error }
                try await setBiometric(enable, .accessToken(try authenticationToken.opened()))
            }
            isVerified.withLock { $0 = enable }
        }
    }

    private func setBiometric(
        _ isSet: Bool, _ authority: EnrollmentAuthority? = nil
    ) async throws(CountersignError) {
        if isSet {
            try await enrollment.registerBiometric(prompt: settings.biometricPrompt, authority: authority)
        } else if await enrollment.hasBiometricKey {
            try await enrollment.removeBiometric(authority: authority)
        }
    }

    func enableCIBATransactions(
        authenticationToken: AuthToken, enable: Bool,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        run(at: organization.url, completion) {
            guard enable else {
                throw DeviceAuthenticatorError.genericError("The client's registration says who may ask by CIBA.")
            }
        }
    }

    func updateDeviceToken(
        _ token: Data, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        run(at: organization.url, completion) { [self] in
            try await settings.registerPush(.tokenData(token), with: authenticator)
        }
    }

    func retrievePushChallenges(
        authenticationToken: AuthToken, allowedClockSkewInSeconds: Int,
        completion: @escaping @Sendable (Result<[any PushChallengeProtocol], DeviceAuthenticatorError>) -> Void
    ) {
        run(at: organization.url, completion) { [self] in
            var challenges: [any PushChallengeProtocol] = []
            for pending in try await enrollment.pendingChallenges() {
                // One that cannot be shown does not hide the others.
                guard let question = try? await pending.open() else { continue }
                challenges.append(SDKPushChallenge(pending, question, for: self, prompt: settings.biometricPrompt))
            }
            return challenges
        }
    }

    /// The challenge that a push announces; nil if it is for another enrollment.
    func challenge(of push: PushNotification, _ skew: Int) async throws(CountersignError) -> SDKPushChallenge? {
        let pending = try await authenticator.pendingChallenge(from: push, allowedClockSkew: .seconds(skew))
        guard let pending, pending.enrollment == enrollment.id else { return nil }
        return SDKPushChallenge(pending, nil, for: self, prompt: settings.biometricPrompt)
    }

    func deleteFromDevice() throws {
        try waited { [enrollment] in try await enrollment.removeLocally() }
    }

    /// Removes the enrollment on the server and on this device.
    func remove() async throws {
        do throws(CountersignError) {
            try await enrollment.remove()
        } catch {
            // The user wants it gone, and for the server it is.
            guard case .enrollmentUnknown = error else { throw error }
            try await enrollment.removeLocally()
        }
    }

    func retrieveMaintenanceToken(
        scopes: [String], completion: @escaping @Sendable (Result<Oauth2Credential, DeviceAuthenticatorError>) -> Void
    ) {
        run(at: organization.url, completion) { [self] in try await token(for: scopes) }
    }

    private func token(for scopes: [String]) async throws -> Oauth2Credential {
        guard let client = try await settings.vault.record(Self.clientRecord, of: enrollment.id),
            // The device is asked for nothing there: it signs in without a browser.
            let redirectURI = URL(string: "http://127.0.0.1/callback")
        else { throw StorageError.itemNotFound }
        let registration = OpenIDRegistration(
            issuer: organization.url, clientID: String(decoding: client, as: UTF8.self), redirectURI: redirectURI,
            scopes: scopes.filter { !$0.hasPrefix("okta.") })
        // A vault of its own: in the app's, it would take the place of whoever is signed in to the app.
        let app = try OpenIDClient(
            registration, vault: MemoryVault(), transport: settings.transport, clock: settings.clock)
        let signedIn = try await app.signIn(by: enrollment)
        let token = try await app.accessToken()
        return Oauth2Credential(
            access_token: token.reveal(), token_type: token.isBound ? "DPoP" : "Bearer",
            expires_in: Int((token.expiresAt - settings.clock.millisecondsSince1970) / 1000), refresh_token: nil,
            scope: signedIn.scopes.joined(separator: " "), token: token)
    }
}

extension Date {
    /// A moment.
    init(_ time: Timestamp) {
        self.init(timeIntervalSince1970: TimeInterval(time.milliseconds) / 1000)
    }
}
