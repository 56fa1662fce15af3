import Countersign

extension DevicesModel.State {
    /// The screen of a state.
    func screen(proofs: [PromptMethod], _ texts: PromptTexts) -> PromptScreen {
        switch self {
        case .loading: return texts.screen(.loadingHeading)
        case .unreachable(let failure): return texts.screen(failure)
        case .failed(let failure): return texts.screen(failure, heading: .deviceCannotHeading)
        case .list(let list, let done): return listScreen(list, done, texts)
        case .confirming(let action): return action.question(texts)
        case .typingPIN(let action, let problem):
            var screen = texts.screen(.pinHeading, .pinForChange)
            screen.field = PromptField(
                kind: .pin, label: texts.text(.pinLabel), problem: problem.map { $0.text(texts) })
            screen.buttons =
                [PromptButton(.submit, action.button(texts), role: .danger)]
                + others(than: .pin, among: proofs, texts) + [texts.button(.back, .back)]
            return screen
        case .biometricFailed(_, let failure):
            var screen = texts.screen(.biometricHeading, failure.wordForChange)
            if failure.canTryAgain { screen.buttons = [texts.button(.use(.biometric), .tryAgain, role: .main)] }
            screen.buttons += others(than: .biometric, among: proofs, texts) + [texts.button(.back, .back)]
            return screen
        case .pinLocked:
            var screen = texts.screen(.pinLockedHeading, .pinLockedText)
            screen.buttons = others(than: .pin, among: proofs, texts) + [texts.button(.back, .back)]
            return screen
        case .acting: return texts.screen(.sendingHeading)
        case .notDone(_, let failure):
            var screen = texts.screen(.notDoneHeading, failure.word, values: failure.values)
            if failure.retryHelps { screen.buttons = [texts.button(.retry, .tryAgain, role: .main)] }
            screen.buttons.append(texts.button(.back, .back))
            return screen
        case .gone:
            var screen = texts.screen(.notDoneHeading, .deviceGone)
            screen.buttons = [texts.button(.back, .back)]
            return screen
        case .thisOneRemoved:
            var screen = texts.screen(.thisOneRemovedHeading, .thisOneRemovedText)
            screen.buttons = [texts.button(.close, .close)]
            return screen
        }
    }

    private func listScreen(_ list: DeviceList, _ done: DevicesModel.Action?, _ texts: PromptTexts) -> PromptScreen {
        var screen = texts.screen(.devicesHeading)
        if let done { screen.paragraphs = [done.said(texts)] }
        if !list.rows.contains(where: { !$0.isThisOne }) { screen.paragraphs.append(texts.text(.noOtherDevices)) }
        screen.groups = list.rows.map {
            PromptGroup(id: $0.id, title: $0.title(texts), lines: $0.lines(texts), buttons: $0.buttons(texts))
        }
        screen.buttons = [texts.button(.close, .close)]
        return screen
    }

    private func others(
        than method: PromptMethod, among proofs: [PromptMethod], _ texts: PromptTexts
    ) -> [PromptButton] {
        proofs.filter { $0 != method }.map { PromptButton(.use($0), texts.text(using: $0)) }
    }
}

extension DeviceRow {
    /// Its name, with whether it is this one.
    fileprivate func title(_ texts: PromptTexts) -> String {
        isThisOne ? texts.text(.thisDevice, ["device": name]) : name
    }

    /// How it stands, by what it approves, and since when it is there.
    fileprivate func lines(_ texts: PromptTexts) -> [String] {
        var lines: [String] = []
        switch standing {
        case .active: lines.append(texts.text(methodsWord))
        case .waiting(let until?): lines.append(texts.text(.canApproveFrom, ["until": texts.moment(until)]))
        case .waiting(nil): lines.append(texts.text(.tagWaiting))
        case .suspended: lines.append(texts.text(.approvesNothing))
        }
        if let enrolledAt { lines.append(texts.text(.enrolledAt, ["moment": texts.moment(enrolledAt)])) }
        lines += waitingMethods.map {
            texts.text($0.waitingWord, ["until": texts.moment($0.countsFrom)])
        }
        return lines
    }

    private var methodsWord: PromptWord {
        switch (methods.contains(.pin), methods.contains(.biometric)) {
        case (true, true): .methodBoth
        case (true, false): .methodPIN
        case (false, true): .methodBiometric
        case (false, false): .methodNone
        }
    }

    fileprivate func buttons(_ texts: PromptTexts) -> [PromptButton] {
        let values = ["device": name]
        var buttons = waitingMethods.filter { allows(.undoMethod($0)) }.map {
            PromptButton(.undoMethod($0.name, of: id), texts.text($0.undoWord, values))
        }
        if allows(.suspend) { buttons.append(PromptButton(.suspend(id), texts.text(.suspendDevice, values))) }
        if allows(.resume) { buttons.append(PromptButton(.resume(id), texts.text(.resumeDevice, values))) }
        if allows(.undo) { buttons.append(PromptButton(.undo(id), texts.text(.undoDevice, values), role: .danger)) }
        if allows(.remove) {
            buttons.append(PromptButton(.remove(id), texts.text(.removeDevice, values), role: .danger))
        }
        return buttons
    }
}

extension DeviceRow.WaitingMethod {
    fileprivate var waitingWord: PromptWord {
        switch method {
        case .pin: .waitingPIN
        case .biometric: .waitingBiometric
        case .confirmation, .custom: .waitingCustom
        }
    }

    fileprivate var undoWord: PromptWord {
        switch method {
        case .pin: .undoPIN
        case .biometric: .undoBiometric
        case .confirmation, .custom: .undoCustom
        }
    }
}

extension DevicesModel.Action {
    private var values: [String: String] { ["device": device.name] }

    /// The button that does it.
    fileprivate func button(_ texts: PromptTexts) -> String {
        switch deed {
        case .suspend: texts.text(.suspendDevice, values)
        case .resume: texts.text(.resumeDevice, values)
        case .remove: texts.text(.removeDevice, values)
        case .undo: texts.text(.undoDevice, values)
        case .undoMethod(let method): texts.text(method.undoWord, values)
        }
    }

    /// The screen that asks whether it is to be done.
    fileprivate func question(_ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch deed {
        case .suspend, .resume, .undoMethod: screen = texts.screen(.suspendHeading, .suspendText, values: values)
        case .undo: screen = texts.screen(.undoHeading, .undoText, values: values)
        case .remove where device.isThisOne: screen = texts.screen(.removeHeading, .removeThisText, values: values)
        case .remove where device.standing == .suspended:
            screen = texts.screen(.removeHeading, .removeSuspendedText, values: values)
        case .remove: screen = texts.screen(.removeHeading, .removeText, values: values)
        }
        if let enrolledAt = device.enrolledAt {
            screen.details = [PromptFact(label: texts.text(.factEnrolled), value: texts.moment(enrolledAt))]
        }
        screen.buttons = [
            PromptButton(.goOn, button(texts), role: .danger), texts.button(.back, deed == .suspend ? .back : .keepIt),
        ]
        return screen
    }

    /// What is said once it is done.
    fileprivate func said(_ texts: PromptTexts) -> String {
        switch deed {
        case .suspend: texts.text(.saySuspended, values)
        case .resume: texts.text(.sayResumed, values)
        case .remove, .undo: texts.text(.sayRemoved, values)
        case .undoMethod: texts.text(.sayMethodUndone, values)
        }
    }
}
