#if canImport(SwiftUI)
    import CountersignPrompts
    import Foundation
    import SwiftUI

    /// A screen, part by part, in the order in which it is read.
    struct PromptScreenView: View {
        let screen: PromptScreen
        let model: any PromptModel
        let theme: PromptTheme
        let focus: AccessibilityFocusState<PromptScreen.Reading?>.Binding
        let perform: (PromptAct) -> Void

        var body: some View {
            VStack(alignment: .leading, spacing: 16) {
                if let client = screen.client { head(client) }
                text(screen.heading, theme.fonts.heading)
                    .accessibilityAddTraits(.isHeader)
                    .accessibilityFocused(focus, equals: .heading)
                if screen.isBusy { ProgressView().accessibilityHidden(true) }
                ForEach(screen.paragraphs, id: \.self) { text($0, theme.fonts.text) }
                facts(screen.details)
                ForEach(screen.groups, id: \.id) { group($0) }
                if let label = screen.signedLabel { signed(label) }
                if let code = screen.code { read(code) }
                if let text = screen.scannable { QRImage(text: text, label: screen.heading) }
                if screen.looksForCode { scanner }
                if let left = screen.timeLeft {
                    text(left, theme.fonts.label).monospacedDigit().accessibilityAddTraits(.updatesFrequently)
                }
                if let field = screen.field { asked(field) }
                ForEach(screen.buttons, id: \.act) { button($0) }
            }
        }

        @ViewBuilder private func asked(_ field: PromptField) -> some View {
            if let own = theme.ownView(for: model, submit: { perform(.submit) }) {
                if let problem = field.problem { PromptProblemView(problem: problem, theme: theme, focus: focus) }
                own
            } else {
                PromptFieldView(field: field, typed: model.typed, theme: theme, focus: focus) { text in
                    model.type(text)
                    return model.typed
                } submit: {
                    perform(.submit)
                }
            }
        }

        private func group(_ group: PromptGroup) -> some View {
            VStack(alignment: .leading, spacing: 8) {
                VStack(alignment: .leading, spacing: 4) {
                    text(group.title, theme.fonts.client).accessibilityAddTraits(.isHeader)
                    ForEach(group.lines, id: \.self) { text($0, theme.fonts.text) }
                }
                .accessibilityElement(children: .combine)
                ForEach(group.buttons, id: \.act) { button($0) }
                Divider()
            }
        }

        private func head(_ client: String) -> some View {
            VStack(alignment: .leading, spacing: 16) {
                HStack(spacing: 12) {
                    if let logo = theme.logo {
                        logo.resizable().scaledToFit().frame(maxWidth: 120, maxHeight: 44).accessibilityHidden(true)
                    }
                    VStack(alignment: .leading) {
                        if let label = screen.label { text(label, theme.fonts.label).foregroundStyle(.secondary) }
                        text(client, theme.fonts.client)
                    }
                    .accessibilityElement(children: .combine)
                }
                facts(screen.facts)
                Divider()
            }
        }

        private func facts(_ facts: [PromptFact]) -> some View {
            ForEach(Array(facts.enumerated()), id: \.offset) { _, fact in
                VStack(alignment: .leading, spacing: 4) {
                    text(fact.label, theme.fonts.label).foregroundStyle(.secondary)
                    text(fact.value, theme.fonts.text)
                }
                .accessibilityElement(children: .combine)
            }
        }

        private func signed(_ label: String) -> some View {
            DisclosureGroup {
                text(screen.signedLines.joined(separator: "\n"), theme.fonts.signed)
                    .frame(maxWidth: .infinity, alignment: .leading)
            } label: {
                text(label, theme.fonts.label)
            }
        }

        private func read(_ code: PromptCode) -> some View {
            // Its groups stand from left to right in every language.
            text("\u{2066}\(code.written)\u{2069}", theme.fonts.code)
                .monospacedDigit()
                .accessibilityLabel(Text(verbatim: code.spoken))
        }

        @ViewBuilder private var scanner: some View {
            #if canImport(AVFoundation)
                QRScanner { text in
                    // It goes on without the camera, which is switched off while the code is claimed.
                    Task { await model.scanned(text) }
                } refused: {
                    model.refuseCamera()
                }
            #endif
        }

        @ViewBuilder private func button(_ button: PromptButton) -> some View {
            switch button.role {
            case .main: tappable(button, label(button).foregroundStyle(theme.onAccent)).buttonStyle(.borderedProminent)
            case .plain: tappable(button, label(button)).buttonStyle(.bordered)
            case .danger: tappable(button, label(button)).buttonStyle(.bordered).tint(theme.danger)
            }
        }

        private func tappable(_ button: PromptButton, _ label: some View) -> some View {
            Button {
                perform(button.act)
            } label: {
                label
            }
            .controlSize(.large)
        }

        private func label(_ button: PromptButton) -> some View {
            text(button.label, theme.fonts.text).frame(maxWidth: .infinity, minHeight: 32)
        }

        private func text(_ text: String, _ font: Font) -> some View {
            Text(verbatim: text).font(font).fixedSize(horizontal: false, vertical: true)
        }
    }
#endif
