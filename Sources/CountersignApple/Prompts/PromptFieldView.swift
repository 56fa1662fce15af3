#if canImport(SwiftUI)
    import CountersignPrompts
    import Foundation
    import SwiftUI

    #if canImport(UIKit)
        import UIKit
    #endif

    /// A field for a number, a PIN, or what a custom authenticator judges.
    struct PromptFieldView: View {
        let field: PromptField
        let typed: String
        let theme: PromptTheme
        let focus: AccessibilityFocusState<PromptScreen.Reading?>.Binding
        /// Takes what is typed; returns what was taken of it.
        let type: (String) -> String
        let submit: () -> Void
        @State private var text = ""
        @FocusState private var isTyping: Bool
        @Environment(\.accessibilityVoiceOverEnabled) private var isReadOut

        var body: some View {
            VStack(alignment: .leading, spacing: 8) {
                Text(verbatim: field.label).font(theme.fonts.label).accessibilityHidden(true)
                if let problem = field.problem { PromptProblemView(problem: problem, theme: theme, focus: focus) }
                control
                    .labelsHidden()
                    .textFieldStyle(.roundedBorder)
                    .autocorrectionDisabled()
                    .focused($isTyping)
                    .onSubmit(submit)
            }
            .onChange(of: text) { _, new in text = type(new) }
            .onChange(of: typed, initial: true) { _, taken in text = taken }
            // The keyboard comes by itself; to VoiceOver, what is asked is read first.
            .task(id: field.kind) { isTyping = field.kind.isSecret && !isReadOut }
        }

        @ViewBuilder private var control: some View {
            switch field.kind {
            case .number: digits(TextField(text: $text, prompt: Text(verbatim: "")) { label })
            case .pin, .newPIN: digits(secret)
            case .custom: secret.font(theme.fonts.text)
            }
        }

        private var label: Text { Text(verbatim: field.label) }

        private var secret: some View {
            let field = SecureField(text: $text, prompt: Text(verbatim: "")) { label }
            #if canImport(UIKit)
                // Of any other kind, the system offers a password that it keeps, and offers to keep what is typed.
                return field.textContentType(.oneTimeCode)
            #else
                return field
            #endif
        }

        private func digits(_ control: some View) -> some View {
            #if canImport(UIKit)
                control.font(theme.fonts.code).monospacedDigit().keyboardType(.numberPad)
            #else
                control.font(theme.fonts.code).monospacedDigit()
            #endif
        }
    }

    /// What is wrong with what was typed or given.
    struct PromptProblemView: View {
        let problem: String
        let theme: PromptTheme
        let focus: AccessibilityFocusState<PromptScreen.Reading?>.Binding

        var body: some View {
            Label {
                Text(verbatim: problem).font(theme.fonts.label)
            } icon: {
                Image(systemName: "exclamationmark.triangle")
                    .foregroundStyle(theme.danger)
                    .accessibilityHidden(true)
            }
            .accessibilityFocused(focus, equals: .problem)
        }
    }
#endif
