import Countersign
import CountersignPrompts
import CountersignWire

#if canImport(UIKit)
    import UIKit
#else
    import UIKitStandIn
#endif

extension Backing {
    /// Signs a user of the app in: by this device, if it is trusted, and otherwise by one that is, over a prompt.
    func login(_ userID: String, over place: UIViewController?) async throws -> Grant {
        await ending?.value
        if let enrollment = try await enrollment(of: userID) {
            do throws(CountersignError) {
                return try await signIn(by: enrollment)
            } catch {
                guard error.isOfUntrustedDevice else { throw error }
                // What the server has lost must not keep this device from being registered anew.
                if case .enrollmentUnknown = error { try await enrollment.removeLocally() }
            }
        }
        return try await loginElsewhere(userID, over: place)
    }

    private func signIn(by enrollment: Enrollment) async throws(CountersignError) -> Grant {
        try await took(try await parts().client.signIn(by: enrollment))
    }

    /// The prompt waits for a minute at most, and closes itself three seconds after it has said what went wrong.
    private func loginElsewhere(_ userID: String, over place: UIViewController?) async throws -> Grant {
        let place = try Stage.place(place)
        let client = try await parts().client
        let attempt = ElsewhereAttempt(SDKElsewhereSignIn(client, loginHint: settings.signInName(userID)))
        let model = WaitingModel(attempt, clock: settings.promptClock)
        // A prompt that is swept away must not leave the sign-in behind, nor take it from the callback.
        let running = Task { await model.run() }
        await Stage.show(model, over: place, look)
        running.cancel()
        await running.value
        guard model.state == .signedIn, let signedIn = try await client.signedIn() else {
            throw await attempt.failure ?? (model.timeLeft == .zero ? .signInRefused(.expired) : .cancelled)
        }
        return try await took(signedIn)
    }

    /// Enrolls this device for a user of the app, waits until another device of theirs has approved it, and signs in.
    ///
    /// A device that waits already, such as one whose prompt was closed, goes on waiting. Of calls at the same time each
    /// begins when the one before is over: it would else enroll a further device, which waits for the first one.
    func trust(_ userID: String, over place: UIViewController?) async throws -> Grant {
        let before = registering
        let registration = Task { () async throws -> Grant in
            await before?.value
            return try await register(userID, over: place)
        }
        registering = Task { _ = await registration.result }
        return try await registration.value
    }

    private func register(_ userID: String, over place: UIViewController?) async throws -> Grant {
        await ending?.value
        let known = try await waiting(userID)
        let (parts, place) = (try await parts(), try Stage.place(place))
        var enrollment: Enrollment
        var prompt: FurtherDeviceModel?
        if let known {
            (enrollment, prompt) = (known.enrollment, known.prompt)
        } else {
            enrollment = try await parts.authenticator.enroll(with: try await authority(for: userID, over: place))
            newest = enrollment
            prompt = FurtherDeviceModel(enrollment, clock: settings.promptClock)
        }
        if prompt != nil, let earlier = try await earlier(than: enrollment, of: userID) {
            (enrollment, prompt) = (earlier, nil)
        }
        try await note(enrollment, for: userID)
        if let prompt {
            await Stage.show(prompt, over: place, look)
            switch prompt.state {
            case .active: break
            case .refused, .undone: throw CountersignError.notEnrolled
            case .waiting, .confirmingUndo, .undoing, .notUndone: throw CountersignError.enrollmentWaiting
            }
        }
        return try await signIn(by: enrollment)
    }

    /// A device that waits to be approved for a user of the app, and its prompt; nil if it has not begun, or is removed.
    ///
    /// - Throws: that it does not wait any more.
    private func waiting(_ userID: String) async throws -> (enrollment: Enrollment, prompt: FurtherDeviceModel)? {
        guard var enrollment = try await enrollment(of: userID) else { return nil }
        // Only what was made since the app has begun has its number.
        if let newest, newest.id == enrollment.id { enrollment = newest }
        do throws(CountersignError) {
            if let prompt = try await FurtherDeviceModel.waiting(enrollment, clock: settings.promptClock) {
                return (enrollment, prompt)
            }
        } catch {
            switch error {
            case .deviceDeregistered: return nil
            case .enrollmentUnknown:
                try await enrollment.removeLocally()
                return nil
            default: break
            }
        }
        throw CotterError.trustedDevice("This device is already registered as a trusted device.")
    }

    /// What entitles this device to enroll: a ticket of the app's server, or a sign-in on the page.
    private func authority(for userID: String, over place: UIViewController) async throws -> EnrollmentAuthority {
        if let ticket = settings.ticket { return .ticket(try await ticket(userID)) }
        let enroller = try await parts().enroller
        _ = try await enroller.authorize(
            in: try browser(over: place), SignInRequest(loginHint: settings.signInName(userID)))
        return .accessToken(try await enroller.accessToken())
    }

    /// Signs a person in on the server's page.
    func authorize(_ address: String, over place: UIViewController) async throws -> Grant {
        await ending?.value
        let request = SignInRequest(loginHint: address.isEmpty ? nil : address)
        return try await took(try await parts().client.authorize(in: try browser(over: place), request))
    }

    private func browser(over place: UIViewController) throws(CountersignError) -> any BrowserSession {
        guard let browser = Stage.browser(over: place, settings) else {
            throw .configurationInvalid("there is no browser: set Cotter.settings.browser")
        }
        return browser
    }

    /// Shows the newest question that waits for a user of the app on this device, until it is off the screen.
    ///
    /// - Parameters:
    ///   - userID: the user.
    ///   - place: over what it is shown.
    ///   - isWanted: which questions count.
    /// - Returns: whether there was one.
    func answer(
        _ userID: String, over place: UIViewController?, where isWanted: (PendingChallenge) -> Bool = { _ in true }
    ) async throws -> Bool {
        let enrollment = try await trusted(userID)
        guard let pending = try await enrollment.pendingChallenges().first(where: isWanted) else { return false }
        try await show(pending, userID, over: place)
        return true
    }

    /// Shows the newest question that waits on this device, for whomever.
    func answerAny() async throws {
        guard let pending = try await parts().authenticator.pendingChallenges().first else { return }
        try await show(pending, nil, over: nil)
    }

    private func show(_ pending: PendingChallenge, _ account: String?, over place: UIViewController?) async throws {
        let question = PendingQuestion(pending, of: try await parts().authenticator)
        let model = ApprovePromptModel(
            question, account: account, biometricPrompt: settings.biometricPrompt, clock: settings.promptClock)
        await Stage.show(model, over: try Stage.place(place), look)
    }

    /// Shows the question whether a further device of the user may be added.
    func admitDevice(_ userID: String, over place: UIViewController?) async throws {
        guard try await answer(userID, over: place, where: { $0.type == "\(TypeName.newDevice)" }) else {
            throw CotterError.trustedDevice("No new device waits. Register it there first, then try again here.")
        }
    }

    /// Removes this device of a user of the app, here and at the server.
    func removeDevice(_ userID: String) async throws {
        let enrollment = try await trusted(userID)
        do throws(CountersignError) {
            try await enrollment.remove()
        } catch {
            // For the server it is gone.
            guard case .enrollmentUnknown = error else { throw error }
            try await enrollment.removeLocally()
        }
    }

    private func trusted(_ userID: String) async throws -> Enrollment {
        guard let enrollment = try await enrollment(of: userID) else { throw CountersignError.notEnrolled }
        return enrollment
    }
}

/// A sign-in by another device, and why it has failed.
private actor ElsewhereAttempt: ElsewhereSignIn {
    /// Why nobody was signed in; nil if somebody was, or it was given up.
    private(set) var failure: CountersignError?
    private let sdk: SDKElsewhereSignIn

    init(_ sdk: SDKElsewhereSignIn) {
        self.sdk = sdk
    }

    func signIn(
        showing show: @escaping @Sendable (WaitingNumber) async -> Void
    ) async throws(CountersignError) {
        do throws(CountersignError) {
            try await sdk.signIn(showing: show)
        } catch {
            if case .cancelled = error { throw error }
            failure = error
            throw error
        }
    }
}

extension CountersignError {
    /// Whether it says that this device is none of the user's, or not yet one.
    fileprivate var isOfUntrustedDevice: Bool {
        switch self {
        case .deviceDeregistered, .enrollmentUnknown, .enrollmentWaiting, .notEnrolled: true
        default: false
        }
    }
}
