#if canImport(SwiftUI)
    import Accessibility
    public import CountersignPrompts
    import Foundation
    public import SwiftUI

    #if canImport(UIKit)
        import UIKit
    #endif

    /// The prompt of a model, whichever it is.
    public struct PromptView<Model: PromptModel>: View {
        private let model: Model
        private let theme: PromptTheme
        private let close: @MainActor () -> Void
        @State private var isDismissed = false
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
            let screen = theme.screen(of: model)
            ScrollView {
                PromptScreenView(screen: screen, model: model, theme: theme, focus: $focus, perform: perform)
                    .padding(20)
                    .frame(maxWidth: 560, alignment: .leading)
                    .frame(maxWidth: .infinity)
            }
            .scrollDismissesKeyboard(.interactively)
            .tint(theme.accent)
            #if !canImport(UIKit)
                // A sheet of the Mac is as large as its content wants to be, and what scrolls wants nothing.
                .frame(minWidth: 360, idealWidth: 480, minHeight: 360, idealHeight: 600)
            #endif
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
            .onChange(of: model.settledQuestion) { _, question in
                guard let question else { return }
                Task { await Notifications.removeShown(of: question) }
            }
            .onChange(of: model.current?.id, initial: true) { _, _ in asked = model.current }
            .onChange(of: asked?.id) { _, id in
                // The person has swiped the question away.
                if id == nil, model.current != nil { closeAsked() }
            }
            .sheet(item: $asked) { asked in
                PromptView<ApprovePromptModel>(asked, theme: theme) { closeAsked() }
            }
        }

        private func perform(_ act: PromptAct) {
            guard act != .openSettings else {
                openSettings()
                return
            }
            // It goes on without the view, and when the person has left the app at once: an answer shall arrive.
            let time = BackgroundTime(for: "What was tapped in a prompt")
            Task {
                await model.perform(act)
                time.end()
                if act == .close { isDismissed = true }
            }
        }

        private func openSettings() {
            #if canImport(UIKit)
                let address = UIApplication.openSettingsURLString
            #else
                let address = "x-apple.systempreferences:com.apple.preference.security?Privacy_Camera"
            #endif
            if let url = URL(string: address) { openURL(url) }
        }

        private func closeAsked() {
            Task { await model.perform(.close) }
        }

        private func read(_ reading: PromptScreen.Reading?) {
            switch reading {
            case .says(let text): announce(text)
            case .heading, .problem:
                // It stays where it is when its text changes, and what has the focus already is not read again.
                focus = nil
                Task { focus = reading }
            case nil: break
            }
        }

        private func announce(_ text: String) {
            AccessibilityNotification.Announcement(text).post()
        }
    }
#endif
