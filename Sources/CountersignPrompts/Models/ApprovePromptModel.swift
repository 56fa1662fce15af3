public import Countersign
public import Observation

/// One question to a person: from the moment it is fetched until it is answered or over.
///
/// A model is for one question. What is tapped while an answer is under way does nothing, and what is tapped in the
/// first moment of a question does nothing either: it was meant for the question before.
@MainActor
@Observable
public final class ApprovePromptModel {
    /// How long a question is on the screen before it can be answered: a second tap on the button of the question
    /// before must not answer this one.
    public nonisolated static let readingTime = Duration.milliseconds(800)

    /// What the person answers.
    public enum Decision: Hashable, Sendable {
        /// Yes.
        case approve
        /// No.
        case deny
        /// No, and somebody else started it.
        case report
    }

    /// What is wrong with a PIN that was typed.
    public enum PINProblem: Hashable, Sendable {
        /// It is no PIN at all: it has too few digits or too many.
        case malformed
        /// It is wrong; so many attempts are left.
        case wrong(attemptsLeft: Int)
    }

    /// What a custom authenticator wants.
    public enum CustomProblem: Hashable, Sendable {
        /// Another try; with how many are left, if they are limited, and its data for the app.
        case again(attemptsLeft: Int?, payload: String?)
        /// It cannot be asked now.
        case unavailable
    }

    /// Why a question is not shown.
    public enum Doubt: Hashable, Sendable {
        /// The server's key has not signed it.
        case forged
        /// It does not pass its checks, or this version of the app cannot show it.
        case unreadable
    }

    /// How a question ended without the person's answer.
    public enum Ending: Hashable, Sendable {
        /// Nobody answered in time.
        case expired
        /// Nobody knows: an approval was sent, no reply came in time, and it may have been taken.
        case unknown
        /// It was answered before, here or on another device.
        case answered
        /// The one who asked has taken it back.
        case cancelled
        /// The number was wrong.
        case wrongNumber
        /// It failed in another way.
        case failed
        /// There is no such question any more.
        case gone
        /// This device has none of the methods that it wants.
        case methodMissing
        /// This device can answer nothing, for this reason.
        case device(PromptFailure)
    }

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The question is fetched and verified.
        case loading
        /// It could not be fetched, and this can be tried again.
        case unreachable(PromptFailure)
        /// It is not shown.
        case unverified(Doubt)
        /// It came by a code or a link, and the person is asked whether they did that themselves.
        case checkingOrigin
        /// It is asked; with whether the number is not complete.
        case asking(isNumberMissing: Bool)
        /// The PIN is typed.
        case typingPIN(PINProblem?)
        /// The PIN was wrong too often; the person can still deny, or approve in another way.
        case pinLocked
        /// The biometric proved nothing.
        case biometricFailed(BiometricFailure)
        /// The custom authenticator of this name is asked.
        case custom(String, CustomProblem?)
        /// The custom authenticator of this name has refused, with its data for the app.
        case customRefused(String, payload: String?)
        /// The answer is under way.
        case sending(Decision)
        /// The answer could not be delivered.
        case unsent(Decision, PromptFailure)
        /// It is approved.
        case approved(PromptApproval)
        /// It is denied.
        case declined
        /// It is denied and reported.
        case reported
        /// It has ended otherwise.
        case ended(Ending)

        /// Whether nothing is left to do but to close the screen.
        public var isOver: Bool {
            switch self {
            case .unverified, .approved, .declined, .reported, .ended: true
            case .loading, .unreachable, .checkingOrigin, .asking, .typingPIN, .pinLocked, .biometricFailed, .custom,
                .customRefused, .sending, .unsent:
                false
            }
        }

        /// Whether nobody can answer it any more; otherwise it is over for this device as it is now.
        var isSettled: Bool {
            switch self {
            case .approved, .declined, .reported: true
            case .ended(.device), .ended(.methodMissing): false
            case .ended: true
            case .loading, .unreachable, .unverified, .checkingOrigin, .asking, .typingPIN, .pinLocked,
                .biometricFailed, .custom, .customRefused, .sending, .unsent:
                false
            }
        }

        /// Whether an answer was given, and is not there yet.
        var isUnderWay: Bool {
            switch self {
            case .sending, .unsent: true
            case .loading, .unreachable, .unverified, .checkingOrigin, .asking, .typingPIN, .pinLocked,
                .biometricFailed, .custom, .customRefused, .approved, .declined, .reported, .ended:
                false
            }
        }

        /// Whether the person can answer now.
        var isAnswerable: Bool {
            switch self {
            case .checkingOrigin, .asking, .typingPIN, .pinLocked, .biometricFailed, .custom, .customRefused, .unsent:
                true
            case .loading, .unreachable, .unverified, .sending, .approved, .declined, .reported, .ended: false
            }
        }
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// The question; nil until it was verified.
    public private(set) var question: PromptQuestion?
    /// How long the person has; nil until the question is there.
    public private(set) var timeLeft: Duration?
    /// What a screen reader says of the time that is left; it changes at one minute, 30 and 10 seconds.
    public private(set) var announcement: PromptWord?
    /// The digits of the number that were typed.
    public private(set) var number = ""
    /// The digits of the PIN that were typed; they are forgotten as soon as they are used.
    public private(set) var pin = ""
    /// What was given for a custom authenticator; it is forgotten as soon as it is used.
    public private(set) var customData = ""

    /// The name of the account that the question is about, as the app knows it; nil to show none.
    public let account: String?
    private let source: (any QuestionSource)?
    private let clock: any PromptClock
    private let biometricPrompt: String
    @ObservationIgnored private var open: (any OpenQuestion)?
    @ObservationIgnored private var countdown: Countdown?
    @ObservationIgnored private var shownAt: Duration?
    @ObservationIgnored private var isLoading = false
    @ObservationIgnored private var unsentMethod = PromptMethod.confirmation
    /// Whether an approval was sent to which no reply came.
    @ObservationIgnored private var mayBeApproved = false

    /// The prompt for a question that is still to be fetched.
    ///
    /// - Parameters:
    ///   - source: fetches and verifies it.
    ///   - account: the name of the account, as the app knows it.
    ///   - biometricPrompt: the text of the system's prompt for a fingerprint or a face.
    ///   - clock: counts down.
    public init(
        _ source: any QuestionSource, account: String? = nil, biometricPrompt: String,
        clock: any PromptClock = SystemPromptClock()
    ) {
        self.source = source
        self.account = account
        self.biometricPrompt = biometricPrompt
        self.clock = clock
    }

    /// The prompt for a question that is open, such as one whose code was scanned.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - account: the name of the account, as the app knows it.
    ///   - biometricPrompt: the text of the system's prompt for a fingerprint or a face.
    ///   - clock: counts down.
    public init(
        opened question: any OpenQuestion, account: String? = nil, biometricPrompt: String,
        clock: any PromptClock = SystemPromptClock()
    ) {
        source = nil
        self.account = account
        self.biometricPrompt = biometricPrompt
        self.clock = clock
        show(question)
    }

    /// Fetches the question and counts its time down, until it is over or the task is cancelled.
    ///
    /// A view runs it in its task.
    public func run() async {
        await load()
        while !state.isOver {
            let pause: Duration = min(.seconds(1), max(.milliseconds(50), timeLeft ?? .seconds(1)))
            do { try await clock.sleep(for: pause) } catch { return }
            // An earlier run was cancelled as it fetched.
            if state == .loading { await load() }
            tick()
        }
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .approve: await approve()
        case .deny: await deny()
        case .report: await report()
        case .goOn: confirmOrigin()
        case .use(let method): await use(method)
        case .submit: await submit()
        case .retry: await retry()
        case .back: back()
        default: break
        }
    }

    /// Fetches the question, or fetches it again after a failure.
    public func load() async {
        guard let source, open == nil, !isLoading, !state.isOver else { return }
        isLoading = true
        defer { isLoading = false }
        state = .loading
        do throws(CountersignError) {
            show(try await source.open())
        } catch {
            if case .cancelled = error { return }
            state = Self.end(after: error) ?? .unreachable(PromptFailure(error))
        }
    }

    /// Takes the number as it is typed; nothing but its digits, and no more than are asked for.
    public func type(number text: String) {
        guard let length = question?.numberLength, case .asking = state else { return }
        number = Self.digits(in: text, atMost: length)
        state = .asking(isNumberMissing: false)
    }

    /// Takes the PIN as it is typed; nothing but its digits.
    public func type(pin text: String) {
        guard case .typingPIN = state else { return }
        pin = Self.digits(in: text, atMost: 32)
    }

    /// Takes what the custom authenticator judges, in its own format; without any nothing is sent.
    public func type(custom text: String) {
        guard case .custom = state else { return }
        customData = text
    }

    /// Says that the person has scanned the code or followed the link themselves, where they started this.
    public func confirmOrigin() {
        guard case .checkingOrigin = state, isRead else { return }
        shownAt = clock.now
        state = .asking(isNumberMissing: false)
    }

    /// Approves by the preferred method, or asks for what the method needs.
    public func approve() async {
        guard case .asking = state, isRead, let question else { return }
        guard number.count == question.numberLength ?? 0 else {
            state = .asking(isNumberMissing: true)
            return
        }
        await begin(question.methods.first ?? .confirmation)
    }

    /// Approves by another of the question's methods, after the one before did not work.
    public func use(_ method: PromptMethod) async {
        guard let question, question.methods.contains(method) else { return }
        switch state {
        case .typingPIN, .pinLocked, .biometricFailed, .custom, .customRefused: await begin(method)
        default: return
        }
    }

    /// Approves by the PIN, or by what the custom authenticator judges, as it was typed.
    public func submit() async {
        switch state {
        case .typingPIN: await submitPIN()
        case .custom(let name, _):
            let data = customData
            // The second tap on the button before: it would use up a try.
            guard !data.isEmpty else { return }
            customData = ""
            await send(.approve, with: .custom(name, data: data))
        default: return
        }
    }

    private func submitPIN() async {
        let typed = pin
        pin = ""
        do throws(CountersignError) {
            let pin = try PIN(typed)
            await send(.approve, with: .pin(pin))
        } catch {
            state = .typingPIN(.malformed)
        }
    }

    /// Denies.
    public func deny() async {
        guard state.isAnswerable, isRead else { return }
        await send(.deny)
    }

    /// Denies, and reports that somebody else started it.
    public func report() async {
        guard state.isAnswerable, isRead else { return }
        await send(.report)
    }

    /// Fetches the question again, or sends the answer again that could not be delivered.
    ///
    /// The answer is not sent twice: the server takes the same one once.
    public func retry() async {
        switch state {
        case .unreachable: await load()
        case .unsent(.approve, _):
            // What was typed is not kept, so that nobody finds it in memory; it is typed again.
            await begin(unsentMethod)
        case .unsent(let decision, _): await send(decision)
        default: return
        }
    }

    /// Goes back to the question.
    public func back() {
        switch state {
        case .typingPIN, .biometricFailed, .custom, .customRefused, .pinLocked:
            forgetTyped()
            state = .asking(isNumberMissing: false)
        default: return
        }
    }

    /// Looks at the clock.
    func tick() {
        guard let countdown else { return }
        var counted = countdown
        timeLeft = counted.left(at: clock.now)
        if let word = counted.announcement(at: clock.now) { announcement = word }
        self.countdown = counted
        // What is under way is for the server to decide.
        if timeLeft == .zero, state.isAnswerable {
            forgetTyped()
            state = .ended(mayBeApproved ? .unknown : .expired)
        }
    }
}

extension ApprovePromptModel {
    /// Whether the question has been on the screen for long enough to be answered.
    private var isRead: Bool { shownAt.map { clock.now - $0 >= Self.readingTime } ?? false }

    private func show(_ opened: any OpenQuestion) {
        open = opened
        question = opened.question
        shownAt = clock.now
        countdown = Countdown(opened.question.timeLeft, from: clock.now)
        state = opened.question.origin == .asked ? .asking(isNumberMissing: false) : .checkingOrigin
        tick()
    }

    /// Forgets what was typed and is secret.
    func forgetTyped() {
        pin = ""
        customData = ""
    }

    private func begin(_ method: PromptMethod) async {
        forgetTyped()
        switch method {
        case .confirmation: await send(.approve)
        case .pin: state = question?.attemptsLeft == 0 ? .pinLocked : .typingPIN(nil)
        case .biometric: await send(.approve, with: .biometric(prompt: biometricPrompt))
        case .custom(let name): state = .custom(name, nil)
        }
    }

    /// Sends an answer; nothing else can be sent meanwhile, because the state says so before the first wait.
    private func send(_ decision: Decision, with proof: Proof = .confirmation) async {
        guard let open else { return }
        forgetTyped()
        state = .sending(decision)
        do throws(CountersignError) {
            switch decision {
            case .approve:
                let approval = try await open.approve(
                    with: proof, number: question?.numberLength == nil ? nil : number)
                state = .approved(approval)
            case .deny:
                try await open.deny()
                state = .declined
            case .report:
                try await open.report()
                state = .reported
            }
        } catch {
            unsentMethod = PromptMethod(proof)
            state = stateAfter(error, sending: decision)
            if case .unsent(.approve, _) = state { mayBeApproved = true }
            tick()
        }
    }

    private func stateAfter(_ error: CountersignError, sending decision: Decision) -> State {
        let methods = question?.methods ?? []
        let custom = if case .custom(let name) = unsentMethod { name } else { "" }
        switch error {
        case .pinIncorrect(let attemptsLeft) where attemptsLeft > 0:
            return .typingPIN(.wrong(attemptsLeft: attemptsLeft))
        case .pinIncorrect, .pinLocked: return .pinLocked
        case .pinPolicy: return .typingPIN(.malformed)
        case .biometric(.fallback) where methods.contains(.pin): return .typingPIN(nil)
        case .biometric(let failure): return .biometricFailed(failure)
        case .customRetry(let attemptsLeft, let payload):
            return .custom(custom, .again(attemptsLeft: attemptsLeft, payload: payload))
        case .customUnavailable: return .custom(custom, .unavailable)
        case .customFailed(let payload): return .customRefused(custom, payload: payload)
        case .customNotRegistered: return .customRefused(custom, payload: nil)
        case .numberRequired: return .asking(isNumberMissing: true)
        default: return Self.end(after: error) ?? .unsent(decision, PromptFailure(error))
        }
    }

    /// The end of the question, if the error is one.
    private static func end(after error: CountersignError) -> State? {
        switch error {
        case .serverChanged: return .unverified(.forged)
        case .notHandleable: return .unverified(.unreadable)
        case .challengeExpired: return .ended(.expired)
        case .alreadyAnswered: return .ended(.answered)
        case .challengeEnded(let state, _): return .ended(state == "cancelled" ? .cancelled : .failed)
        case .challengeNotFound: return .ended(.gone)
        case .numberIncorrect: return .ended(.wrongNumber)
        case .methodMissing, .pinNotSet: return .ended(.methodMissing)
        default:
            let failure = PromptFailure(error)
            return failure.retryHelps ? nil : .ended(.device(failure))
        }
    }

    /// The ASCII digits of a text.
    nonisolated static func digits(in text: String, atMost count: Int) -> String {
        String(text.filter { $0.isASCII && $0.isNumber }.prefix(count))
    }
}

extension PromptMethod {
    /// The method of a proof.
    fileprivate init(_ proof: Proof) {
        switch proof {
        case .confirmation: self = .confirmation
        case .pin: self = .pin
        case .biometric: self = .biometric
        case .custom(let name, _): self = .custom(name)
        }
    }
}
