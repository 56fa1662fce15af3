import Countersign
public import Observation

/// A further device of a person, which waits until a device that they have approves it.
///
/// On the device that they have this is an ordinary question, with a number to type: ``ApprovePromptModel``. There it is
/// also in the list of devices, where it can be undone: ``DevicesModel``.
@MainActor
@Observable
public final class FurtherDeviceModel {
    /// How often it is asked whether the device was approved.
    public nonisolated static let pace = Duration.seconds(3)

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The number to type on the device that they have; nil if no device of theirs could type it.
        case waiting(number: String?)
        /// Whether the device is to be undone.
        case confirmingUndo
        /// It is undone.
        case undoing
        /// It could not be undone.
        case notUndone(PromptFailure)
        /// The device can approve.
        case active
        /// The device was refused or removed.
        case refused
        /// The person has undone it.
        case undone

        /// Whether nothing is left to wait for.
        var isOver: Bool {
            switch self {
            case .active, .refused, .undone: true
            case .waiting, .confirmingUndo, .undoing, .notUndone: false
            }
        }
    }

    /// What the person sees.
    public private(set) var state: State
    /// Why it could not be asked whether the device was approved; nil once it could again.
    public private(set) var trouble: PromptFailure?
    /// When the device becomes active unless somebody refuses it, in milliseconds since 1970.
    public private(set) var activeFrom: Int64

    private let device: any WaitingDevice
    private let number: String?
    private let clock: any PromptClock
    @ObservationIgnored private var askedAt = Duration.zero

    /// The screen of a device that waits.
    ///
    /// - Parameters:
    ///   - device: the device.
    ///   - number: the digits to type on the device that they have; nil if no device of theirs could type them, and
    ///     after the app was started anew: the server tells them once.
    ///   - activeFrom: when it becomes active unless somebody refuses it, in milliseconds since 1970.
    ///   - clock: paces the requests.
    public init(
        _ device: any WaitingDevice, number: String?, activeFrom: Int64, clock: any PromptClock = SystemPromptClock()
    ) {
        self.device = device
        self.number = number
        self.activeFrom = activeFrom
        self.clock = clock
        state = .waiting(number: number)
    }

    /// Asks again and again until the device is active or refused, or the task is cancelled.
    public func run() async {
        while !state.isOver {
            await look()
            if state.isOver { return }
            do { try await clock.sleep(for: Self.pace) } catch { return }
        }
    }

    /// Asks once whether the device was approved.
    public func look() async {
        guard !state.isOver, state != .undoing else { return }
        do throws(CountersignError) {
            let until = try await device.waitingUntil()
            guard !state.isOver, state != .undoing else { return }
            trouble = nil
            if let until { activeFrom = until } else { state = .active }
        } catch {
            guard !state.isOver, state != .undoing else { return }
            let failure = PromptFailure(error)
            if failure == .removed { state = .refused } else { trouble = failure }
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .undo: await undo()
        case .retry: await retry()
        case .back: back()
        default: break
        }
    }

    /// Asks whether the device is to be undone; and undoes it when the person says so, who has had the time to read the
    /// question.
    public func undo() async {
        switch state {
        case .waiting:
            askedAt = clock.now
            state = .confirmingUndo
        case .confirmingUndo where clock.now - askedAt >= ApprovePromptModel.readingTime: await remove()
        default: return
        }
    }

    /// Undoes it again, after that could not be done.
    public func retry() async {
        guard case .notUndone = state else { return }
        await remove()
    }

    /// Goes back to waiting.
    public func back() {
        switch state {
        case .confirmingUndo, .notUndone: state = .waiting(number: number)
        default: return
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(activeFrom: activeFrom, trouble: trouble, texts)
    }

    private func remove() async {
        state = .undoing
        do throws(CountersignError) {
            try await device.undo()
            state = .undone
        } catch {
            let failure = PromptFailure(error)
            state = failure == .removed ? .undone : .notUndone(failure)
        }
    }
}

extension FurtherDeviceModel.State {
    /// The screen of a state.
    func screen(activeFrom: Int64, trouble: PromptFailure?, _ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        let values = ["until": texts.moment(activeFrom)]
        switch self {
        case .waiting(let number?):
            screen = texts.screen(.furtherNumberHeading, .furtherNumberText, .furtherOrWait, values: values)
            screen.code = PromptCode(number: number)
        case .waiting(nil): screen = texts.screen(.furtherWaitHeading, .furtherOrWait, values: values)
        case .confirmingUndo:
            screen = texts.screen(.undoThisHeading, .undoThisText)
            screen.buttons = [texts.button(.undo(nil), .undo, role: .danger), texts.button(.back, .keepIt)]
            return screen
        case .undoing: return texts.screen(.undoingHeading)
        case .notUndone(let failure):
            screen = texts.screen(.notUndoneHeading, failure.word, values: failure.values)
            screen.buttons = [texts.button(.retry, .tryAgain, role: .main), texts.button(.back, .back)]
            return screen
        case .active: screen = texts.screen(.furtherActiveHeading, .furtherActiveText)
        case .refused: screen = texts.screen(.furtherRefusedHeading, .furtherRefusedText)
        case .undone: screen = texts.screen(.furtherUndoneHeading)
        }
        if isOver {
            screen.buttons = [texts.button(.close, .close)]
        } else {
            if let trouble { screen.paragraphs.append(texts.text(trouble.word, trouble.values)) }
            // It waits on while nobody looks.
            screen.buttons = [texts.button(.undo(nil), .undo, role: .danger), texts.button(.close, .close)]
        }
        return screen
    }
}
