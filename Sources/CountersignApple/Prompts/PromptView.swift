#if canImport(SwiftUI)
    import Accessibility
    public import CountersignPrompts
    import Foundation
    public import SwiftUI

    /// The prompt of a model, whichever it is.
    public struct PromptView<Model: PromptModel>: View {
        private let model: Model
        private let theme: PromptTheme
        private let close: @MainActor () -> Void
        @State private var isDismissed = false
        @State private var isAsking = false
        @State private var asked: ApprovePromptModel? = nil
        @AccessibilityFocusState private var focus: PromptScreen.Reading?
        @Environment(\.openURL) private var openURL

        /// The prompt of a model.
        ///
        /// - Parameters:
        ///   - model: says what is shown and does what is tapped. Its state says what came of it.
        ///   - theme: how it looks, and what it says.
        ///   - close: takes the prompt off the screen.
        public init(_ model: Model, theme: PromptTheme = PromptTheme(), close: @escaping @MainActor () -> Void) {
            self.model = model
            self.theme = theme
            self.close = close
            _focus = AccessibilityFocusState()
        }

        /// What is drawn.
        public var body: some View {
            let screen = model.screen(theme.texts)
            ScrollView {
                PromptScreenView(screen: screen, model: model, theme: theme, focus: $focus, perform: perform)
                    .padding(20)
                    .frame(maxWidth: 560, alignment: .leading)
                    .frame(maxWidth: .infinity)
            }
            .scrollDismissesKeyboard(.interactively)
            .tint(theme.accent)
            .task(id: ObjectIdentifier(model)) {
                await model.run()
                // Until the view is gone, or shows another model.
                while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
                model.leave()
            }
            .onChange(of: screen) { old, new in read(new.reading(after: old)) }
            .onChange(of: model.announcement) { _, word in
                if let word { announce(theme.texts.text(word)) }
            }
            .onChange(of: model.returnURL) { _, url in
                if let url { openURL(url) }
            }
            .onChange(of: ObjectIdentifier(model)) { _, _ in isDismissed = false }
            .onChange(of: isDismissed || model.isClosed, initial: true) { _, isClosed in
                if isClosed { close() }
            }
            .onChange(of: model.current.map { ObjectIdentifier($0) }, initial: true) { _, id in
                isAsking = id != nil
                // What was asked stays there while the sheet goes.
                if let current = model.current { asked = current }
            }
            .onChange(of: isAsking) { _, isAsking in
                if !isAsking, model.current != nil { closeAsked() }
            }
            .sheet(isPresented: $isAsking) {
                if let asked { PromptView<ApprovePromptModel>(asked, theme: theme) { closeAsked() } }
            }
        }

        private func perform(_ act: PromptAct) {
            // It goes on without the view: an answer that is on its way shall arrive.
            Task {
                await model.perform(act)
                if act == .close { isDismissed = true }
            }
        }

        private func closeAsked() {
            Task { await model.perform(.close) }
        }

        private func read(_ reading: PromptScreen.Reading?) {
            if case .says(let text) = reading { announce(text) } else if let reading { focus = reading }
        }

        private func announce(_ text: String) {
            AccessibilityNotification.Announcement(text).post()
        }
    }
#endif
