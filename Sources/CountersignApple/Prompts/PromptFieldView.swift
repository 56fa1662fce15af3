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

        var body: some View {
            VStack(alignment: .leading, spacing: 8) {
                Text(verbatim: field.label).font(theme.fonts.label).accessibilityHidden(true)
                if let problem = field.problem {
                    Label {
                        Text(verbatim: problem).font(theme.fonts.label)
                    } icon: {
                        Image(systemName: "exclamationmark.triangle")
                            .foregroundStyle(theme.danger)
                            .accessibilityHidden(true)
                    }
                    .accessibilityFocused(focus, equals: .problem)
                }
                control
                    .labelsHidden()
                    .textFieldStyle(.roundedBorder)
                    .autocorrectionDisabled()
                    .onSubmit(submit)
            }
            .onChange(of: text) { _, new in text = type(new) }
            .onChange(of: typed, initial: true) { _, taken in text = taken }
        }

        @ViewBuilder private var control: some View {
            switch field.kind {
            case .number: digits(TextField(text: $text, prompt: Text(verbatim: "")) { label })
            case .pin, .newPIN: digits(SecureField(text: $text, prompt: Text(verbatim: "")) { label })
            case .custom: SecureField(text: $text, prompt: Text(verbatim: "")) { label }.font(theme.fonts.text)
            }
        }

        private var label: Text { Text(verbatim: field.label) }

        private func digits(_ control: some View) -> some View {
            #if canImport(UIKit)
                control.font(theme.fonts.code).monospacedDigit().keyboardType(.numberPad)
            #else
                control.font(theme.fonts.code).monospacedDigit()
            #endif
        }
    }
#endif
