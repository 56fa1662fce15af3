import Countersign
import CountersignApple
import CountersignPrompts
import Foundation
import SwiftUI

@main
struct FirstApproval: App {
    var body: some Scene {
        WindowGroup {
            PhoneView()
        }
    }
}

struct PhoneView: View {
    @State private var authenticator: Authenticator? = nil
    @State private var ticket = ""
    @State private var list: PendingListModel? = nil
    @State private var failure = ""

    var body: some View {
        VStack {
            if let list {
                PromptView(list) {}
            } else {
                TextField(text: $ticket) {
                    Text(verbatim: "The text of the ticket")
                }
                .textFieldStyle(.roundedBorder)
                Button {
                    Task { await enroll() }
                } label: {
                    Text(verbatim: "Enroll")
                }
            }
            Text(verbatim: failure)
        }
        .padding(20)
        .task { await open() }
    }

    private func open() async {
        guard let issuer = URL(string: "http://127.0.0.1:8080") else { return }
        do {
            let opened = try await Authenticator(
                issuer: issuer, app: AppDescription(name: "First approval", version: "1.0", deviceName: "My phone"),
                vault: .secureEnclave(softwareKeys: .allowed))
            authenticator = opened
            if await opened.enrollments.first != nil { show(opened) }
        } catch {
            failure = "\(error)"
        }
    }

    private func enroll() async {
        guard let authenticator else { return }
        do {
            _ = try await authenticator.enroll(with: .ticket(ticket))
            show(authenticator)
            failure = ""
        } catch {
            failure = "\(error)"
        }
    }

    private func show(_ authenticator: Authenticator) {
        list = PendingListModel(SDKPending(authenticator), biometricPrompt: "Approve a question")
    }
}
