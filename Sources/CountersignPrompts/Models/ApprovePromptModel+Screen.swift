import Countersign

extension ApprovePromptModel {
    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(of: question, account: account, left: timeLeft, texts)
    }
}

extension ApprovePromptModel.State {
    /// The screen of a state.
    func screen(of question: PromptQuestion?, account: String?, left: Duration?, _ texts: PromptTexts) -> PromptScreen {
        var screen = body(of: question, texts)
        guard let question else { return screen }
        screen.label = texts.text(.askedBy)
        screen.client = question.client
        screen.facts = question.facts(account: account, texts)
        if isAnswerable, let left { screen.timeLeft = texts.left(left) }
        return screen
    }

    private func body(of question: PromptQuestion?, _ texts: PromptTexts) -> PromptScreen {
        switch self {
        case .loading: return texts.screen(.loadingHeading, .loadingText)
        case .unreachable(let failure): return texts.screen(failure, heading: .unreachableHeading)
        case .checkingOrigin: return originScreen(question, texts)
        case .asking(let isNumberMissing): return askScreen(question, isNumberMissing: isNumberMissing, texts)
        case .typingPIN(let problem):
            var screen = PromptScreen(heading: texts.text(.pinHeading))
            screen.field = PromptField(
                kind: .pin, label: texts.text(.pinLabel), problem: problem.map { $0.text(texts) })
            screen.buttons =
                [texts.button(.submit, .approve, role: .main)] + others(than: .pin, of: question, texts)
                + refusals(texts) + [texts.button(.back, .back)]
            return screen
        case .pinLocked:
            var screen = texts.screen(.pinLockedHeading, .pinLockedText)
            screen.buttons = others(than: .pin, of: question, texts) + refusals(texts)
            return screen
        case .biometricFailed(let failure):
            var screen = texts.screen(.biometricHeading, failure.word)
            if failure.canTryAgain { screen.buttons = [texts.button(.use(.biometric), .tryAgain, role: .main)] }
            screen.buttons +=
                others(than: .biometric, of: question, texts) + refusals(texts) + [texts.button(.back, .back)]
            return screen
        case .custom(let name, let problem): return customScreen(name, problem, question, texts)
        case .customRefused(let name, let payload):
            var screen = texts.screen(
                .customRefusedHeading, .customRefusedText, values: ["name": texts.name(of: name)])
            screen.paragraphs += texts.said(payload)
            screen.buttons =
                others(than: .custom(name), of: question, texts) + refusals(texts) + [texts.button(.back, .back)]
            return screen
        case .sending(let decision):
            return texts.screen(decision.sendingWord, .sendingText)
        case .unsent(_, let failure):
            var screen = texts.screen(.unsentHeading, failure.word, values: failure.values)
            screen.buttons = [texts.button(.retry, .tryAgain, role: .main)] + refusals(texts)
            return screen
        case .unverified, .approved, .declined, .reported, .ended: return endScreen(texts)
        }
    }

    private func endScreen(_ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch self {
        case .unverified(.forged): screen = texts.screen(.unverifiedHeading, .forgedText)
        case .unverified(.unreadable): screen = texts.screen(.unverifiedHeading, .unreadableText)
        case .approved(let approval):
            screen = texts.screen(.approvedHeading)
            if approval.returnURL != nil { screen.paragraphs.append(texts.text(.goBackSoon)) }
            screen.paragraphs += texts.said(approval.payload)
        case .declined: screen = texts.screen(.declinedHeading, .nothingApproved)
        case .reported: screen = texts.screen(.reportedHeading, .nothingApproved, .reportedText)
        case .ended(let ending): screen = ending.screen(texts)
        default: screen = texts.screen(.loadingHeading)
        }
        screen.buttons = [texts.button(.close, .close)]
        return screen
    }

    private func originScreen(_ question: PromptQuestion?, _ texts: PromptTexts) -> PromptScreen {
        var screen =
            question?.origin == .link
            ? texts.screen(.linkOriginHeading, .linkOriginText, .originWarning)
            : texts.screen(.codeOriginHeading, .codeOriginText, .originWarning)
        screen.buttons = [texts.button(.goOn, .yesGoOn, role: .main)] + refusals(texts)
        return screen
    }

    private func askScreen(
        _ question: PromptQuestion?, isNumberMissing: Bool, _ texts: PromptTexts
    ) -> PromptScreen {
        var screen = PromptScreen(heading: texts.text(.askHeading))
        if let question {
            screen.paragraphs = [question.message]
            screen.details = question.details
            if let data = question.signingData {
                screen.details.append(PromptFact(label: texts.text(.factSigningData), value: data))
            }
            screen.signedLabel = texts.text(.signedWithAnswer)
            screen.signedLines = question.signedLines
            if let length = question.numberLength {
                screen.field = PromptField(
                    kind: .number(length: length), label: texts.text(.numberLabel),
                    problem: isNumberMissing ? texts.text(.numberMissing, ["count": "\(length)"]) : nil)
            }
        }
        screen.buttons = [texts.button(.approve, .approve, role: .main)] + refusals(texts)
        return screen
    }

    private func customScreen(
        _ name: String, _ problem: ApprovePromptModel.CustomProblem?, _ question: PromptQuestion?, _ texts: PromptTexts
    ) -> PromptScreen {
        let values = ["name": texts.name(of: name)]
        let request = CustomRequest(name, .approve, after: problem)
        var screen = PromptScreen(heading: texts.text(.customHeading, values))
        screen.paragraphs = texts.said(request.payload)
        screen.field = PromptField(
            kind: .custom(request), label: texts.text(.customLabel, values),
            problem: problem.map { $0.text(texts, .approve) })
        screen.buttons =
            [texts.button(.submit, .approve, role: .main)] + others(than: .custom(name), of: question, texts)
            + refusals(texts) + [texts.button(.back, .back)]
        return screen
    }

    private func refusals(_ texts: PromptTexts) -> [PromptButton] {
        [texts.button(.deny, .decline), texts.button(.report, .notMe, role: .danger)]
    }

    /// The other methods of the question.
    private func others(
        than method: PromptMethod, of question: PromptQuestion?, _ texts: PromptTexts
    ) -> [PromptButton] {
        (question?.methods ?? []).filter { $0 != method }.map { PromptButton(.use($0), texts.text(using: $0)) }
    }
}

extension PromptQuestion {
    /// The ledger of the pages: as whom, from where, when.
    func facts(account: String?, _ texts: PromptTexts) -> [PromptFact] {
        var facts: [PromptFact] = []
        if let account { facts.append(PromptFact(label: texts.text(.factAs), value: account)) }
        if let context { facts.append(PromptFact(label: texts.text(.factFrom), value: context)) }
        facts.append(PromptFact(label: texts.text(.factAt), value: texts.moment(askedAt)))
        return facts
    }
}

extension PromptTexts {
    /// The button that approves by a method.
    func text(using method: PromptMethod) -> String {
        switch method {
        case .confirmation: text(.useTap)
        case .pin: text(.usePIN)
        case .biometric: text(.useBiometric)
        case .custom(let custom): text(.useCustom, ["name": name(of: custom)])
        }
    }
}

extension ApprovePromptModel.Decision {
    fileprivate var sendingWord: PromptWord {
        switch self {
        case .approve: .approvingHeading
        case .deny: .decliningHeading
        case .report: .reportingHeading
        }
    }
}

extension ApprovePromptModel.PINProblem {
    func text(_ texts: PromptTexts) -> String {
        switch self {
        case .malformed: texts.text(.pinMalformed)
        case .wrong(let attemptsLeft): texts.text(.pinWrong, orOnce: .pinWrongOnce, count: attemptsLeft)
        }
    }
}

extension ApprovePromptModel.CustomProblem {
    /// What is said of it; where an authenticator is registered there is no other way to choose.
    func text(_ texts: PromptTexts, _ purpose: CustomRequest.Purpose) -> String {
        switch self {
        case .again(let attemptsLeft?, _): texts.text(.customAgain, orOnce: .customAgainOnce, count: attemptsLeft)
        case .again(nil, _): texts.text(.customAgainUnlimited)
        case .unavailable: texts.text(purpose == .register ? .customRegisterUnavailable : .customUnavailable)
        }
    }
}

extension ApprovePromptModel.Ending {
    fileprivate func screen(_ texts: PromptTexts) -> PromptScreen {
        switch self {
        case .expired: texts.screen(.expiredHeading, .nothingApproved, .startAgain)
        case .unknown: texts.screen(.unknownHeading, .unknownText)
        case .answered: texts.screen(.answeredHeading, .answeredText)
        case .cancelled: texts.screen(.takenBackHeading, .nothingApproved)
        case .wrongNumber: texts.screen(.wrongNumberHeading, .nothingApproved, .wrongNumberText)
        case .failed: texts.screen(.failedQuestionHeading, .nothingApproved, .startAgain)
        case .gone: texts.screen(.goneHeading, .goneText)
        case .methodMissing: texts.screen(.methodMissingHeading, .methodMissingText)
        case .device(let failure): texts.screen(.deviceCannotHeading, failure.word, values: failure.values)
        }
    }
}

extension BiometricFailure {
    /// Whether another try can succeed at once.
    var canTryAgain: Bool {
        switch self {
        case .failed, .cancelled: true
        case .unavailable, .fallback, .lockout, .changed, .notRegistered: false
        }
    }

    /// What is said of it.
    var word: PromptWord {
        switch self {
        case .unavailable: .biometricUnavailable
        case .failed: .biometricFailed
        case .cancelled: .biometricCancelled
        case .fallback: .biometricFallback
        case .lockout: .biometricLockout
        case .changed: .biometricChanged
        case .notRegistered: .biometricNotRegistered
        }
    }

    /// What is said of it where a change was to be proved, and no question answered.
    var wordForChange: PromptWord {
        switch self {
        case .cancelled: .biometricCancelledForChange
        case .fallback: .biometricFallbackForChange
        case .unavailable, .failed, .lockout, .changed, .notRegistered: word
        }
    }
}
