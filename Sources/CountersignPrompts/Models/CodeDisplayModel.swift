import Countersign
public import Observation

/// A device shows a code that another one scans.
@MainActor
@Observable
public final class CodeDisplayModel {
    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// A code is made.
        case loading
        /// The code.
        case showing(ShownCode)
        /// The code is no longer good.
        case expired
        /// No code could be made.
        case unreachable(PromptFailure)
        /// The code was scanned.
        case scanned
        /// The person has given up.
        case cancelled
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// How long the code is good; nil without one.
    public private(set) var timeLeft: Duration?

    private let source: any CodeSource
    private let clock: any PromptClock
    private let renewals: Int
    @ObservationIgnored private var countdown: Countdown?
    @ObservationIgnored private var renewed = 0
    @ObservationIgnored private var isLoading = false

    /// The display of codes.
    ///
    /// - Parameters:
    ///   - source: makes codes.
    ///   - renewals: how often the code renews itself before a person must ask for another.
    ///   - clock: counts down.
    public init(_ source: any CodeSource, renewals: Int = 4, clock: any PromptClock = SystemPromptClock()) {
        self.source = source
        self.renewals = renewals
        self.clock = clock
    }

    /// Shows codes until one was scanned, the person gives up, or the task is cancelled.
    public func run() async {
        await load()
        while state != .scanned, state != .cancelled {
            do { try await clock.sleep(for: min(.seconds(1), timeLeft ?? .seconds(1))) } catch { return }
            await tick()
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .renew, .retry: await renew()
        case .cancel, .close: cancel()
        default: break
        }
    }

    /// Makes a new code, after the one before is no longer good or could not be made.
    public func renew() async {
        switch state {
        case .expired, .unreachable:
            renewed = 0
            await load()
        default: return
        }
    }

    /// Says that the code was scanned.
    public func takeScan() {
        switch state {
        case .loading, .showing, .expired, .unreachable: end(as: .scanned)
        case .scanned, .cancelled: return
        }
    }

    /// Gives up.
    public func cancel() {
        switch state {
        case .loading, .showing, .expired, .unreachable: end(as: .cancelled)
        case .scanned, .cancelled: return
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(left: timeLeft, renewsItself: renewed < renewals, texts)
    }

    /// Looks at the clock.
    func tick() async {
        guard case .showing = state, let countdown else { return }
        timeLeft = countdown.left(at: clock.now)
        guard timeLeft == .zero else { return }
        guard renewed < renewals else {
            end(as: .expired)
            return
        }
        renewed += 1
        await load()
    }

    private func end(as next: State) {
        countdown = nil
        timeLeft = nil
        state = next
    }

    private func load() async {
        guard !isLoading else { return }
        isLoading = true
        defer { isLoading = false }
        end(as: .loading)
        do throws(CountersignError) {
            let code = try await source.makeCode()
            guard state == .loading else { return }
            countdown = Countdown(code.timeLeft, from: clock.now)
            timeLeft = code.timeLeft
            state = .showing(code)
        } catch {
            guard state == .loading else { return }
            state = .unreachable(PromptFailure(error))
        }
    }
}

extension CodeDisplayModel.State {
    /// The screen of a state.
    func screen(left: Duration?, renewsItself: Bool, _ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch self {
        case .loading: screen = texts.screen(.loadingHeading)
        case .showing(let code):
            screen = texts.screen(.showCodeHeading, .showCodeText)
            screen.scannable = code.text
            if renewsItself { screen.paragraphs.append(texts.text(.codeRenews)) }
            screen.timeLeft = left.map { texts.left($0) }
        case .expired:
            screen = texts.screen(.codeGoneHeading)
            screen.buttons = [texts.button(.renew, .showNewCode, role: .main)]
        case .unreachable(let failure): return texts.screen(failure)
        case .scanned:
            screen = texts.screen(.scannedHeading, .scannedText)
            screen.buttons = [texts.button(.close, .close)]
            return screen
        case .cancelled: return texts.screen(.scanCancelledHeading)
        }
        screen.buttons.append(texts.button(.cancel, .cancel))
        return screen
    }
}
