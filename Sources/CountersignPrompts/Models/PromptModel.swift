public import Foundation
public import Observation

/// What a view needs of a model, whichever it is.
///
/// A view draws ``screen(_:)``, runs the model in its task, and hands on what was tapped, typed and scanned. What a model has
/// no use for does nothing.
@MainActor
public protocol PromptModel: AnyObject, Observable, Sendable {
    /// What the screen shows now.
    func screen(_ texts: PromptTexts) -> PromptScreen
    /// Fetches what is shown, and goes on until nothing is left to wait for or the task is cancelled.
    func run() async
    /// Says that nobody sees the screen any more: what was typed and is secret is forgotten.
    ///
    /// What is under way goes on. Run again, the model shows what there is then.
    func leave()
    /// Does what a button of the screen says.
    func perform(_ act: PromptAct) async
    /// What was typed in the screen's field, as the model has taken it.
    var typed: String { get }
    /// Takes what is typed in the screen's field.
    func type(_ text: String)
    /// What a screen reader says of the time that is left; nil for nothing yet.
    var announcement: PromptWord? { get }
    /// Whether the screen is to be closed without anybody closing it: what comes next is the app's.
    var isClosed: Bool { get }
    /// The URL to open at once in the person's browser; nil for none.
    var returnURL: URL? { get }
    /// The question that stands over the screen, until `perform(.close)`; nil for none.
    var current: ApprovePromptModel? { get }
    /// The id of the question that nobody can answer any more, so that its notification is of no use; nil for none.
    var settledQuestion: String? { get }
    /// Takes what the camera has read.
    func scanned(_ text: String) async
    /// Says that the app may not use the camera.
    func refuseCamera()
}

extension PromptModel {
    /// See ``PromptModel``.
    public func run() async {}
    /// See ``PromptModel``.
    public func leave() {}
    /// See ``PromptModel``.
    public var typed: String { "" }
    /// See ``PromptModel``.
    public func type(_ text: String) {}
    /// See ``PromptModel``.
    public var announcement: PromptWord? { nil }
    /// See ``PromptModel``.
    public var isClosed: Bool { false }
    /// See ``PromptModel``.
    public var returnURL: URL? { nil }
    /// See ``PromptModel``.
    public var current: ApprovePromptModel? { nil }
    /// See ``PromptModel``.
    public var settledQuestion: String? { nil }
    /// See ``PromptModel``.
    public func scanned(_ text: String) async {}
    /// See ``PromptModel``.
    public func refuseCamera() {}
}

extension ApprovePromptModel: PromptModel {
    /// Forgets the PIN, and what was given for a custom authenticator.
    public func leave() { forgetTyped() }

    /// What was typed of the number, of the PIN, or for the custom authenticator.
    public var typed: String {
        switch state {
        case .typingPIN: pin
        case .custom: customData
        default: number
        }
    }

    /// Takes the number, the PIN, or what the custom authenticator judges.
    public func type(_ text: String) {
        switch state {
        case .typingPIN: type(pin: text)
        case .custom: type(custom: text)
        default: type(number: text)
        }
    }

    /// The id of the question once it is answered, or over for every device.
    public var settledQuestion: String? { state.isSettled ? question?.id : nil }

    /// The URL of an approval that came by a link.
    public var returnURL: URL? {
        if case .approved(let approval) = state { approval.returnURL } else { nil }
    }
}

extension ApprovePromptModel: Identifiable {}

extension PendingListModel: PromptModel {}

extension WaitingModel: PromptModel {
    /// Whether somebody is signed in, or the screen has closed itself.
    public var isClosed: Bool { state == .signedIn || state == .closed }
}

extension ScannerModel: PromptModel {
    /// Whether there is a question or a ticket for the app, or the person has given up.
    public var isClosed: Bool { state == .claimed || state == .ticket || state == .cancelled }
}

extension CodeDisplayModel: PromptModel {
    /// Whether the person has given up.
    public var isClosed: Bool { state == .cancelled }
}

extension PINPadModel: PromptModel {
    /// Fetches the rules.
    public func run() async { await load() }
}

extension CustomAuthenticatorModel: PromptModel {
    /// Fetches how it stands.
    public func run() async { await load() }
}

extension FurtherDeviceModel: PromptModel {}

extension DevicesModel: PromptModel {
    /// Fetches the list.
    public func run() async { await load() }

    /// The digits of the PIN that were typed.
    public var typed: String { pin }

    /// Takes the PIN as it is typed.
    public func type(_ text: String) { type(pin: text) }
}
