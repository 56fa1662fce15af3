import Countersign
import CountersignApple
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
    @State private var account = ""
    @State private var failure = ""

    var body: some View {
        VStack {
            if account.isEmpty {
                TextField(text: $ticket) {
                    Text(verbatim: "The text of the ticket")
                }
                .textFieldStyle(.roundedBorder)
                Button {
                    Task { await enroll() }
                } label: {
                    Text(verbatim: "Enroll")
                }
            } else {
                Text(verbatim: "Enrolled as \(account)")
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
            if let enrollment = await opened.enrollments.first { account = "\(enrollment.id)" }
        } catch {
            failure = "\(error)"
        }
    }

    private func enroll() async {
        do {
            guard let enrollment = try await authenticator?.enroll(with: .ticket(ticket)) else { return }
            account = "\(enrollment.id)"
            failure = ""
        } catch {
            failure = "\(error)"
        }
    }
}
