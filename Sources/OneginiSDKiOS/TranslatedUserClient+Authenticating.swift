import Countersign
import CountersignWire
import Foundation

extension TranslatedUserClient {
    func authenticateUserWith(
        profile: any UserProfile, authenticator: Authenticator?, delegate: any AuthenticationDelegate
    ) {
        let id = profile.profileId
        let first = authenticator.map { Method($0) } ?? standing.with({ $0[id]?.preferredMethod }) ?? .pin
        Task { @MainActor in
            let asking = Asking(
                profile, in: ErrorDomains.authentication, authenticator: { self.authenticator($0, of: id) },
                pin: { delegate.userClient(self, didReceivePinChallenge: $0) },
                biometric: { delegate.userClient(self, didReceiveBiometricChallenge: $0) })
            do {
                try await alone("authentication") { try await self.authenticate(id, by: first, asking) }
                delegate.userClient(
                    self, didAuthenticateUser: profile,
                    authenticator: asking.lastAuthenticator ?? self.authenticator(first, of: id), info: nil)
            } catch {
                let failure = await told(error, in: ErrorDomains.authentication)
                delegate.userClient(
                    self, didFailToAuthenticateUser: profile,
                    authenticator: asking.lastAuthenticator ?? self.authenticator(first, of: id), error: failure)
            }
        }
    }

    @MainActor
    private func authenticate(_ id: String, by method: Method, _ asking: Asking) async throws {
        let phone = try phone()
        if case .custom = method { throw Refused.authentication(.customAuthenticationDisabled) }
        guard let user = standing.with({ $0[id] }) else { throw CountersignError.notEnrolled }
        let session = try await asking.prove(by: method, orByPIN: true, of: try await phone.enrollment(id)) { proof in
            try await phone.session(id, user.scopes, by: proof)
        }
        await replaceSession(by: session)
        await learnMethods(of: id)
    }

    func implicitlyAuthenticate(
        user: any UserProfile, with scopes: [String]?, completion: @escaping @MainActor ((any Error)?) -> Void
    ) {
        let id = user.profileId
        run(in: ErrorDomains.implicitAuthentication, completion) {
            let phone = try self.phone()
            let session = try await phone.session(id, ["openid"] + (scopes ?? []), by: .confirmation)
            self.standing.with { $0.implicit = session }
        }
    }

    func changePin(delegate: any ChangePinDelegate) {
        let domain = ErrorDomains.changePin
        Task { @MainActor in
            let id = authenticated
            let profile = UserProfileImplementation(profileId: id ?? "")
            let asking = Asking(
                profile, in: ErrorDomains.authentication,
                authenticator: { self.authenticator($0, of: profile.profileId) },
                pin: { delegate.userClient(self, didReceivePinChallenge: $0) })
            do {
                guard let id else { throw Refused.notAuthenticated(in: domain) }
                try await alone("change") {
                    let enrollment = try await self.phone().enrollment(id)
                    try await asking.provePIN(of: enrollment) { old in
                        _ = try await self.choosePIN(of: enrollment, for: profile) { challenge in
                            delegate.userClient(self, didReceiveCreatePinChallenge: challenge)
                        } setting: { new in
                            try await enrollment.changePIN(from: old, to: new)
                        }
                    }
                }
                delegate.userClient(self, didChangePinForUser: profile)
            } catch {
                delegate.userClient(
                    self, didFailToChangePinForUser: profile, error: await told(error, in: domain))
            }
        }
    }

    func validatePolicyCompliance(for pin: String, completion: @escaping @MainActor ((any Error)?) -> Void) {
        let domain = ErrorDomains.pinValidation
        Task { @MainActor in
            // The rules are the server's for the newest enrollment, which may be that of a registration under way.
            guard let enrollment = try? await phone().authenticator.enrollments.last else {
                return completion(await told(Refused.notStarted, in: domain))
            }
            do {
                let rules = try await enrollment.methods().pinPolicy
                do {
                    _ = try PIN(pin)
                    do throws(PINViolation) { try rules.check(pin) } catch { throw CountersignError.pinPolicy(error) }
                } catch {
                    return completion(translated(error, in: domain, rules: rules))
                }
            } catch {
                return completion(await told(error, in: domain))
            }
            completion(nil)
        }
    }
}
