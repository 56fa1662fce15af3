public import Foundation

/// The texts of the prompts in a language, and how times are written.
///
/// An app can replace each text, also by those of another language.
public struct PromptTexts: Sendable {
    /// The language.
    public let language: PromptLanguage
    private let timeZone: TimeZone
    private let words: [PromptWord: String]
    private let names: [String: String]

    /// The texts of a language.
    ///
    /// - Parameters:
    ///   - language: the language.
    ///   - timeZone: the zone in which times of day are written.
    ///   - replaced: texts of the app's own; they have the `{{values}}` of those that they replace. Where what custom
    ///     authenticators say is not for people, ``PromptWord/customSays`` is replaced by an empty text.
    ///   - names: what custom authenticators are called on screens, by their names; one that is not there is called by
    ///     its name.
    public init(
        _ language: PromptLanguage, timeZone: TimeZone = .current, replacing replaced: [PromptWord: String] = [:],
        naming names: [String: String] = [:]
    ) {
        self.language = language
        self.timeZone = timeZone
        self.names = names
        words = Self.all(in: language).merging(replaced) { $1 }
    }

    /// Our own texts of a language.
    static func all(in language: PromptLanguage) -> [PromptWord: String] {
        switch language {
        case .english: english
        case .german: german
        }
    }

    /// A text with its values.
    ///
    /// What others wrote must not turn the direction of our text around, so each value is confined.
    ///
    /// Spec: Unicode Standard Annex 9, *Explicit Directional Isolates*.
    public func text(_ word: PromptWord, _ values: [String: String] = [:]) -> String {
        let parts = (words[word] ?? word.rawValue).split(separator: "{{", omittingEmptySubsequences: false)
        var text = String(parts.first ?? "")
        for part in parts.dropFirst() {
            let halves = part.split(separator: "}}", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let value = values[String(halves[0])] else {
                text += "{{\(part)"
                continue
            }
            text += "\u{2068}\(value)\u{2069}\(halves[1])"
        }
        return text
    }

    /// A text for a count: the word for one, or the word for any other number.
    func text(_ word: PromptWord, orOnce once: PromptWord, count: Int) -> String {
        count == 1 ? text(once) : text(word, ["count": "\(count)"])
    }

    /// What a custom authenticator is called.
    func name(of custom: String) -> String { names[custom] ?? custom }

    /// What a custom authenticator has said, as a text for the person; none where the app shows it to nobody.
    func said(_ payload: String?) -> [String] {
        guard let payload else { return [] }
        let said = text(.customSays, ["payload": payload])
        return said.isEmpty ? [] : [said]
    }

    /// The time that is left: "1:42 left".
    func left(_ duration: Duration) -> String {
        // A second that has begun counts whole, so that nothing is left only when it is over.
        let (whole, fraction) = duration.components
        let seconds = whole + (fraction > 0 ? 1 : 0)
        return text(.timeLeft, ["left": "\(seconds / 60):\(Self.twoDigits(seconds % 60))"])
    }

    /// A moment, such as "10:15, 23 November 2026".
    ///
    /// - Parameter milliseconds: since 1970.
    func moment(_ milliseconds: Int64) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        let time = "\(Self.twoDigits(parts.hour ?? 0)):\(Self.twoDigits(parts.minute ?? 0))"
        let month = Self.months(in: language)[(parts.month ?? 1) - 1]
        let (day, year) = (parts.day ?? 1, parts.year ?? 1970)
        return switch language {
        case .english: "\(time), \(day) \(month) \(year)"
        case .german: "\(time) Uhr, \(day). \(month) \(year)"
        }
    }

    private static func twoDigits(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }

    private static func months(in language: PromptLanguage) -> [String] {
        switch language {
        case .english:
            [
                "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
                "November", "December",
            ]
        case .german:
            [
                "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
                "November", "Dezember",
            ]
        }
    }
}

extension PromptTexts {
    /// A button with the text of a word.
    func button(_ act: PromptAct, _ word: PromptWord, role: PromptButton.Role = .plain) -> PromptButton {
        PromptButton(act, text(word), role: role)
    }

    /// A screen with a heading and one text below it.
    func screen(_ heading: PromptWord, _ paragraphs: PromptWord..., values: [String: String] = [:]) -> PromptScreen {
        var screen = PromptScreen(heading: text(heading, values))
        screen.paragraphs = paragraphs.map { text($0, values) }
        screen.isBusy = heading.isBusy
        return screen
    }

    /// The screen of a failure, with a way to try again where that helps.
    func screen(_ failure: PromptFailure, heading: PromptWord = .failedHeading) -> PromptScreen {
        var screen = PromptScreen(heading: text(heading))
        screen.paragraphs = [text(failure.word, failure.values)]
        if failure.retryHelps { screen.buttons.append(button(.retry, .tryAgain, role: .main)) }
        screen.buttons.append(button(.close, .close))
        return screen
    }
}

extension PromptWord {
    /// Whether it is the heading of something that is under way.
    fileprivate var isBusy: Bool {
        switch self {
        case .loadingHeading, .sendingHeading, .approvingHeading, .decliningHeading, .reportingHeading, .ticketHeading,
            .savingPINHeading, .undoingHeading:
            true
        default: false
        }
    }
}
