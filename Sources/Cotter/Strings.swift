import CountersignPrompts
import Foundation

/// Texts of the app's own, by the keys below.
///
/// A key that is set takes the place of a text of the prompts; others stay those of the person's language.
public class LanguageObject {
    /// The texts that were set.
    public private(set) var text: [String: String]
    let language: PromptLanguage?

    init(_ language: PromptLanguage?, text: [String: String]) {
        self.language = language
        self.text = text
    }

    /// Texts in the person's language, or in English.
    ///
    /// - Parameter text: the app's own texts by the keys below; other keys say nothing.
    public init(text: [String: String] = [:]) {
        self.text = text
        language = nil
    }

    /// Sets a text.
    ///
    /// - Parameters:
    ///   - key: one of the keys below; any other says nothing.
    ///   - value: the text, which is shown as it is.
    public func setText(for key: String, to value: String) { text[key] = value }

    /// The texts of the prompts.
    var prompts: PromptTexts {
        let words = text.compactMap { key, value in promptWords[key].map { ($0, value) } }
        return PromptTexts(
            language ?? .preferred(Locale.preferredLanguages),
            replacing: Dictionary(words) { first, _ in first })
    }
}

/// Texts in English.
public final class English: LanguageObject {
    /// English, whatever the person's language is.
    public init() {
        super.init(.english, text: [:])
    }
}

/// The keys of a question on a trusted device.
public enum TrustedViewControllerKey {
    /// Its heading.
    public static let title = "TrustedViewController/title"
    /// Shown nowhere: what is asked stands there, as the server has signed it.
    public static let subtitle = "TrustedViewController/subtitle"
    /// The button that declines.
    public static let buttonNo = "TrustedViewController/buttonNo"
    /// The button that approves.
    public static let buttonYes = "TrustedViewController/buttonYes"
}

/// The keys of the screen on a device that is not trusted.
public enum NonTrustedKey {
    /// Its heading, which has the person type the number on the trusted device.
    public static let title = "NonTrusted/title"
    /// The text below the number.
    public static let subtitle = "NonTrusted/subtitle"
}

/// The keys of the screen of a scanned code.
public enum QRScannerViewControllerKey {
    /// Shown nowhere: nothing is scanned.
    public static let title = "QRScannerViewController/title"
    /// Shown nowhere: nothing is scanned.
    public static let subtitle = "QRScannerViewController/subtitle"
}

/// The keys of the screen of a further device that waits.
public enum RegisterTrustedViewControllerKey {
    /// Its heading, which has the person type the number on the trusted device.
    public static let title = "RegisterTrustedViewController/title"
    /// The text below it.
    public static let subtitle = "RegisterTrustedViewController/subtitle"
}

/// The keys of what went wrong.
public enum GeneralErrorMessagesKey {
    /// The heading of a sign-in that has failed.
    public static let someWentWrong = "GeneralErrorMessages/someWentWrong"
    /// What is said where the server does not answer as it should.
    public static let tryAgainLater = "GeneralErrorMessages/tryAgainLater"
    /// The heading where nobody has approved in time.
    public static let requestTimeout = "GeneralErrorMessages/requestTimeout"
}

/// The words of the prompts that the keys replace.
private let promptWords: [String: PromptWord] = [
    TrustedViewControllerKey.title: .askHeading, TrustedViewControllerKey.buttonNo: .decline,
    TrustedViewControllerKey.buttonYes: .approve, NonTrustedKey.title: .waitingNumberHeading,
    NonTrustedKey.subtitle: .waitingNumberText, RegisterTrustedViewControllerKey.title: .furtherNumberHeading,
    RegisterTrustedViewControllerKey.subtitle: .furtherNumberText,
    GeneralErrorMessagesKey.someWentWrong: .signInFailedHeading,
    GeneralErrorMessagesKey.tryAgainLater: .failedService, GeneralErrorMessagesKey.requestTimeout: .expiredHeading,
]
