import CountersignPrompts

#if canImport(UIKit)
    import CountersignApple
    import SwiftUI
    import UIKit
#endif

/// How an app's prompts look, and what they say.
@MainActor
struct Look {
    /// The app's texts.
    var language = LanguageObject()
    /// The app's colours; nil for the system's.
    var colors: ColorSchemeObject?

    /// The texts of the prompts.
    var texts: PromptTexts { language.prompts }

    /// Takes what a configuration says of the look; a value of another type says nothing.
    mutating func read(_ configuration: [String: Any]) {
        if let language = configuration["language"] as? LanguageObject { self.language = language }
        if let colors = configuration["colors"] as? ColorSchemeObject { self.colors = colors }
    }

    #if canImport(UIKit)
        /// The theme of the prompts.
        var theme: PromptTheme {
            var theme = PromptTheme(texts: texts)
            if let accent = colors?.primary { theme.accent = Color(uiColor: accent) }
            if let danger = colors?.danger { theme.danger = Color(uiColor: danger) }
            return theme
        }
    #endif
}
