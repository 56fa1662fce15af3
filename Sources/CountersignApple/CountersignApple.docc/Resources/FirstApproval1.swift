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
    @State private var failure = ""

    var body: some View {
        VStack {
            Text(verbatim: authenticator == nil ? "Opening the keys" : "Ready")
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
        } catch {
            failure = "\(error)"
        }
    }
}
