#if canImport(SwiftUI) && canImport(UIKit)
    import CountersignApple
    import CountersignPrompts
    import Foundation
    import SwiftUI
    import UIKit

    /// The screen, and the prompt that stands over it.
    struct RootView: View {
        @Bindable var model: AppModel
        @Environment(\.scenePhase) private var scenePhase

        var body: some View {
            VStack(alignment: .leading, spacing: 12) {
                Text(verbatim: Bank.name).font(.largeTitle)
                if !model.notice.isEmpty { Text(verbatim: model.notice).foregroundStyle(.secondary) }
                switch model.stage {
                case .starting: ProgressView()
                case .welcome: WelcomeView(model: model)
                case .home(let list): HomeView(model: model, list: list)
                }
            }
            .padding(20)
            .task { await model.start() }
            // What was asked, or answered elsewhere, while the app was not running; and the badge when it is left.
            .onChange(of: scenePhase) { _, phase in
                if phase != .inactive { Task { _ = await model.woken(by: nil) } }
            }
            .onOpenURL { link in
                Task { await model.opened(link) }
            }
            .sheet(item: $model.prompt) {
                Task { await model.dismissed() }
            } content: { prompt in
                shown(prompt)
            }
        }

        @ViewBuilder private func shown(_ prompt: AppModel.Prompt) -> some View {
            switch prompt {
            case .scanner(let scanner): PromptView(scanner) { model.prompt = nil }
            case .question(let question): PromptView(question) { model.prompt = nil }
            case .furtherDevice(let device): PromptView(device) { model.prompt = nil }
            case .pin(let pad): PromptView(pad) { model.prompt = nil }
            case .devices(let devices): PromptView(devices) { model.prompt = nil }
            case .elsewhere(let waiting): PromptView(waiting) { model.prompt = nil }
            }
        }
    }

    /// Nobody is enrolled yet.
    private struct WelcomeView: View {
        let model: AppModel
        @State private var ticket = ""
        @State private var address = ""

        var body: some View {
            ScrollView {
                VStack(spacing: 12) {
                    Act(title: "Scan a ticket") { await model.scan() }
                    field("The text of a ticket", $ticket)
                    Act(title: "Enroll by this ticket") { await model.enroll(byTicket: ticket) }
                    Act(title: "Sign in, and enroll this phone") { await model.enrollBySigningIn() }
                    Divider()
                    field("Your mail address", $address)
                    Act(title: "Sign in by another device") { await model.signInElsewhere(address) }
                }
            }
        }

        private func field(_ label: String, _ text: Binding<String>) -> some View {
            TextField(text: text) {
                Text(verbatim: label)
            }
            .textFieldStyle(.roundedBorder)
            .autocorrectionDisabled()
        }
    }

    /// The questions, and what else somebody who is enrolled can do.
    private struct HomeView: View {
        let model: AppModel
        let list: PendingListModel
        @State private var pin = ""

        var body: some View {
            PromptView(list) {}
            ScrollView {
                VStack(spacing: 12) {
                    Act(title: "Scan a code") { await model.scan() }
                    Act(title: "Choose or change the PIN") { model.choosePIN() }
                    SecureField(text: $pin) {
                        Text(verbatim: "The PIN, if there is one")
                    }
                    .textFieldStyle(.roundedBorder)
                    .keyboardType(.numberPad)
                    Act(title: "Approve by face or finger") {
                        await model.registerBiometric(pin: pin)
                        pin = ""
                    }
                    Act(title: "Devices") { model.showDevices() }
                    Act(title: "Does this phone still wait?") { await model.showWaiting() }
                    Act(title: "Sign in") { await model.signIn() }
                }
            }
        }
    }

    /// A button that does something.
    private struct Act: View {
        let title: String
        let act: @MainActor () async -> Void

        var body: some View {
            Button {
                Task { await act() }
            } label: {
                Text(verbatim: title).frame(maxWidth: .infinity)
            }
            .buttonStyle(.bordered)
        }
    }
#endif
