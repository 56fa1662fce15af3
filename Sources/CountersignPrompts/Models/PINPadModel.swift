import Countersign
public import Observation

/// A person chooses a PIN, or changes the one there is.
@MainActor
@Observable
public final class PINPadModel {
    /// What is wrong with what was typed.
    public enum Problem: Hashable, Sendable {
        /// It is no PIN at all.
        case malformed
        /// It is not the PIN there is; so many attempts are left.
        case wrong(attemptsLeft: Int)
        /// It breaks this rule.
        case breaks(PINRules.Breach)
        /// It is not what was typed before.
        case mismatch
    }

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The rules are fetched.
        case loading
        /// They could not be fetched, and this can be tried again.
        case unreachable(PromptFailure)
        /// The PIN there is is typed.
        case typingOld(Problem?)
        /// A new PIN is chosen.
        case choosing(Problem?)
        /// The new PIN is repeated.
        case repeating
        /// It is set.
        case saving
        /// It could not be set, and this can be tried again.
        case unsaved(PromptFailure)
        /// It is set.
        case done
        /// The PIN there is is locked.
        case locked
        /// The enrollment is too old to set its first PIN by itself.
        case authorityNeeded
        /// The device can change nothing, for this reason.
        case refused(PromptFailure)
        /// The person has given up.
        case cancelled

        /// Whether something is typed.
        var isTyping: Bool {
            switch self {
            case .typingOld, .choosing, .repeating: true
            case .loading, .unreachable, .saving, .unsaved, .done, .locked, .authorityNeeded, .refused, .cancelled:
                false
            }
        }
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// The digits that were typed; they are forgotten as soon as they are used.
    public private(set) var typed = ""
    /// The rules; those of a server without rules until they are fetched.
    public private(set) var rules = PINRules.standard

    private let keeper: any PINKeeper
    @ObservationIgnored private var isLoading = false
    @ObservationIgnored private var old: String?
    @ObservationIgnored private var chosen: String?
    @ObservationIgnored private var isChange = false
    /// Whether the person has left while the PIN was being set.
    @ObservationIgnored private var isLeft = false

    /// A pad for a PIN: it is changed if there is one.
    public init(_ keeper: any PINKeeper) {
        self.keeper = keeper
    }

    /// Fetches the rules, or fetches them again after a failure.
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
            let status = try await keeper.status()
            guard state == .loading else { return }
            rules = status.rules
            switch status.kind {
            case .none: state = .choosing(nil)
            case .set:
                isChange = true
                state = .typingOld(nil)
            case .locked: state = .locked
            }
        } catch {
            guard state == .loading else { return }
            state = Self.failed(error) { .unreachable($0) }
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .submit: await submit()
        case .retry: await retry()
        case .back: back()
        case .cancel, .close: cancel()
        default: break
        }
    }

    /// Takes what is typed; nothing but its digits.
    public func type(_ text: String) {
        guard state.isTyping else { return }
        typed = ApprovePromptModel.digits(in: text, atMost: rules.length.upperBound)
    }

    /// Takes what was typed.
    public func submit() async {
        let digits = typed
        switch state {
        case .typingOld:
            typed = ""
            guard (try? PIN(digits)) != nil else {
                state = .typingOld(.malformed)
                return
            }
            old = digits
            // After a wrong PIN the new one need not be chosen again.
            if chosen == nil { state = .choosing(nil) } else { await save() }
        case .choosing:
            typed = ""
            if let breach = rules.breach(of: digits) {
                state = .choosing(.breaks(breach))
                return
            }
            chosen = digits
            state = .repeating
        case .repeating:
            // The second tap on the button before.
            guard !digits.isEmpty else { return }
            typed = ""
            guard digits == chosen else {
                chosen = nil
                state = .choosing(.mismatch)
                return
            }
            await save()
        default: return
        }
    }

    /// Fetches the rules, or sets the PIN, again.
    public func retry() async {
        switch state {
        case .unreachable: await load()
        case .unsaved: await save()
        default: return
        }
    }

    /// Goes back from repeating to choosing.
    public func back() {
        guard case .repeating = state else { return }
        typed = ""
        chosen = nil
        state = .choosing(nil)
    }

    /// Gives up, and forgets everything that was typed.
    public func cancel() {
        switch state {
        case .saving, .done, .cancelled: return
        default: break
        }
        forget()
        state = .cancelled
    }

    /// Forgets everything that was typed, also for a change that could not be sent, or that is being sent and fails: it
    /// begins anew.
    public func leave() {
        switch state {
        case .typingOld, .choosing, .repeating, .unsaved:
            forget()
            state = .loading
        case .saving: isLeft = true
        default: return
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(isChange: isChange, rules, texts)
    }
}

extension PINPadModel {
    private func forget() {
        typed = ""
        old = nil
        chosen = nil
    }

    private func save() async {
        guard let chosen else { return }
        isLeft = false
        state = .saving
        do throws(CountersignError) {
            let pin = try PIN(chosen)
            if isChange {
                try await keeper.change(from: try PIN(old ?? ""), to: pin)
            } else {
                try await keeper.set(pin)
            }
            forget()
            state = .done
        } catch {
            state = stateAfter(error)
            if isLeft { leave() }
        }
    }

    private func stateAfter(_ error: CountersignError) -> State {
        switch error {
        case .pinIncorrect(let attemptsLeft) where attemptsLeft > 0:
            old = nil
            return .typingOld(.wrong(attemptsLeft: attemptsLeft))
        case .pinIncorrect, .pinLocked:
            forget()
            return .locked
        case .pinPolicy:
            let breach = chosen.flatMap { rules.breach(of: $0) }
            chosen = nil
            return .choosing(.breaks(breach ?? .common))
        case .pinAlreadySet, .pinRequired:
            // Another call has set one meanwhile.
            isChange = true
            return .typingOld(nil)
        case .authorityNeeded:
            forget()
            return .authorityNeeded
        default:
            let next = Self.failed(error) { .unsaved($0) }
            if case .refused = next { forget() }
            return next
        }
    }

    /// The state after a failure: one that can be tried again, or a refusal.
    private static func failed(_ error: CountersignError, _ again: (PromptFailure) -> State) -> State {
        let failure = PromptFailure(error)
        return failure.retryHelps ? again(failure) : .refused(failure)
    }
}

extension PINPadModel.Problem {
    fileprivate func text(_ texts: PromptTexts) -> String {
        switch self {
        case .malformed: texts.text(.pinMalformed)
        case .wrong(let attemptsLeft): texts.text(.pinWrong, orOnce: .pinWrongOnce, count: attemptsLeft)
        case .breaks(let breach): breach.text(texts)
        case .mismatch: texts.text(.pinMismatch)
        }
    }
}

extension PINPadModel.State {
    /// The screen of a state.
    func screen(isChange: Bool, _ rules: PINRules, _ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch self {
        case .loading: screen = texts.screen(.loadingHeading)
        case .unreachable(let failure): return texts.screen(failure)
        case .typingOld(let problem):
            screen = texts.screen(.oldPINHeading)
            screen.field = PromptField(kind: .pin, label: texts.text(.pinLabel), problem: problem?.text(texts))
            screen.buttons = [texts.button(.submit, .continueButton, role: .main), texts.button(.cancel, .cancel)]
        case .choosing(let problem):
            screen = texts.screen(isChange ? .newPINHeading : .choosePINHeading)
            screen.paragraphs = rules.paragraphs(texts)
            screen.field = PromptField(
                kind: .newPIN(rules.length), label: texts.text(.newPINLabel), problem: problem?.text(texts))
            screen.buttons = [texts.button(.submit, .continueButton, role: .main), texts.button(.cancel, .cancel)]
        case .repeating:
            screen = texts.screen(.repeatPINHeading)
            screen.field = PromptField(kind: .newPIN(rules.length), label: texts.text(.newPINLabel))
            screen.buttons = [
                texts.button(.submit, .setPIN, role: .main), texts.button(.back, .back),
                texts.button(.cancel, .cancel),
            ]
        case .saving: screen = texts.screen(.savingPINHeading)
        case .unsaved(let failure): return texts.screen(failure, heading: .unsavedPINHeading)
        case .done: screen = texts.screen(isChange ? .pinChangedHeading : .pinSetHeading)
        case .locked: screen = texts.screen(.pinLockedHeading, .pinLockedText)
        case .authorityNeeded: screen = texts.screen(.authorityHeading, .authorityText)
        case .refused(let failure): return texts.screen(failure, heading: .unsavedPINHeading)
        case .cancelled: screen = texts.screen(.pinUnchangedHeading)
        }
        switch self {
        case .done, .locked, .authorityNeeded, .cancelled: screen.buttons = [texts.button(.close, .close)]
        default: break
        }
        return screen
    }
}

extension PINRules {
    /// The rules, a sentence for each.
    fileprivate func paragraphs(_ texts: PromptTexts) -> [String] {
        var rules: [String] = [Breach.length(length).text(texts)]
        if maximumRepeats < length.upperBound { rules.append(Breach.repeats(maximumRepeats).text(texts)) }
        if !allowsSequences { rules.append(Breach.sequence.text(texts)) }
        return rules
    }
}
