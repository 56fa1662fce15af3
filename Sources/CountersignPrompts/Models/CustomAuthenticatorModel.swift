import Countersign
public import Observation

/// A person registers a custom authenticator of the app's, or gives it up.
@MainActor
@Observable
public final class CustomAuthenticatorModel {
    /// What the person wants.
    public enum Purpose: Hashable, Sendable {
        /// To register it, again if it is registered.
        case register
        /// To give it up.
        case deregister
    }

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// How it stands is fetched.
        case loading
        /// That could not be fetched, and this can be tried again.
        case unreachable(PromptFailure)
        /// The PIN is typed, without which nothing changes.
        case typingPIN(ApprovePromptModel.PINProblem?)
        /// What the authenticator judges is given.
        case giving(ApprovePromptModel.CustomProblem?)
        /// Whether it is to be given up.
        case confirmingRemoval
        /// The change is under way.
        case sending
        /// The change could not be delivered.
        case unsent(PromptFailure)
        /// It is registered; with its data for the app.
        case registered(payload: String?)
        /// It is given up.
        case deregistered
        /// The authenticator has refused; with its data for the app.
        case refused(payload: String?)
        /// There is none of this name, or it is not registered.
        case notThere
        /// The PIN is locked.
        case pinLocked
        /// The enrollment is too old to set its first method by itself.
        case authorityNeeded
        /// The device can change nothing, for this reason.
        case failed(PromptFailure)
        /// The person has given up.
        case cancelled

        /// Whether nothing is left to do but to close the screen.
        var isOver: Bool {
            switch self {
            case .registered, .deregistered, .refused, .notThere, .pinLocked, .authorityNeeded, .failed, .cancelled:
                true
            case .loading, .unreachable, .typingPIN, .giving, .confirmingRemoval, .sending, .unsent: false
            }
        }
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// What was typed or given; it is forgotten as soon as it is used.
    public private(set) var typed = ""
    /// The authenticator's name.
    public let name: String

    private let registrar: any CustomRegistrar
    private let purpose: Purpose
    @ObservationIgnored private var isLoading = false
    @ObservationIgnored private var needsPIN = false
    @ObservationIgnored private var pin: PIN?
    @ObservationIgnored private var data: String?
    /// Whether the person has left while the change was being sent.
    @ObservationIgnored private var isLeft = false

    /// The screens of a change.
    public init(_ registrar: any CustomRegistrar, _ purpose: Purpose) {
        self.registrar = registrar
        self.purpose = purpose
        name = registrar.name
    }

    /// Fetches how it stands, or fetches it again after a failure.
    public func load() async {
        // Whoever has come back sees what becomes of it.
        isLeft = false
        switch state {
        case .loading, .unreachable: break
        default: return
        }
        guard !isLoading else { return }
        isLoading = true
        defer { isLoading = false }
        state = .loading
        do throws(CountersignError) {
            let status = try await registrar.status()
            guard state == .loading else { return }
            needsPIN = status.needsPIN
            if purpose == .deregister {
                state = status.isRegistered ? .confirmingRemoval : .notThere
            } else {
                state = needsPIN ? .typingPIN(nil) : .giving(nil)
            }
        } catch {
            guard state == .loading else { return }
            let failure = PromptFailure(error)
            state = failure.retryHelps ? .unreachable(failure) : .failed(failure)
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .submit: await submit()
        case .deregister: await deregister()
        case .retry: await retry()
        case .cancel, .close: cancel()
        default: break
        }
    }

    /// Takes the PIN as it is typed, or what the authenticator judges; without any nothing is sent.
    public func type(_ text: String) {
        switch state {
        case .typingPIN: typed = ApprovePromptModel.digits(in: text, atMost: 32)
        case .giving: typed = text
        default: return
        }
    }

    /// Takes what was typed.
    public func submit() async {
        let text = typed
        switch state {
        case .typingPIN:
            typed = ""
            guard let read = try? PIN(text) else {
                state = .typingPIN(.malformed)
                return
            }
            pin = read
            if purpose == .deregister || data != nil { await send() } else { state = .giving(nil) }
        case .giving:
            // The second tap on the button before: it would use up a try, and the PIN with it.
            guard !text.isEmpty else { return }
            typed = ""
            data = text
            await send()
        default: return
        }
    }

    /// Gives it up, after the person was asked.
    public func deregister() async {
        guard case .confirmingRemoval = state else { return }
        if needsPIN { state = .typingPIN(nil) } else { await send() }
    }

    /// Fetches how it stands, or sends the change, again.
    public func retry() async {
        switch state {
        case .unreachable: await load()
        case .unsent: await send()
        default: return
        }
    }

    /// Gives up, and forgets everything that was typed.
    public func cancel() {
        guard !state.isOver, state != .sending else { return }
        forget()
        state = .cancelled
    }

    /// Forgets everything that was typed, also for a change that could not be sent, or that is being sent and fails: it
    /// begins anew.
    public func leave() {
        switch state {
        case .typingPIN, .giving, .unsent:
            forget()
            state = .loading
        case .sending: isLeft = true
        default: return
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(of: name, purpose, texts)
    }
}

extension CustomAuthenticatorModel {
    private func forget() {
        typed = ""
        pin = nil
        data = nil
    }

    private func send() async {
        isLeft = false
        state = .sending
        do throws(CountersignError) {
            switch purpose {
            case .register:
                let payload = try await registrar.register(data ?? "", pin: pin)
                state = .registered(payload: payload)
            case .deregister:
                try await registrar.deregister(pin: pin)
                state = .deregistered
            }
            forget()
        } catch {
            state = stateAfter(error)
            if state.isOver { forget() }
            if isLeft { leave() }
        }
    }

    private func stateAfter(_ error: CountersignError) -> State {
        switch error {
        case .pinIncorrect(let attemptsLeft) where attemptsLeft > 0:
            pin = nil
            return .typingPIN(.wrong(attemptsLeft: attemptsLeft))
        case .pinIncorrect, .pinLocked: return .pinLocked
        case .pinRequired:
            needsPIN = true
            return .typingPIN(nil)
        case .customRetry(let attemptsLeft, let payload):
            data = nil
            return .giving(.again(attemptsLeft: attemptsLeft, payload: payload))
        case .customUnavailable where purpose == .register:
            data = nil
            return .giving(.unavailable)
        case .customFailed(let payload): return .refused(payload: payload)
        case .customNotRegistered: return .notThere
        case .authorityNeeded: return .authorityNeeded
        default:
            let failure = PromptFailure(error)
            return failure.retryHelps ? .unsent(failure) : .failed(failure)
        }
    }
}

extension CustomAuthenticatorModel.State {
    /// The screen of a state.
    func screen(
        of name: String, _ purpose: CustomAuthenticatorModel.Purpose, _ texts: PromptTexts
    ) -> PromptScreen {
        let values = ["name": texts.name(of: name)]
        var screen: PromptScreen
        switch self {
        case .loading: screen = texts.screen(.loadingHeading)
        case .unreachable(let failure): return texts.screen(failure)
        case .typingPIN(let problem):
            screen = texts.screen(.pinHeading, .pinForChange)
            screen.field = PromptField(
                kind: .pin, label: texts.text(.pinLabel), problem: problem.map { $0.text(texts) })
            screen.buttons = [texts.button(.submit, .continueButton, role: .main)]
        case .giving(let problem):
            let request = CustomRequest(name, .register, after: problem)
            screen = texts.screen(.customRegisterHeading, values: values)
            screen.paragraphs = texts.said(request.payload)
            screen.field = PromptField(
                kind: .custom(request), label: texts.text(.customLabel, values),
                problem: problem.map { $0.text(texts, .register) })
            screen.buttons = [texts.button(.submit, .customRegister, role: .main)]
        case .confirmingRemoval:
            screen = texts.screen(.customRemoveHeading, .customRemoveText, values: values)
            screen.buttons = [texts.button(.deregister, .remove, role: .danger), texts.button(.cancel, .keepIt)]
            return screen
        case .sending: screen = texts.screen(.sendingHeading)
        case .unsent(let failure): return texts.screen(failure)
        case .registered(let payload): screen = texts.screen(.customRegisteredHeading, payload, values: values)
        case .deregistered: screen = texts.screen(.customRemovedHeading, values: values)
        case .refused(let payload): screen = texts.screen(.customRefusedHeading, payload, values: values)
        case .notThere: screen = texts.screen(.customNotThereHeading, values: values)
        case .pinLocked: screen = texts.screen(.pinLockedHeading, .pinLockedText)
        case .authorityNeeded: screen = texts.screen(.authorityHeading, .authorityText)
        case .failed(let failure): return texts.screen(failure)
        case .cancelled: screen = texts.screen(.nothingChangedHeading)
        }
        if isOver {
            screen.buttons = [texts.button(.close, .close)]
        } else if self != .sending {
            screen.buttons.append(texts.button(.cancel, .cancel))
        }
        return screen
    }
}

extension PromptTexts {
    /// A screen with a heading and what a custom authenticator says.
    fileprivate func screen(
        _ heading: PromptWord, _ payload: String?, values: [String: String]
    ) -> PromptScreen {
        var screen = PromptScreen(heading: text(heading, values))
        screen.paragraphs = said(payload)
        return screen
    }
}
