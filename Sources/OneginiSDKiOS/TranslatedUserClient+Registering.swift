import Countersign
import CountersignWire
import Foundation

/// Shows the issuer's pages by the app's own means, as a registration's challenge asks.
private struct AskedBrowser: BrowserSession {
    let show: @MainActor @Sendable (any BrowserRegistrationChallenge) -> Void

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        let shown = await firstAnswer { (answer: Answer<URL?>) in show(BrowserQuestion(url, answer)) }
        guard case .given(let back?) = shown else { throw CancellationError() }
        return back
    }
}

extension TranslatedUserClient {
    /// How often it is asked whether another device has approved this one.
    private static let pace = Duration.seconds(3)

    func registerUserWith(
        identityProvider: (any IdentityProvider)?, scopes: [String]?, delegate: any RegistrationDelegate
    ) {
        let way = identityProvider ?? RegistrationWay.browser
        Task { @MainActor in
            do {
                let profile = try await alone("registration") {
                    try await self.register(by: way, for: scopes ?? [], delegate)
                }
                delegate.userClient(self, didRegisterUser: profile, with: way, info: nil)
            } catch {
                let failure = await told(error, in: ErrorDomains.registration)
                delegate.userClient(self, didFailToRegisterUserWith: way, error: failure)
            }
        }
    }

    @MainActor
    private func register(
        by way: any IdentityProvider, for scopes: [String], _ delegate: any RegistrationDelegate
    ) async throws -> any UserProfile {
        let phone = try phone()
        await tidy(phone)
        let enrollment: Enrollment
        var signedIn: (SignedIn, OpenIDClient)?
        switch way.identifier {
        case RegistrationWay.browser.identifier:
            let openID = try phone.openID(["openid"] + scopes + ["enroll"])
            let browser = AskedBrowser { challenge in
                delegate.userClient(self, didReceiveBrowserRegistrationChallenge: challenge)
            }
            signedIn = (try await openID.authorize(in: browser), openID)
            let token = try await openID.accessToken()
            enrollment = try await phone.authenticator.enroll(with: .accessToken(token))
        case RegistrationWay.ticket.identifier:
            let ticket = await firstAnswer { (answer: Answer<Response>) in
                delegate.userClient(self, didReceiveCustomRegistrationFinishChallenge: TicketQuestion(answer))
            }
            guard case .given(.text(let text)) = ticket else { throw Refused.cancelled }
            enrollment = try await phone.authenticator.enroll(with: .ticket(text))
        default:
            throw Refused(ErrorDomains.registration, RegistrationError.invalidIdentityProvider.rawValue)
        }
        do {
            return try await finish(enrollment, phone, signedIn, for: scopes, delegate)
        } catch {
            // Nobody is half registered.
            do { try await enrollment.remove() } catch { try? await enrollment.removeLocally() }
            _ = try? await signedIn?.1.signOut()
            throw error
        }
    }

    @MainActor
    private func finish(
        _ enrollment: Enrollment, _ phone: Phone, _ signedIn: (SignedIn, OpenIDClient)?, for scopes: [String],
        _ delegate: any RegistrationDelegate
    ) async throws -> any UserProfile {
        let id = "\(enrollment.id)"
        // A first PIN is set within ten minutes, and an approval may take longer.
        _ = try await choosePIN(of: enrollment, for: nil) { challenge in
            delegate.userClient(self, didReceiveCreatePinChallenge: challenge)
        } setting: { pin in
            try await enrollment.setPIN(pin)
        }
        let user = User(profile: id, scopes: ["openid"] + scopes)
        // If the app ends while the device waits, the user is still there.
        standing.with { $0.users.append(user) }
        try await keepUsers()
        if let approval = enrollment.approval {
            delegate.userClient(self, didBeginWaitingForApproval: approval.number)
            try await untilApproved(enrollment)
        }
        let session: Session
        if let (signedIn, openID) = signedIn, enrollment.approval == nil {
            session = try await phone.session(id, signedIn, openID)
        } else {
            // The PIN of a further device does not count yet, and its sign-in in the browser may be over.
            session = try await phone.session(id, user.scopes, by: .confirmation)
            _ = try? await signedIn?.1.signOut()
        }
        await replaceSession(by: session)
        await learnMethods(of: id)
        return UserProfileImplementation(profileId: id)
    }

    /// Waits until the device may approve; one that was refused is wiped, and that is thrown.
    @MainActor
    private func untilApproved(_ enrollment: Enrollment) async throws {
        while true {
            do throws(CountersignError) {
                if try await enrollment.refresh() == nil { return }
            } catch {
                guard error.retryHelps else { throw error }
            }
            try await Task.sleep(for: Self.pace)
        }
    }

    /// Has the person choose a PIN until it can be set.
    ///
    /// - Parameters:
    ///   - enrollment: whose PIN.
    ///   - profile: who is asked; nil while they are being registered.
    ///   - show: hands the challenge over.
    ///   - set: sets the PIN.
    /// - Returns: the PIN that was set.
    @MainActor
    func choosePIN(
        of enrollment: Enrollment, for profile: (any UserProfile)?,
        asking show: @MainActor (any CreatePinChallenge) -> Void, setting set: @MainActor (PIN) async throws -> Void
    ) async throws -> PIN {
        let rules = try await enrollment.methods().pinPolicy
        var error: (any Error)?
        while true {
            let reason = error
            let chosen = await firstAnswer { (answer: Answer<Response>) in
                show(CreatePinQuestion(profile, length: rules.minimumLength, reason, answer))
            }
            guard case .given(.text(let digits)) = chosen else { throw Refused.cancelled }
            do {
                let pin = try PIN(digits)
                try await set(pin)
                return pin
            } catch CountersignError.pinPolicy(let violation) {
                error = translated(
                    CountersignError.pinPolicy(violation), in: ErrorDomains.pinValidation, rules: rules)
            }
        }
    }

    /// Logs somebody in, in the place of whoever was.
    @MainActor
    func replaceSession(by session: Session) async {
        let earlier = standing.with { standing in
            defer { standing.session = session }
            return standing.session
        }
        // What nobody needs any more is taken back; if that fails, it ends by itself.
        _ = try? await earlier?.openID.signOut()
    }
}
