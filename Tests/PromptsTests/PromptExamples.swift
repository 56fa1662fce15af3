import Countersign
import Foundation

@testable import CountersignPrompts

/// The screens of a model: one for each state that a person can see.
struct PromptExamples: Sendable {
    /// The name of the model.
    let model: String
    /// What each state is called, and its screen.
    let screens: [(state: String, screen: @Sendable (PromptTexts) -> PromptScreen)]

    static let all = [
        approve, waiting, pinPad, scanner, code, furtherDevice, custom, pending, devices,
    ]

    private static let moment: Int64 = 1_795_428_900_000
    private static let later: Int64 = 1_795_500_000_000
    private static let failures: [(String, PromptFailure)] = [
        ("no network", .network), ("server", .service), ("clock", .clock), ("storage", .storage),
        ("removed", .removed), ("suspended", .suspended), ("waiting", .waiting), ("method needed", .methodNeeded),
        ("other", .other(code: "too_many_devices")),
    ]

    /// The state whose frame stands for that of every question.
    static let frame: @Sendable (PromptTexts) -> PromptScreen = { texts in
        ApprovePromptModel.State.asking(isNumberMissing: false).screen(
            of: .payment(number: true), account: "anna@example.com", left: .seconds(102), texts)
    }

    private static let approve: PromptExamples = {
        func example(
            _ name: String, _ state: ApprovePromptModel.State, number: Bool = false,
            _ methods: [PromptMethod] = [.confirmation], origin: PromptQuestion.Origin = .asked
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (
                name,
                { texts in
                    state.screen(
                        of: .payment(number: number, methods: methods, origin: origin), account: nil,
                        left: .seconds(102), texts)
                }
            )
        }
        let voice = PromptMethod.custom("voice")
        var screens = [
            example("loading", .loading),
            example("unreachable", .unreachable(.network)),
            example("unverified: forged", .unverified(.forged)),
            example("unverified: unreadable", .unverified(.unreadable)),
            example("checkingOrigin: code", .checkingOrigin, origin: .code),
            example("checkingOrigin: link", .checkingOrigin, origin: .link),
            example("asking", .asking(isNumberMissing: false)),
            example("asking: number", .asking(isNumberMissing: false), number: true),
            example("asking: number not complete", .asking(isNumberMissing: true), number: true),
            example("typingPIN", .typingPIN(nil), [.pin, .biometric]),
            example("typingPIN: malformed", .typingPIN(.malformed), [.pin]),
            example("typingPIN: wrong", .typingPIN(.wrong(attemptsLeft: 3)), [.pin]),
            example("typingPIN: wrong, one left", .typingPIN(.wrong(attemptsLeft: 1)), [.pin]),
            example("pinLocked", .pinLocked, [.pin, .biometric, voice]),
        ]
        screens += BiometricFailure.allCases.map { failure in
            // Where there is a PIN, it is typed after a wish for it.
            let methods: [PromptMethod] = failure == .fallback ? [.biometric] : [.biometric, .pin]
            return example("biometricFailed: \(failure.rawValue)", .biometricFailed(failure), methods)
        }
        screens += [
            example("custom", .custom("voice", nil), [voice, .pin]),
            example("custom: again", .custom("voice", .again(attemptsLeft: 2, payload: "louder")), [voice]),
            example("custom: once more", .custom("voice", .again(attemptsLeft: 1, payload: nil)), [voice]),
            example("custom: again, no limit", .custom("voice", .again(attemptsLeft: nil, payload: nil)), [voice]),
            example("custom: unavailable", .custom("voice", .unavailable), [voice, .confirmation]),
            example("customRefused", .customRefused("voice", payload: "no"), [voice, .pin]),
            example("sending: approve", .sending(.approve)),
            example("sending: deny", .sending(.deny)),
            example("sending: report", .sending(.report)),
        ]
        for (name, failure) in failures where failure.retryHelps {
            screens.append(example("unsent: \(name)", .unsent(.approve, failure)))
        }
        let linked = PromptApproval(payload: "welcome", returnURL: URL(filePath: "/"))
        screens += [
            example("approved", .approved(PromptApproval())),
            example("approved: by a link, with data", .approved(linked)),
            example("declined", .declined),
            example("reported", .reported),
            example("ended: expired", .ended(.expired)),
            example("ended: unknown", .ended(.unknown)),
            example("ended: answered", .ended(.answered)),
            example("ended: cancelled", .ended(.cancelled)),
            example("ended: wrong number", .ended(.wrongNumber)),
            example("ended: failed", .ended(.failed)),
            example("ended: gone", .ended(.gone)),
            example("ended: method missing", .ended(.methodMissing)),
        ]
        for (name, failure) in failures where !failure.retryHelps {
            screens.append(example("ended: device, \(name)", .ended(.device(failure))))
        }
        return PromptExamples(model: "ApprovePromptModel", screens: screens)
    }()

    private static let waiting: PromptExamples = {
        func example(
            _ name: String, _ state: WaitingModel.State
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(left: .seconds(42), texts) })
        }
        return PromptExamples(
            model: "WaitingModel",
            screens: [
                example("starting", .starting), example("showing: number", .showing(.example())),
                example("showing: code", .showing(.example(number: nil))), example("signedIn", .signedIn),
                example("declined", .declined), example("expired", .expired),
                example("failed", .failed(.network)), example("cancelled", .cancelled),
            ])
    }()

    private static let pinPad: PromptExamples = {
        func example(
            _ name: String, _ state: PINPadModel.State, isChange: Bool = false
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(isChange: isChange, .standard, texts) })
        }
        return PromptExamples(
            model: "PINPadModel",
            screens: [
                example("loading", .loading), example("unreachable", .unreachable(.network)),
                example("typingOld", .typingOld(nil), isChange: true),
                example("typingOld: malformed", .typingOld(.malformed), isChange: true),
                example("typingOld: wrong", .typingOld(.wrong(attemptsLeft: 3)), isChange: true),
                example("choosing", .choosing(nil)), example("choosing: change", .choosing(nil), isChange: true),
                example("choosing: length", .choosing(.breaks(.length(5...32)))),
                example("choosing: one length", .choosing(.breaks(.length(6...6)))),
                example("choosing: repeats", .choosing(.breaks(.repeats(3)))),
                example("choosing: no repeats", .choosing(.breaks(.repeats(1)))),
                example("choosing: sequence", .choosing(.breaks(.sequence))),
                example("choosing: common", .choosing(.breaks(.common))),
                example("choosing: mismatch", .choosing(.mismatch)),
                example("repeating", .repeating), example("saving", .saving),
                example("unsaved", .unsaved(.network)), example("done", .done),
                example("done: change", .done, isChange: true), example("locked", .locked),
                example("authorityNeeded", .authorityNeeded), example("refused", .refused(.suspended)),
                example("cancelled", .cancelled),
            ])
    }()

    private static let scanner: PromptExamples = {
        func example(
            _ name: String, _ state: ScannerModel.State
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(texts) })
        }
        return PromptExamples(
            model: "ScannerModel",
            screens: [
                example("scanning", .scanning), example("noCamera", .noCamera), example("claiming", .claiming),
                example("claimed", .claimed), example("ticket", .ticket),
                example("refused: unknown", .refused(.unknown)), example("refused: invalid", .refused(.invalid)),
                example("refused: expired", .refused(.expired)), example("refused: taken", .refused(.taken)),
                example("refused: not linked", .refused(.notLinked)),
                example("refused: method missing", .refused(.methodMissing)),
                example("refused: over", .refused(.over)), example("refused: unverified", .refused(.unverified)),
                example("unreachable", .unreachable(.network)), example("failed", .failed(.suspended)),
                example("cancelled", .cancelled),
            ])
    }()

    private static let code: PromptExamples = {
        func example(
            _ name: String, _ state: CodeDisplayModel.State, renewsItself: Bool = true
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(left: .seconds(42), renewsItself: renewsItself, texts) })
        }
        let shown = ShownCode(text: "code", timeLeft: .seconds(60))
        return PromptExamples(
            model: "CodeDisplayModel",
            screens: [
                example("loading", .loading), example("showing", .showing(shown)),
                example("showing: the last one", .showing(shown), renewsItself: false),
                example("expired", .expired), example("unreachable", .unreachable(.network)),
                example("scanned", .scanned), example("cancelled", .cancelled),
            ])
    }()

    private static let furtherDevice: PromptExamples = {
        func example(
            _ name: String, _ state: FurtherDeviceModel.State, trouble: PromptFailure? = nil
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(activeFrom: later, trouble: trouble, texts) })
        }
        return PromptExamples(
            model: "FurtherDeviceModel",
            screens: [
                example("waiting: number", .waiting(number: "471932")),
                example("waiting: no number", .waiting(number: nil)),
                example("waiting: trouble", .waiting(number: nil), trouble: .network),
                example("confirmingUndo", .confirmingUndo), example("undoing", .undoing),
                example("notUndone", .notUndone(.network)), example("active", .active),
                example("refused", .refused), example("undone", .undone),
            ])
    }()

    private static let custom: PromptExamples = {
        func example(
            _ name: String, _ state: CustomAuthenticatorModel.State,
            _ purpose: CustomAuthenticatorModel.Purpose = .register
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(of: "voice", purpose, texts) })
        }
        return PromptExamples(
            model: "CustomAuthenticatorModel",
            screens: [
                example("loading", .loading), example("unreachable", .unreachable(.network)),
                example("typingPIN", .typingPIN(nil)), example("typingPIN: malformed", .typingPIN(.malformed)),
                example("typingPIN: wrong", .typingPIN(.wrong(attemptsLeft: 3))),
                example("giving", .giving(nil)),
                example("giving: again", .giving(.again(attemptsLeft: 2, payload: "louder"))),
                example("giving: once more", .giving(.again(attemptsLeft: 1, payload: nil))),
                example("giving: again, no limit", .giving(.again(attemptsLeft: nil, payload: nil))),
                example("giving: unavailable", .giving(.unavailable)),
                example("confirmingRemoval", .confirmingRemoval, .deregister), example("sending", .sending),
                example("unsent", .unsent(.network)), example("registered", .registered(payload: nil)),
                example("registered: with data", .registered(payload: "welcome")),
                example("deregistered", .deregistered, .deregister), example("refused", .refused(payload: nil)),
                example("refused: with data", .refused(payload: "no")),
                example("notThere", .notThere), example("pinLocked", .pinLocked),
                example("authorityNeeded", .authorityNeeded), example("failed", .failed(.suspended)),
                example("cancelled", .cancelled),
            ])
    }()

    private static let pending: PromptExamples = {
        func example(
            _ name: String, _ state: PendingListModel.State
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(texts) })
        }
        let row = PendingRow(
            id: "chl_1", client: "ACME Shop", message: "Pay EUR 1,250.00?", askedAt: moment, timeLeft: .seconds(60))
        return PromptExamples(
            model: "PendingListModel",
            screens: [
                example("loading", .loading), example("empty", .empty), example("rows", .rows([row])),
                example("unreachable", .unreachable(.network, [row])), example("failed", .failed(.suspended)),
            ])
    }()

    private static let devices: PromptExamples = {
        func example(
            _ name: String, _ state: DevicesModel.State, proofs: [PromptMethod] = [.biometric, .pin]
        ) -> (state: String, screen: @Sendable (PromptTexts) -> PromptScreen) {
            (name, { texts in state.screen(proofs: proofs, texts) })
        }
        func action(_ deed: DevicesModel.Deed, _ device: DeviceRow = .other()) -> DevicesModel.Action {
            DevicesModel.Action(deed, device)
        }
        let method = DeviceRow.WaitingMethod(name: "pin", method: .pin, countsFrom: later)
        let biometric = DeviceRow.WaitingMethod(name: "biometric", method: .biometric, countsFrom: later)
        let voice = DeviceRow.WaitingMethod(name: "custom:voice", method: .custom("voice"), countsFrom: later)
        let rows: [DeviceRow] = [
            .this, .other(), .other(methods: [.biometric]),
            .other(methods: [.pin, .biometric], waiting: [biometric, voice, method]), .other(.suspended),
            .other(.waiting(until: later)), .other(.waiting(until: nil)),
        ]
        let list = DeviceList(rows: rows)
        let alone = DeviceList(rows: [.this])
        var screens = [
            example("loading", .loading), example("unreachable", .unreachable(.network)),
            example("failed", .failed(.waiting)), example("list", .list(list, done: nil)),
            example("list: no other", .list(alone, done: nil)),
            example("list: suspended", .list(alone, done: action(.suspend))),
            example("list: resumed", .list(alone, done: action(.resume))),
            example("list: removed", .list(alone, done: action(.remove))),
            example("list: method undone", .list(alone, done: action(.undoMethod(method)))),
            example("confirming: suspend", .confirming(action(.suspend))),
            example("confirming: undo", .confirming(action(.undo, .other(.waiting(until: later))))),
            example("confirming: remove", .confirming(action(.remove))),
            example("confirming: remove a suspended one", .confirming(action(.remove, .other(.suspended)))),
            example("confirming: remove this one", .confirming(action(.remove, .this))),
            example("typingPIN", .typingPIN(action(.remove), nil)),
            example("typingPIN: malformed", .typingPIN(action(.remove), .malformed)),
            example("typingPIN: wrong", .typingPIN(action(.resume), .wrong(attemptsLeft: 3))),
        ]
        screens += BiometricFailure.allCases.map { failure in
            // Where there is a PIN, it is typed after a wish for it.
            let proofs: [PromptMethod] = failure == .fallback ? [.biometric] : [.biometric, .pin]
            return example(
                "biometricFailed: \(failure.rawValue)", .biometricFailed(action(.remove), failure), proofs: proofs)
        }
        screens += [
            example("pinLocked", .pinLocked(action(.remove))), example("acting", .acting(action(.remove))),
            example("notDone", .notDone(action(.remove), .network)),
            example("notDone: method needed", .notDone(action(.remove), .methodNeeded)),
            example("gone", .gone(action(.remove))), example("thisOneRemoved", .thisOneRemoved),
        ]
        return PromptExamples(model: "DevicesModel", screens: screens)
    }()
}
