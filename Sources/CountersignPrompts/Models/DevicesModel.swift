public import Countersign
import CountersignWire
public import Observation

/// The trusted devices of a person: this one and the others.
@MainActor
@Observable
public final class DevicesModel {
    /// What is done to a device.
    public enum Deed: Hashable, Sendable {
        /// It can do nothing until it is resumed.
        case suspend
        /// It can approve again.
        case resume
        /// It is removed for ever.
        case remove
        /// A device that still waits is removed.
        case undo
        /// A method that does not count yet is undone.
        case undoMethod(DeviceRow.WaitingMethod)
    }

    /// A deed and its device.
    public struct Action: Hashable, Sendable {
        /// What is done.
        public let deed: Deed
        /// To which device.
        public let device: DeviceRow

        /// An action of these parts.
        public init(_ deed: Deed, _ device: DeviceRow) {
            self.deed = deed
            self.device = device
        }
    }

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The list is fetched.
        case loading
        /// It could not be fetched, and this can be tried again.
        case unreachable(PromptFailure)
        /// This device may not see it, for this reason.
        case failed(PromptFailure)
        /// The devices; with what was just done.
        case list(DeviceList, done: Action?)
        /// Whether it is to be done.
        case confirming(Action)
        /// The PIN is typed, by which this device proves the action.
        case typingPIN(Action, ApprovePromptModel.PINProblem?)
        /// The biometric proved nothing.
        case biometricFailed(Action, BiometricFailure)
        /// The PIN of this device is locked.
        case pinLocked(Action)
        /// It is done.
        case acting(Action)
        /// It could not be done.
        case notDone(Action, PromptFailure)
        /// The device was gone already, or what waited there.
        case gone(Action)
        /// This device is removed.
        case thisOneRemoved
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// The digits of the PIN that were typed; they are forgotten as soon as they are used.
    public private(set) var pin = ""

    private let directory: any DeviceDirectory
    private let biometricPrompt: String
    private let clock: any PromptClock
    @ObservationIgnored private var list = DeviceList(rows: [])
    @ObservationIgnored private var isLoading = false
    @ObservationIgnored private var askedAt = Duration.zero

    /// The list of devices.
    ///
    /// - Parameters:
    ///   - directory: lists devices and acts on them.
    ///   - biometricPrompt: the text of the system's prompt for a fingerprint or a face.
    ///   - clock: tells how long a question is on the screen.
    public init(
        _ directory: any DeviceDirectory, biometricPrompt: String, clock: any PromptClock = SystemPromptClock()
    ) {
        self.directory = directory
        self.biometricPrompt = biometricPrompt
        self.clock = clock
    }

    /// Fetches the list, or fetches it again.
    public func load() async {
        switch state {
        case .loading, .unreachable, .list, .gone: await fetch(done: nil)
        default: return
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .suspend(let id): await begin(.suspend, id)
        case .resume(let id): await begin(.resume, id)
        case .remove(let id): await begin(.remove, id)
        case .undo(let id?): await begin(.undo, id)
        case .undoMethod(let name, of: let id): await beginUndoing(name, id)
        case .goOn: await confirm()
        case .submit: await submit()
        case .use(let method): await use(method)
        case .retry: await retry()
        case .back, .close: await back()
        default: break
        }
    }

    /// Takes the PIN as it is typed; nothing but its digits.
    public func type(pin text: String) {
        guard case .typingPIN = state else { return }
        pin = ApprovePromptModel.digits(in: text, atMost: 32)
    }

    /// Does what the person was asked about, who has had the time to read it.
    public func confirm() async {
        guard case .confirming(let action) = state, clock.now - askedAt >= ApprovePromptModel.readingTime else {
            return
        }
        await prove(action)
    }

    /// Proves the action by the PIN that was typed.
    public func submit() async {
        guard case .typingPIN(let action, _) = state else { return }
        let typed = pin
        pin = ""
        guard let read = try? PIN(typed) else {
            state = .typingPIN(action, .malformed)
            return
        }
        await act(action, with: .pin(read))
    }

    /// Proves the action by another method.
    public func use(_ method: PromptMethod) async {
        guard list.proofs.contains(method) else { return }
        switch state {
        case .typingPIN(let action, _), .biometricFailed(let action, _), .pinLocked(let action):
            await prove(action, by: method)
        default: return
        }
    }

    /// Fetches the list, or does it, again.
    public func retry() async {
        switch state {
        case .unreachable: await fetch(done: nil)
        case .notDone(let action, let failure) where failure.retryHelps: await prove(action)
        default: return
        }
    }

    /// Goes back to the list; nothing is done.
    public func back() async {
        switch state {
        case .confirming, .typingPIN, .biometricFailed, .pinLocked, .notDone:
            pin = ""
            state = .list(list, done: nil)
        case .gone: await fetch(done: nil)
        default: return
        }
    }

    /// Forgets the PIN.
    public func leave() { pin = "" }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(proofs: list.proofs, texts)
    }
}

extension DevicesModel {
    private func fetch(done: Action?) async {
        guard !isLoading else { return }
        isLoading = true
        defer { isLoading = false }
        state = .loading
        do throws(CountersignError) {
            list = try await directory.devices()
            state = .list(list, done: done)
        } catch {
            let failure = PromptFailure(error)
            state = failure.retryHelps ? .unreachable(failure) : .failed(failure)
        }
    }

    private func device(_ id: String) -> DeviceRow? {
        guard case .list(let list, _) = state else { return nil }
        return list.rows.first { $0.id == id }
    }

    private func begin(_ deed: Deed, _ id: String) async {
        guard let device = device(id), device.allows(deed) else { return }
        let action = Action(deed, device)
        switch deed {
        case .suspend, .remove, .undo:
            askedAt = clock.now
            state = .confirming(action)
        case .resume, .undoMethod: await prove(action)
        }
    }

    private func beginUndoing(_ name: String, _ id: String) async {
        guard let method = device(id)?.waitingMethods.first(where: { $0.name == name }) else { return }
        await begin(.undoMethod(method), id)
    }

    /// Asks for the proof that the action needs, or acts at once.
    private func prove(_ action: Action, by method: PromptMethod? = nil) async {
        pin = ""
        guard action.needsProof, let method = method ?? list.proofs.first else {
            await act(action, with: nil)
            return
        }
        switch method {
        case .pin: state = .typingPIN(action, nil)
        case .biometric: await act(action, with: .biometric(prompt: biometricPrompt))
        case .confirmation, .custom: await act(action, with: nil)
        }
    }

    private func act(_ action: Action, with proof: Proof?) async {
        pin = ""
        state = .acting(action)
        let id = action.device.id
        do throws(CountersignError) {
            switch action.deed {
            case .suspend: try await directory.suspend(id, with: proof)
            case .resume: try await directory.resume(id, with: proof)
            case .remove, .undo: try await directory.remove(id, with: proof)
            case .undoMethod(let method): try await directory.undo(method.name, of: id)
            }
        } catch {
            state = stateAfter(error, action)
            return
        }
        if action.device.isThisOne, action.deed == .remove {
            state = .thisOneRemoved
        } else {
            await fetch(done: action)
        }
    }

    private func stateAfter(_ error: CountersignError, _ action: Action) -> State {
        switch error {
        case .pinIncorrect(let attemptsLeft) where attemptsLeft > 0:
            return .typingPIN(action, .wrong(attemptsLeft: attemptsLeft))
        case .pinIncorrect, .pinLocked: return .pinLocked(action)
        case .pinRequired: return .typingPIN(action, nil)
        case .biometric(.fallback) where list.proofs.contains(.pin): return .typingPIN(action, nil)
        case .biometric(let failure): return .biometricFailed(action, failure)
        case .deviceDeregistered, .notEnrolled: return .thisOneRemoved
        case .server(let problem) where problem.status == 404: return .gone(action)
        default: return .notDone(action, PromptFailure(error))
        }
    }
}

extension DevicesModel.Action {
    /// Whether a method of this device must prove it, if the person has one.
    fileprivate var needsProof: Bool {
        switch deed {
        case .suspend, .resume: true
        case .remove: !device.isThisOne
        // What still waits is taken back without a proof.
        case .undo, .undoMethod: false
        }
    }
}

extension DeviceRow {
    /// Whether something can be done to it as it stands.
    func allows(_ deed: DevicesModel.Deed) -> Bool {
        switch (deed, standing) {
        case (.suspend, .active), (.resume, .suspended), (.undo, .waiting): !isThisOne
        case (.remove, .waiting): isThisOne
        case (.remove, _): true
        case (.undoMethod(let method), _): !isThisOne && waitingMethods.contains(method)
        case (.suspend, _), (.resume, _), (.undo, _): false
        }
    }
}
