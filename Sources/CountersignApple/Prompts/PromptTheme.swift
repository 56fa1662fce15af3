#if canImport(SwiftUI)
    public import CountersignPrompts
    public import Foundation
    public import SwiftUI

    /// How an app's prompts look, and what they say.
    ///
    /// Grounds, texts and fields have the system's colours, which follow dark mode and the person's contrast.
    public struct PromptTheme: Sendable {
        /// The fonts; each follows the person's text size.
        public struct Fonts: Sendable {
            /// The font of headings.
            public var heading: Font
            /// The font of the name of the one who asks.
            public var client: Font
            /// The font of texts, fields and buttons.
            public var text: Font
            /// The font of labels, and of the time that is left.
            public var label: Font
            /// The font of a number or a code to be read, or typed.
            public var code: Font
            /// The font of the lines that an answer signs.
            public var signed: Font

            /// Fonts, which are the system's where none is named.
            public init(
                heading: Font = .title.bold(), client: Font = .headline, text: Font = .body, label: Font = .subheadline,
                code: Font = .largeTitle.weight(.semibold), signed: Font = .footnote.monospaced()
            ) {
                self.heading = heading
                self.client = client
                self.text = text
                self.label = label
                self.code = code
                self.signed = signed
            }
        }

        /// The colour of buttons.
        public var accent: Color
        /// The colour of the text on the filled button.
        public var onAccent: Color
        /// The colour of what refuses, removes or is wrong.
        public var danger: Color
        /// The fonts.
        public var fonts: Fonts
        /// The logo beside the name of the one who asks; nil for none.
        public var logo: Image?
        /// The texts.
        public var texts: PromptTexts
        /// The app's own views, by the names of the custom authenticators that they ask.
        private var customViews: [String: @MainActor @Sendable (CustomEntry) -> AnyView] = [:]

        /// A theme, which is the system's where nothing else is named.
        ///
        /// - Parameters:
        ///   - accent: the colour of buttons; a colour of an asset catalog has one for each mode.
        ///   - onAccent: the colour of the text on the filled button, which must be legible on `accent` in both modes.
        ///   - danger: the colour of what refuses, removes or is wrong.
        ///   - fonts: the fonts.
        ///   - logo: the logo, which nobody is told of who cannot see it: the name stands beside it.
        ///   - texts: the texts; by default those of the person's language, or English.
        public init(
            accent: Color = .accentColor, onAccent: Color = .white, danger: Color = .red, fonts: Fonts = Fonts(),
            logo: Image? = nil, texts: PromptTexts = PromptTexts(.preferred(Locale.preferredLanguages))
        ) {
            self.accent = accent
            self.onAccent = onAccent
            self.danger = danger
            self.fonts = fonts
            self.logo = logo
            self.texts = texts
        }

        /// The theme, with a view of the app's own that asks a custom authenticator, in place of a field that hides what is
        /// typed.
        ///
        /// The view stands between what is wrong with the try before and the buttons. It is gone as soon as it has given the
        /// data.
        ///
        /// - Parameters:
        ///   - name: the authenticator's name.
        ///   - content: the view, which hands what the authenticator judges to `CustomEntry.give(_:)`.
        public func asking<Content: View>(
            _ name: String, @ViewBuilder with content: @escaping @MainActor @Sendable (CustomEntry) -> Content
        ) -> PromptTheme {
            var theme = self
            theme.customViews[name] = { AnyView(content($0)) }
            return theme
        }

        /// The screen of a model, as it is where a view of the app's own asks.
        @MainActor
        func screen(of model: some PromptModel) -> PromptScreen {
            let screen = model.screen(texts)
            return screen.custom.flatMap { customViews[$0.name] } == nil ? screen : screen.askedByApp
        }

        /// The app's own view for what a model asks of a custom authenticator; nil where a field asks.
        @MainActor
        func ownView(for model: any PromptModel, submit: @escaping @MainActor () -> Void) -> AnyView? {
            guard let entry = CustomEntry(model, submit: submit) else { return nil }
            return customViews[entry.request.name]?(entry)
        }
    }
#endif
