import Countersign
import CountersignWire
import Foundation

/// The users of this device, by the SDK: every call is one of the SDK's.
final class TranslatedUserClient: UserClient {
    /// What is known between two calls.
    let standing = Guarded(Standing())
    private let settings: ClientSettings

    init(_ settings: ClientSettings) {
        self.settings = settings
    }

    let identityProviders: [any IdentityProvider] = [RegistrationWay.browser, RegistrationWay.ticket]
    let isStateless = false

    var userProfiles: [any UserProfile] {
        standing.with { $0.users }.map { UserProfileImplementation(profileId: $0.profile) }
    }

    var authenticatedUserProfile: (any UserProfile)? {
        authenticated.map { UserProfileImplementation(profileId: $0) }
    }

    var implicitlyAuthenticatedUserProfile: (any UserProfile)? {
        living(standing.with { $0.implicit }).map { UserProfileImplementation(profileId: $0.profile) }
    }

    var accessToken: String? {
        guard let token = standing.with({ $0.session })?.token, !isOver(token) else { return nil }
        return token.reveal()
    }

    /// Who is logged in.
    var authenticated: String? { living(standing.with { $0.session })?.profile }

    private func isOver(_ token: AccessToken) -> Bool { token.expiresAt <= settings.clock.millisecondsSince1970 }

    /// A session that is not over.
    private func living(_ session: Session?) -> Session? {
        guard let session, session.isLasting || !isOver(session.token) else { return nil }
        return session
    }

    func start(_ completion: @escaping @MainActor ((any Error)?) -> Void) {
        run(in: ErrorDomains.generic, completion) {
            try await self.alone("start") {
                guard self.standing.with({ $0.phone }) == nil else { return }
                let phone = try await Phone(self.settings)
                let (users, there) = (try await phone.users(), await phone.profiles)
                self.standing.with {
                    $0.phone = phone
                    $0.users = users.filter { there.contains($0.profile) }
                }
                await self.tidy(phone)
            }
        }
    }

    func reset(_ completion: @escaping @MainActor ((any Error)?) -> Void) {
        run(in: ErrorDomains.generic, completion) {
            let phone = try self.phone()
            for enrollment in await phone.authenticator.enrollments { try await enrollment.removeLocally() }
            try await self.noteRemovals()
        }
    }

    func logoutUser(_ completion: @escaping @MainActor ((any UserProfile)?, (any Error)?) -> Void) {
        Task { @MainActor in
            let session = standing.with { standing in
                defer { standing.session = nil }
                return standing.session
            }
            guard let session else { return completion(nil, nil) }
            let profile = UserProfileImplementation(profileId: session.profile)
            if case .complete? = try? await session.openID.signOut() { return completion(profile, nil) }
            let local = Refused(ErrorDomains.logout, LogoutError.localLogout.rawValue)
            completion(profile, translated(local, in: ErrorDomains.logout))
        }
    }

    func deregister(user: any UserProfile, completion: @escaping @MainActor ((any Error)?) -> Void) {
        let profile = user.profileId
        run(in: ErrorDomains.deregistration, completion) {
            let enrollment = try await self.phone().enrollment(profile)
            do {
                try await enrollment.remove()
            } catch CountersignError.enrollmentUnknown {
                // The server has nothing to remove.
                try await enrollment.removeLocally()
            } catch {
                try await enrollment.removeLocally()
                throw Refused(ErrorDomains.deregistration, DeregistrationError.localDeregistration.rawValue)
            }
            try await self.noteRemovals()
        }
    }

    func registerStatelessUserWith(
        identityProvider: (any IdentityProvider)?, scopes: [String]?, delegate: any RegistrationDelegate
    ) {
        let refused = Refused(ErrorDomains.registration, RegistrationError.statelessDisabled.rawValue)
        Task { @MainActor in
            delegate.userClient(
                self, didFailToRegisterUserWith: identityProvider ?? RegistrationWay.browser,
                error: translated(refused, in: ErrorDomains.registration))
        }
    }

    func appToWebSingleSignOn(
        with targetURL: URL, completion: @escaping @MainActor (URL?, String?, (any Error)?) -> Void
    ) {
        let domain = ErrorDomains.appToWebSingleSignOn
        let refused = Refused(domain, AppToWebSingleSignOnError.disabled.rawValue)
        Task { @MainActor in completion(nil, nil, translated(refused, in: domain)) }
    }

    func headerFields(for method: String, _ url: URL) async throws -> [String: String] {
        do {
            return try await token(in: ErrorDomains.authentication).headerFields(for: method, url)
        } catch {
            throw translated(error, in: ErrorDomains.authentication)
        }
    }
}

/// What every call needs.
extension TranslatedUserClient {
    /// The SDK.
    func phone() throws -> Phone {
        guard let phone = standing.with({ $0.phone }) else { throw Refused.notStarted }
        return phone
    }

    /// Whoever is logged in.
    func authenticated(in domain: String) throws -> String {
        guard let authenticated else { throw Refused.notAuthenticated(in: domain) }
        return authenticated
    }

    /// An access token of whoever is logged in, refreshed if need be.
    func token(in domain: String) async throws -> AccessToken {
        guard let session = standing.with({ $0.session }) else { throw Refused.notAuthenticated(in: domain) }
        do {
            return try await session.openID.accessToken()
        } catch CountersignError.notSignedIn, CountersignError.signInEnded {
            // Somebody else may have logged in meanwhile.
            standing.with { if $0.session?.openID === session.openID { $0.session = nil } }
            throw Refused.notAuthenticated(in: domain)
        }
    }

    /// Does something, and tells how it has ended.
    func run(
        in domain: String, _ completion: @escaping @MainActor ((any Error)?) -> Void,
        _ work: @escaping @MainActor () async throws -> Void
    ) {
        Task { @MainActor in
            do {
                try await work()
            } catch {
                return completion(await told(error, in: domain))
            }
            completion(nil)
        }
    }

    /// The error as the app gets it, after the users that are gone were forgotten.
    @MainActor
    func told(_ error: any Error, in domain: String) async -> any Error {
        if case CountersignError.enrollmentUnknown = error { await removeUnknown() }
        try? await noteRemovals()
        return translated(error, in: domain)
    }

    /// Removes what the server no longer knows, such as one that was restored: the users can register anew.
    @MainActor
    private func removeUnknown() async {
        guard let phone = try? phone() else { return }
        for enrollment in await phone.authenticator.enrollments {
            do throws(CountersignError) { try await enrollment.refresh() } catch {
                if case .enrollmentUnknown = error { try? await enrollment.removeLocally() }
            }
        }
    }

    /// Does something that may not be done twice at once.
    @MainActor
    func alone<Result: Sendable>(
        _ name: String, orElse refused: Refused = .underWay, _ work: @MainActor () async throws -> Result
    ) async throws -> Result {
        guard standing.with({ $0.underWay.insert(name).inserted }) else { throw refused }
        defer { standing.with { _ = $0.underWay.remove(name) } }
        return try await work()
    }

    /// Forgets the users whose enrollments are gone.
    @MainActor
    func noteRemovals() async throws {
        let there = try await phone().profiles
        if standing.with({ $0.forget(allBut: there) }) { try await keepUsers() }
    }

    /// Removes the enrollments of registrations that have not been finished.
    @MainActor
    func tidy(_ phone: Phone) async {
        let known = standing.with { Set($0.users.map(\.profile)) }
        for enrollment in await phone.authenticator.enrollments where !known.contains("\(enrollment.id)") {
            do throws(CountersignError) { try await enrollment.remove() } catch {
                // What else cannot be removed now is removed the next time.
                if case .enrollmentUnknown = error { try? await enrollment.removeLocally() }
            }
        }
    }

    /// Changes what is kept of a user.
    @MainActor
    func change(_ profile: String, _ change: @Sendable (inout User) -> Void) async throws {
        standing.with { $0.change(profile, change) }
        try await keepUsers()
    }

    /// Stores the users as they are when it returns.
    @MainActor
    func keepUsers() async throws {
        let phone = try phone()
        var kept: [User]
        repeat {
            kept = standing.with { $0.users }
            do { try await phone.keep(kept) } catch { throw CountersignError.vault("\(error)") }
        } while kept != standing.with({ $0.users })
    }

    /// Takes over how a user's authenticators stand at the server, if it can be asked.
    @MainActor
    func learnMethods(of profile: String) async {
        guard let methods = try? await phone().enrollment(profile).methods() else { return }
        try? await change(profile) { $0.learn(methods) }
    }

    /// A user's authenticator.
    func authenticator(_ method: Method, of profile: String) -> Authenticator {
        let user = standing.with { $0[profile] }
        return user?.authenticator(method) ?? Authenticator(method, isRegistered: false, isPreferred: false)
    }
}
