import Countersign
import CountersignWire
import Foundation

/// Enrolling for mobile authentication, which is a record of this app: without it nothing of it surfaces.
extension TranslatedUserClient {
    func enrollMobileAuth(_ completion: @escaping @MainActor ((any Error)?) -> Void) {
        run(in: ErrorDomains.mobileAuthEnrollment, completion) {
            let id = try self.authenticated(in: ErrorDomains.mobileAuthEnrollment)
            try await self.change(id) { $0.isMobileAuthEnrolled = true }
        }
    }

    func isMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool {
        let id = userProfile.profileId
        return standing.with({ $0[id]?.isMobileAuthEnrolled }) ?? false
    }

    func enrollPushMobileAuth(
        with deviceToken: Data, completion: @escaping @MainActor ((any Error)?) -> Void
    ) {
        let domain = ErrorDomains.mobileAuthEnrollment
        run(in: domain, completion) {
            let id = try self.authenticated(in: domain)
            guard self.standing.with({ $0[id]?.isMobileAuthEnrolled }) == true else {
                throw Refused(domain, MobileAuthEnrollmentError.notEnrolled.rawValue)
            }
            let phone = try self.phone()
            try await phone.authenticator.registerPush(
                token: deviceToken, app: phone.settings.pushApp, environment: phone.settings.pushEnvironment)
            try await self.change(id) { $0.isPushEnrolled = true }
        }
    }

    func isPushMobileAuthEnrolled(for userProfile: any UserProfile) -> Bool {
        let id = userProfile.profileId
        return standing.with({ $0[id]?.isPushEnrolled }) ?? false
    }
}

/// What waits.
extension TranslatedUserClient {
    func pendingMobileAuthRequest(from userInfo: [AnyHashable: Any]) -> (any PendingMobileAuthRequest)? {
        guard let push = PushNotification(userInfo: userInfo), push.withdrawnChallenge == nil,
            let challenge = PushNotification.challenge(named: userInfo),
            let id = (userInfo["countersign"] as? [String: Any])?["enrollment"] as? String
        else { return nil }
        let profile = UserProfileImplementation(profileId: id)
        guard isMobileAuthEnrolled(for: profile) else { return nil }
        let alert = (userInfo["aps"] as? [String: Any])?["alert"] as? [String: Any]
        return TranslatedPending(
            "\(challenge)", profile, message: alert?["body"] as? String, PushInfo(userInfo))
    }

    func pendingPushMobileAuthRequests(
        completion: @escaping @MainActor ([any PendingMobileAuthRequest]?, (any Error)?) -> Void
    ) {
        Task { @MainActor in
            do {
                completion(try await pendingRequests(), nil)
            } catch {
                completion(nil, await told(error, in: ErrorDomains.mobileAuthRequest))
            }
        }
    }

    /// What waits for the enrolled users; one whose list fails does not hide those of the others.
    @MainActor
    private func pendingRequests() async throws -> [any PendingMobileAuthRequest] {
        let phone = try phone()
        var pending: [PendingChallenge] = []
        var failure: (any Error)?
        var isAnyRead = false
        for user in standing.with({ $0.users }) where user.isMobileAuthEnrolled {
            do {
                pending += try await phone.enrollment(user.profile).pendingChallenges()
                isAnyRead = true
            } catch {
                failure = failure ?? error
            }
        }
        if let failure, !isAnyRead { throw failure }
        return pending.sorted { $0.id > $1.id }.map { challenge -> any PendingMobileAuthRequest in
            let (asked, end) = (challenge.askedAt.milliseconds, challenge.expiresAt.milliseconds)
            return TranslatedPending(
                "\(challenge.id)", UserProfileImplementation(profileId: "\(challenge.enrollment)"),
                date: Date(timeIntervalSince1970: Double(asked) / 1000), timeToLive: Double(end - asked) / 1000,
                message: challenge.message)
        }
    }
}

/// What is told at the end of a request: what was asked, and by what the person was to answer.
@MainActor
private final class Handling {
    var request: TranslatedRequest
    var asking: Asking?

    init(_ request: TranslatedRequest) {
        self.request = request
    }
}

/// Handling requests.
extension TranslatedUserClient {
    func handlePendingMobileAuthRequest(
        _ request: any PendingMobileAuthRequest, delegate: any MobileAuthRequestDelegate
    ) {
        let (transaction, profile) = (request.transactionId, request.userProfile)
        let push = PushInfo(request.userInfo)
        let announced = TranslatedRequest(transaction, profile, message: request.message, push)
        Task { @MainActor in
            await handle(announced, push, delegate) {
                guard self.isMobileAuthEnrolled(for: profile) else { throw Refused.request(.notEnrolled) }
                guard let challenge = ChallengeID(transaction), let enrollment = EnrollmentID(profile.profileId) else {
                    throw Refused.request(.notHandleable)
                }
                return try await self.phone().authenticator.open(challenge, for: enrollment)
            }
        }
    }

    func canHandleOTPMobileAuthRequest(otp: String) -> Bool { Countersign.Authenticator.isChallengeCode(otp) }

    func handleOTPMobileAuthRequest(otp: String, delegate: any MobileAuthRequestDelegate) {
        let domain = ErrorDomains.mobileAuthRequest
        Task { @MainActor in
            let question: OpenedChallenge
            let profile: UserProfileImplementation
            do {
                _ = try await token(in: domain)
                profile = UserProfileImplementation(profileId: try authenticated(in: domain))
                guard isMobileAuthEnrolled(for: profile) else { throw Refused.request(.notEnrolled) }
                question = try await phone().enrollment(profile.profileId).claim(otp)
            } catch {
                let failure = await told(error, in: domain)
                return delegate.userClient(self, didFailToHandleOTPMobileAuthRequest: otp, error: failure)
            }
            let claimed = TranslatedRequest("\(question.id)", profile)
            await handle(claimed, nil, delegate) { question }
        }
    }

    /// Opens a request, has it answered, and tells how it has ended, once.
    @MainActor
    private func handle(
        _ announced: TranslatedRequest, _ push: PushInfo?, _ delegate: any MobileAuthRequestDelegate,
        _ open: @MainActor () async throws -> OpenedChallenge
    ) async {
        let handling = Handling(announced)
        do {
            let info = try await alone(announced.transactionId, orElse: .request(.alreadyHandled)) {
                let question = try await open()
                let request = TranslatedRequest(
                    announced.transactionId, announced.userProfile, type: question.type,
                    message: question.shownText, signingData: question.signingData, push)
                handling.request = request
                let now = try await self.phone().authenticator.millisecondsSince1970
                let left = Duration.milliseconds(question.expiresAt.milliseconds - now)
                let asking = self.asking(request, until: ContinuousClock.now + left, delegate)
                handling.asking = asking
                return try await self.answered(question, request, asking, within: left, delegate)
            }
            delegate.userClient(
                self, didHandleRequest: handling.request, authenticator: handling.asking?.lastAuthenticator,
                info: info)
        } catch {
            let failure = await told(error, in: ErrorDomains.mobileAuthRequest)
            delegate.userClient(
                self, didFailToHandleRequest: handling.request, authenticator: handling.asking?.lastAuthenticator,
                error: failure)
        }
    }

    @MainActor
    private func asking(
        _ request: TranslatedRequest, until end: ContinuousClock.Instant, _ delegate: any MobileAuthRequestDelegate
    ) -> Asking {
        let profile = request.userProfile
        return Asking(
            profile, in: ErrorDomains.mobileAuthRequest, until: end,
            authenticator: { self.authenticator($0, of: profile.profileId) },
            pin: { delegate.userClient(self, didReceivePinChallenge: $0, for: request) },
            biometric: { delegate.userClient(self, didReceiveBiometricChallenge: $0, for: request) },
            custom: {
                delegate.userClient(
                    self, didReceiveCustomAuthFinishAuthenticationChallenge: $0, for: request)
            })
    }

    /// Has the person answer; a denial is sent, and then thrown as the cancellation that it is to the app.
    ///
    /// - Returns: what a custom authenticator has said.
    @MainActor
    private func answered(
        _ question: OpenedChallenge, _ request: TranslatedRequest, _ asking: Asking, within limit: Duration,
        _ delegate: any MobileAuthRequestDelegate
    ) async throws -> (any CustomInfo)? {
        // These calls have no place where a number is typed.
        if let length = question.numberLength { throw CountersignError.numberRequired(length: length) }
        let profile = request.userProfile.profileId
        guard let method = try await registeredMethod(for: question, of: profile) else {
            let confirmed = await firstAnswer(within: limit) { (answer: Answer<Bool>) in
                delegate.userClient(self, didReceiveConfirmation: { answer.give($0) }, for: request)
            }
            switch confirmed {
            case .given(true): try await question.approve(with: .confirmation)
            case .given(false): try await deny(question)
            case .dropped: throw Refused.request(.notHandleable)
            case .late: throw Refused.request(.notFound)
            }
            return nil
        }
        let enrollment = try await phone().enrollment(profile)
        do {
            let mayUsePIN = question.methods.contains(.pin)
            return try await asking.prove(by: method, orByPIN: mayUsePIN, of: enrollment) { proof in
                let payload = try await question.approve(with: proof).payload
                guard case .custom = proof else { return nil }
                return TranslatedInfo(.agreed, payload)
            }
        } catch let refused as Refused where refused.isCancellation {
            try await deny(question)
            return nil
        }
    }

    @MainActor
    private func deny(_ question: OpenedChallenge) async throws {
        try await question.deny()
        throw Refused.cancelled
    }

    /// The first of a question's methods that the user has; nil to confirm.
    @MainActor
    private func registeredMethod(for question: OpenedChallenge, of profile: String) async throws -> Method? {
        if question.methods.first == .confirm { return nil }
        await learnMethods(of: profile)
        let user = standing.with { $0[profile] }
        for allowed in question.methods {
            switch allowed {
            case .confirm: return nil
            case .pin: return .pin
            case .biometric: if user?.has(.biometric) == true { return .biometric }
            case .custom(let name): if user?.has(.custom("\(name)")) == true { return .custom("\(name)") }
            }
        }
        throw CountersignError.methodMissing(question.methods)
    }
}

extension OpenedChallenge {
    /// Everything that is to be shown, as one text.
    fileprivate var shownText: String {
        ([message] + details.map { "\($0.label): \($0.value)" } + (context.map { [$0] } ?? [])).joined(separator: "\n")
    }
}
