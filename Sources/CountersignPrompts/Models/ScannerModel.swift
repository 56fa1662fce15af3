import Countersign
public import Foundation
public import Observation

/// A person scans a code, or has opened a link.
///
/// Whether they did that themselves is asked together with the challenge: by ``ApprovePromptModel``, which the app makes
/// of ``claimed``.
@MainActor
@Observable
public final class ScannerModel {
    /// Why a code is not taken.
    public enum Refusal: Hashable, Sendable {
        /// It is no code of ours.
        case unknown
        /// Nobody waits for it, or it belongs to somebody else.
        case invalid
        /// It was shown too long ago.
        case expired
        /// Another device was faster.
        case taken
        /// Whoever shows it does not know this person.
        case notLinked
        /// This device cannot answer by the method that it wants.
        case methodMissing
        /// What it stands for has ended.
        case over
        /// What it stands for does not pass its checks.
        case unverified
    }

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The camera looks for a code.
        case scanning
        /// The app may not use the camera.
        case noCamera
        /// A code was read, and its challenge is fetched.
        case claiming
        /// The challenge is there: see ``ScannerModel/claimed``.
        case claimed
        /// It was a ticket: see ``ScannerModel/ticket``.
        case ticket
        /// The code is not taken.
        case refused(Refusal)
        /// The challenge could not be fetched, and this can be tried again.
        case unreachable(PromptFailure)
        /// This device can claim nothing, for this reason.
        case failed(PromptFailure)
        /// The person has given up.
        case cancelled
    }

    private enum Scanned: Hashable {
        case text(String)
        case link(URL)
    }

    /// What the person sees.
    public private(set) var state = State.scanning
    /// The challenge of the code or the link.
    @ObservationIgnored public private(set) var claimed: (any OpenQuestion)?
    /// The text of the ticket that was scanned, by which the app enrolls the device.
    @ObservationIgnored public private(set) var ticket: String?

    private let reader: any ScanReader
    @ObservationIgnored private var last: Scanned?

    /// A scanner.
    public init(_ reader: any ScanReader) {
        self.reader = reader
    }

    /// Takes what the camera has read; it reads the same code many times.
    public func scanned(_ text: String) async {
        switch state {
        case .scanning: break
        // While a refusal is shown, another code is taken, and not the same one again.
        case .refused where last != Scanned.text(text): break
        default: return
        }
        last = .text(text)
        switch reader.kind(of: text) {
        case .ticket:
            ticket = text
            state = .ticket
        case .code: await claim()
        case .unknown: state = .refused(.unknown)
        }
    }

    /// Takes a link that the system gave the app.
    public func opened(_ link: URL) async {
        switch state {
        case .scanning, .noCamera, .refused: break
        default: return
        }
        last = .link(link)
        await claim()
    }

    /// Says that the app may not use the camera.
    public func refuseCamera() {
        guard case .scanning = state else { return }
        state = .noCamera
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .retry: await retry()
        case .cancel, .close: cancel()
        default: break
        }
    }

    /// Fetches the challenge again, or looks for another code.
    public func retry() async {
        switch state {
        case .unreachable: await claim()
        case .refused, .noCamera:
            last = nil
            state = .scanning
        default: return
        }
    }

    /// Gives up.
    ///
    /// What is being claimed then stays among the pending questions.
    public func cancel() {
        switch state {
        case .claimed, .ticket, .cancelled: return
        default: state = .cancelled
        }
    }

    private func claim() async {
        guard let last else { return }
        state = .claiming
        do throws(CountersignError) {
            let question: any OpenQuestion
            switch last {
            case .text(let text): question = try await reader.claim(text)
            case .link(let url): question = try await reader.claim(link: url)
            }
            guard case .claiming = state else { return }
            claimed = question
            state = .claimed
        } catch {
            guard case .claiming = state else { return }
            state = Self.stateAfter(error)
        }
    }

    private static func stateAfter(_ error: CountersignError) -> State {
        switch error {
        case .codeRefused(.malformed): return .refused(.unknown)
        case .codeRefused(.invalid): return .refused(.invalid)
        case .codeRefused(.expired): return .refused(.expired)
        case .codeRefused(.alreadyClaimed): return .refused(.taken)
        case .userNotLinked, .enrollmentNotConfirmed: return .refused(.notLinked)
        case .methodMissing: return .refused(.methodMissing)
        case .challengeExpired, .challengeEnded, .alreadyAnswered, .challengeNotFound: return .refused(.over)
        case .serverChanged, .notHandleable: return .refused(.unverified)
        default:
            let failure = PromptFailure(error)
            return failure.retryHelps ? .unreachable(failure) : .failed(failure)
        }
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(texts)
    }
}

extension ScannerModel.State {
    /// The screen of a state.
    func screen(_ texts: PromptTexts) -> PromptScreen {
        var screen: PromptScreen
        switch self {
        case .scanning:
            screen = texts.screen(.scanHeading, .scanText)
            screen.looksForCode = true
        case .noCamera:
            screen = texts.screen(.noCameraHeading, .noCameraText)
            screen.buttons = [
                texts.button(.openSettings, .openSettings, role: .main), texts.button(.retry, .tryAgain),
            ]
        case .claiming, .claimed: return texts.screen(.loadingHeading, .loadingText)
        case .ticket: return texts.screen(.ticketHeading, .ticketText)
        case .refused(let refusal):
            screen = texts.screen(.codeRefusedHeading, refusal.word)
            // Another code is taken without a tap.
            screen.looksForCode = true
            screen.buttons = [texts.button(.retry, .scanAgain, role: .main)]
        case .unreachable(let failure): return texts.screen(failure, heading: .unreachableHeading)
        case .failed(let failure): return texts.screen(failure, heading: .deviceCannotHeading)
        case .cancelled: return texts.screen(.scanCancelledHeading)
        }
        screen.buttons.append(texts.button(.cancel, .cancel))
        return screen
    }
}

extension ScannerModel.Refusal {
    fileprivate var word: PromptWord {
        switch self {
        case .unknown: .codeUnknown
        case .invalid: .codeInvalid
        case .expired: .codeExpired
        case .taken: .codeTaken
        case .notLinked: .codeNotLinked
        case .methodMissing: .methodMissingText
        case .over: .codeOver
        case .unverified: .unreadableText
        }
    }
}
