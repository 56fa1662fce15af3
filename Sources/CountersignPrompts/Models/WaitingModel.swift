import Countersign
import Foundation
public import Observation

/// The screen of an untrusted device while its person signs in by a trusted one.
///
/// It waits for a minute at most where a device is asked. What went wrong closes itself after three seconds.
@MainActor
@Observable
public final class WaitingModel {
    /// How long it waits at most where a device is asked.
    public nonisolated static let longest = Duration.seconds(60)
    /// After how long the screen of a failure closes itself.
    public nonisolated static let closing = Duration.seconds(3)

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The device is asked.
        case starting
        /// The number, or the code and the page.
        case showing(WaitingNumber)
        /// Somebody is signed in.
        case signedIn
        /// It was declined on the trusted device.
        case declined
        /// Nobody approved it in time.
        case expired
        /// It failed.
        case failed(PromptFailure)
        /// The person here has given up.
        case cancelled
        /// The screen is to be closed.
        case closed

        /// Whether the sign-in goes on.
        var isWaiting: Bool {
            switch self {
            case .starting, .showing: true
            case .signedIn, .declined, .expired, .failed, .cancelled, .closed: false
            }
        }
    }

    /// What the person sees.
    public private(set) var state = State.starting
    /// How long the person has; nil until there is a number or a code.
    public private(set) var timeLeft: Duration?
    /// What a screen reader says of the time that is left.
    public private(set) var announcement: PromptWord?

    private let signIn: any ElsewhereSignIn
    private let clock: any PromptClock
    private let givingUp: AsyncStream<Void>
    private let giveUp: AsyncStream<Void>.Continuation
    @ObservationIgnored private var countdown: Countdown?
    @ObservationIgnored private var hasRun = false

    /// The screen of a sign-in.
    public init(_ signIn: any ElsewhereSignIn, clock: any PromptClock = SystemPromptClock()) {
        self.signIn = signIn
        self.clock = clock
        (givingUp, giveUp) = AsyncStream.makeStream(of: Void.self)
    }

    /// Signs in, once, and returns when the screen is to be closed, or when somebody is signed in.
    ///
    /// A view runs it in its task; if that is cancelled, the sign-in is taken back.
    public func run() async {
        guard !hasRun, state == .starting else { return }
        hasRun = true
        let end = await withTaskGroup(of: State.self) { group in
            group.addTask { await self.signedIn() }
            group.addTask { await self.countDown() }
            group.addTask { await self.given() }
            var end = await group.next() ?? .cancelled
            group.cancelAll()
            // Taking it back may take some seconds, in which nobody must wait.
            state = end
            // Who was signed in while this gave up is signed in.
            for await other in group where other == .signedIn { end = other }
            return end
        }
        // Whoever has closed the screen meanwhile sees nothing more, unless somebody is signed in.
        guard state != .closed || end == .signedIn else { return }
        state = end
        switch end {
        case .declined, .expired, .failed:
            try? await clock.sleep(for: Self.closing)
            close()
        case .cancelled: close()
        case .starting, .showing, .signedIn, .closed: break
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) {
        switch act {
        case .cancel: cancel()
        case .close: close()
        default: break
        }
    }

    /// Gives up: the sign-in is taken back.
    public func cancel() {
        guard state.isWaiting else { return }
        giveUp.yield()
        if !hasRun { state = .closed }
    }

    /// Closes the screen of something that has ended.
    public func close() {
        switch state {
        case .declined, .expired, .failed, .cancelled: state = .closed
        case .starting, .showing, .signedIn, .closed: return
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(left: timeLeft, texts)
    }
}

extension WaitingModel {
    private func signedIn() async -> State {
        do throws(CountersignError) {
            try await signIn.signIn { await self.show($0) }
            return .signedIn
        } catch {
            return switch error {
            case .signInRefused(.declined): .declined
            case .signInRefused(.expired): .expired
            case .cancelled: .cancelled
            default: .failed(PromptFailure(error))
            }
        }
    }

    private func show(_ number: WaitingNumber) {
        guard case .starting = state else { return }
        let length = number.number == nil ? number.timeLeft : min(number.timeLeft, Self.longest)
        countdown = Countdown(length, from: clock.now)
        timeLeft = length
        state = .showing(number)
    }

    /// Counts down, and ends when the time is over; or when it is cancelled.
    private func countDown() async -> State {
        while timeLeft != .zero {
            do { try await clock.sleep(for: min(.seconds(1), timeLeft ?? .seconds(1))) } catch { return .cancelled }
            guard var counted = countdown else { continue }
            timeLeft = counted.left(at: clock.now)
            if let word = counted.announcement(at: clock.now) { announcement = word }
            countdown = counted
        }
        return .expired
    }

    /// Ends when the person gives up; or when it is cancelled.
    private func given() async -> State {
        for await _ in givingUp { break }
        return .cancelled
    }
}

extension WaitingModel.State {
    /// The screen of a state.
    func screen(left: Duration?, _ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch self {
        case .starting: screen = texts.screen(.loadingHeading, .waitingStartText)
        case .showing(let shown):
            if let number = shown.number {
                screen = texts.screen(.waitingNumberHeading, .waitingNumberText)
                screen.code = PromptCode(number: number)
            } else {
                screen = texts.screen(.waitingCodeHeading)
                screen.paragraphs = [texts.text(.waitingCodeText, ["page": shown.page.absoluteString])]
                screen.code = PromptCode(code: shown.userCode)
                screen.scannable = shown.pageWithCode?.absoluteString
            }
            screen.timeLeft = left.map { texts.left($0) }
        case .signedIn, .closed: screen = texts.screen(.signedInHeading)
        case .declined: screen = texts.screen(.waitingDeclinedHeading, .nobodySignedIn)
        case .expired: screen = texts.screen(.expiredHeading, .nobodySignedIn)
        case .failed(let failure): screen = texts.screen(.signInFailedHeading, failure.word, values: failure.values)
        case .cancelled: screen = texts.screen(.signInCancelledHeading, .nobodySignedIn)
        }
        switch self {
        case .starting, .showing: screen.buttons = [texts.button(.cancel, .cancelSignIn)]
        case .declined, .expired, .failed, .cancelled: screen.buttons = [texts.button(.close, .close)]
        case .signedIn, .closed: break
        }
        return screen
    }
}
