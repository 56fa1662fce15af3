import Countersign
import Foundation

extension TranslatedUserClient {
    var preferredAuthenticator: Authenticator? {
        guard let id = authenticated else { return nil }
        return authenticator(standing.with({ $0[id]?.preferredMethod }) ?? .pin, of: id)
    }

    func setPreferredAuthenticator(_ authenticator: Authenticator) {
        guard let id = authenticated else { return }
        let method = Method(authenticator)
        Task { @MainActor in
            try? await change(id) { user in
                if user.has(method) { user.preferred = method.identifier }
            }
        }
    }

    func authenticators(_ type: AuthenticatorsType, for userProfile: any UserProfile) -> [Authenticator] {
        let standing = standing.with { $0 }
        guard let user = standing[userProfile.profileId] else { return [] }
        var methods: [Method] = [.pin]
        if standing.phone?.hasBiometrics == true { methods.append(.biometric) }
        methods += user.custom.keys.sorted().map(Method.custom)
        return methods.map(user.authenticator).filter { authenticator in
            switch type {
            case .registered: authenticator.isRegistered
            case .nonRegistered: !authenticator.isRegistered
            case .all: true
            }
        }
    }

    func register(authenticator: Authenticator, delegate: any AuthenticatorRegistrationDelegate) {
        let domain = ErrorDomains.authenticatorRegistration
        let method = Method(authenticator)
        Task { @MainActor in
            let id = authenticated
            let profile = UserProfileImplementation(profileId: id ?? "")
            let asking = Asking(
                profile, in: ErrorDomains.authentication,
                authenticator: { self.authenticator($0, of: profile.profileId) },
                pin: { delegate.userClient(self, didReceivePinChallenge: $0) })
            do {
                guard let id else { throw Refused.notAuthenticated(in: domain) }
                let info = try await alone("change") {
                    try await self.register(method, of: id, asking) { answer in
                        delegate.userClient(
                            self,
                            didReceiveCustomAuthFinishRegistrationChallenge: CustomRegistrationDataQuestion(
                                profile, self.authenticator(method, of: id), answer))
                    }
                }
                delegate.userClient(
                    self, didRegister: self.authenticator(method, of: id), for: profile, info: info)
            } catch {
                let info = (error as? CountersignError)?.customInfo
                _ = await told(error, in: domain)
                delegate.userClient(
                    self, didFailToRegister: self.authenticator(method, of: profile.profileId), for: profile,
                    error: translated(error, in: domain, info))
            }
        }
    }

    @MainActor
    private func register(
        _ method: Method, of id: String, _ asking: Asking, data ask: @MainActor (Answer<Response>) -> Void
    ) async throws -> (any CustomInfo)? {
        let phone = try phone()
        let enrollment = try await phone.enrollment(id)
        let info: TranslatedInfo?
        switch method {
        case .pin:
            throw Refused(
                ErrorDomains.authenticatorRegistration,
                AuthenticatorRegistrationError.authenticatorAlreadyRegistered.rawValue)
        case .biometric:
            guard phone.hasBiometrics else {
                throw Refused(
                    ErrorDomains.authenticatorRegistration,
                    AuthenticatorRegistrationError.authenticatorNotSupported.rawValue)
            }
            try await asking.provePIN(of: enrollment) { pin in
                try await enrollment.registerBiometric(prompt: method.name, pin: pin)
            }
            info = nil
        case .custom(let name):
            guard let data = try await asking.text(ask) else { throw Refused.cancelled }
            let payload = try await asking.provePIN(of: enrollment) { pin in
                try await enrollment.register(custom: name, data: data, pin: pin)
            }
            info = TranslatedInfo(.agreed, payload)
        }
        await learnMethods(of: id)
        return info
    }

    func deregister(authenticator: Authenticator, delegate: any AuthenticatorDeregistrationDelegate) {
        let domain = ErrorDomains.authenticatorDeregistration
        let method = Method(authenticator)
        Task { @MainActor in
            let id = authenticated
            let profile = UserProfileImplementation(profileId: id ?? "")
            let asking = Asking(
                profile, in: ErrorDomains.authentication,
                authenticator: { self.authenticator($0, of: profile.profileId) },
                pin: { delegate.userClient(self, didReceivePinChallenge: $0) })
            do {
                guard let id else { throw Refused.notAuthenticated(in: domain) }
                try await alone("change") { try await self.deregister(method, of: id, asking) }
                delegate.userClient(
                    self, didDeregister: self.authenticator(method, of: id), forUser: profile)
            } catch {
                let failure = await told(error, in: domain)
                delegate.userClient(
                    self, didFailToDeregister: self.authenticator(method, of: profile.profileId), forUser: profile,
                    error: failure)
            }
        }
    }

    @MainActor
    private func deregister(_ method: Method, of id: String, _ asking: Asking) async throws {
        let enrollment = try await phone().enrollment(id)
        switch method {
        case .pin:
            throw Refused(
                ErrorDomains.authenticatorDeregistration,
                AuthenticatorDeregistrationError.authenticatorPinDeregistrationNotPossible.rawValue)
        case .biometric:
            try await asking.provePIN(of: enrollment) { try await enrollment.removeBiometric(pin: $0) }
        case .custom(let name):
            try await asking.provePIN(of: enrollment) { try await enrollment.deregister(custom: name, pin: $0) }
        }
        await learnMethods(of: id)
    }
}
