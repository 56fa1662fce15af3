import Countersign
import CountersignWire
import Foundation

#if canImport(UserNotifications)
    import UserNotifications
#else
    import UserNotificationsStandIn
#endif

/// The vendor's calls on the SDK's authenticators, one for each server.
final class SDKDeviceAuthenticator: DeviceAuthenticatorProtocol {
    private let settings: Settings
    private let authenticators = Locked<[URL: Authenticator]>([:])

    /// Opens what is in the vault.
    init(settings: Settings) throws(DeviceAuthenticatorError) {
        self.settings = settings
        try waited { [self] in
            for issuer in try await Authenticator.issuers(in: settings.vault) {
                _ = try await authenticator(at: issuer)
            }
        }
    }

    /// The authenticator at a server.
    func authenticator(at issuer: URL) async throws(CountersignError) -> Authenticator {
        if let known = authenticators.withLock({ $0[issuer] }) { return known }
        let opened = try await Authenticator(
            issuer: issuer, app: settings.app, vault: settings.vault, transport: settings.transport,
            clock: settings.clock)
        return authenticators.withLock { authenticators -> Authenticator in
            // Another call may have been faster, and its authenticator knows what was enrolled since.
            if let known = authenticators[issuer] { return known }
            authenticators[issuer] = opened
            return opened
        }
    }

    /// The enrollments, each with the server that it is at.
    private func enrollments() async -> [SDKEnrollment] {
        var all: [SDKEnrollment] = []
        let opened = authenticators.withLock { $0 }
        for (issuer, authenticator) in opened.sorted(by: { $0.key.absoluteString < $1.key.absoluteString }) {
            for enrollment in await authenticator.enrollments {
                all.append(await SDKEnrollment(enrollment, of: authenticator, at: issuer, settings))
            }
        }
        return all
    }

    func downloadPolicy(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        completion: @escaping @Sendable (Result<any AuthenticatorPolicyProtocol, DeviceAuthenticatorError>) -> Void
    ) {
        run(at: authenticatorConfig.orgURL, completion) { Policy() }
    }

    private struct Policy: AuthenticatorPolicyProtocol {
        let userVerificationSetting = UserVerificationPolicySetting.preferred
    }

    func enroll(
        authenticationToken: AuthToken, authenticatorConfig: DeviceAuthenticatorConfig,
        enrollmentParameters: EnrollmentParameters,
        completion: @escaping @Sendable (Result<any AuthenticatorEnrollmentProtocol, DeviceAuthenticatorError>) -> Void
    ) {
        run(at: authenticatorConfig.orgURL, completion) { [self] in
            try await enroll(by: authenticationToken, at: authenticatorConfig, enrollmentParameters)
        }
    }

    private func enroll(
        by token: AuthToken, at config: DeviceAuthenticatorConfig, _ parameters: EnrollmentParameters
    ) async throws -> SDKEnrollment {
        let authenticator = try await authenticator(at: config.orgURL)
        try await settings.registerPush(parameters.deviceToken, with: authenticator)
        let enrollment = try await authenticator.enroll(with: .accessToken(try token.opened()))
        do {
            try await SDKEnrollment.keep(config.oidcClientId, of: enrollment.id, in: settings.vault)
            if parameters.enablesUserVerification {
                try await enrollment.registerBiometric(prompt: settings.biometricPrompt)
            }
        } catch {
            // Half of what the app asked for is nothing, also where the server cannot be told.
            do { try await enrollment.remove() } catch { try? await enrollment.removeLocally() }
            throw error
        }
        return await SDKEnrollment(enrollment, of: authenticator, at: config.orgURL, settings)
    }

    func allEnrollments() -> [any AuthenticatorEnrollmentProtocol] {
        let found = try? waited { [self] in await enrollments() }
        return found ?? []
    }

    func delete(
        enrollment: any AuthenticatorEnrollmentProtocol, authenticationToken: AuthToken,
        completion: @escaping @Sendable (DeviceAuthenticatorError?) -> Void
    ) {
        run(at: enrollment.organization.url, completion) { [self] in
            guard let known = await enrollments().first(where: { $0.enrollmentId == enrollment.enrollmentId }) else {
                throw StorageError.itemNotFound
            }
            try await known.remove()
        }
    }

    func parsePushNotification(
        _ notification: UNNotification, allowedClockSkewInSeconds: Int
    ) throws -> any PushChallengeProtocol {
        try challenge(in: notification, allowedClockSkewInSeconds)
    }

    func parsePushNotificationResponse(
        _ response: UNNotificationResponse, allowedClockSkewInSeconds: Int
    ) throws -> any PushChallengeProtocol {
        let challenge = try challenge(in: response.notification, allowedClockSkewInSeconds)
        challenge.choose(QuickAction(rawValue: response.actionIdentifier))
        return challenge
    }

    private func challenge(
        in notification: UNNotification, _ skew: Int
    ) throws(DeviceAuthenticatorError) -> SDKPushChallenge {
        let userInfo = notification.request.content.userInfo
        guard let push = PushNotification(userInfo: userInfo), push.withdrawnChallenge == nil else {
            throw .pushNotRecognized
        }
        let found = try waited(atMost: 10) { [self] in try await challenge(of: push, skew) }
        guard let found else {
            let named = PushNotification.challenge(named: userInfo)
            throw .accountNotFoundForChallenge(ForeignChallenge(transactionId: named.map { "\($0)" } ?? ""))
        }
        return found
    }

    private func challenge(of push: PushNotification, _ skew: Int) async throws -> SDKPushChallenge? {
        for enrollment in await enrollments() {
            if let challenge = try await enrollment.challenge(of: push, skew) { return challenge }
        }
        return nil
    }
}

extension Settings {
    /// Registers a push token for all enrollments at a server.
    func registerPush(_ token: DeviceToken, with authenticator: Authenticator) async throws(CountersignError) {
        switch token {
        case .empty: break
        case .tokenData(let token):
            try await authenticator.registerPush(token: token, app: try pushTarget(), environment: environment)
        case .tokenString(let token):
            try await authenticator.registerPush(.apns(environment), app: try pushTarget(), token: token)
        }
    }

    private func pushTarget() throws(CountersignError) -> String {
        guard let bundleIdentifier else {
            throw .configurationInvalid("the app has no bundle identifier: set countersign's")
        }
        return bundleIdentifier
    }
}
