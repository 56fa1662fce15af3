import Cotter
import Countersign
import CountersignPrompts
import Foundation
import ServerTestSupport
import Testing
import UIKitStandIn

extension CotterTests {
    @MainActor
    @Suite("The app's texts and colours")
    struct Looks {
        @Test("A text of the app's stands in the prompt; other keys, and values of another type, do nothing")
        func texts() async throws {
            try await CotterWorld.with { world in
                let english = English()
                english.setText(for: NonTrustedKey.title, to: "Tippe diese Zahl")
                var settings = CotterSettings()
                settings.clientID = world.shop.clientID
                settings.redirectURI = URL(string: "http://127.0.0.1:50123/callback")
                settings.vault = MemoryVault()
                settings.transport = world.transport()
                Cotter.settings = settings
                let cotter = Cotter(
                    apiSecretKey: CotterWorld.secret, apiKeyID: "", cotterURL: "\(world.server.issuer)",
                    userID: CotterWorld.address,
                    configuration: ["language": english, "colors": "green", "fonts": 12, "name": "Anna"])
                cotter.setText(for: NonTrustedKey.subtitle, to: "Dein Telefon fragt danach.")
                cotter.setText(for: QRScannerViewControllerKey.title, to: "nowhere")
                let screen = UIViewController()
                let told = Told()
                cotter.loginWithTrustedDevice(vc: screen, cb: told.callback)
                var shown = (screen.presentedViewController as? PromptController)?.screen
                while shown?.code == nil {
                    try await Task.sleep(for: .milliseconds(10))
                    shown = (screen.presentedViewController as? PromptController)?.screen
                }
                #expect(shown?.heading == "Tippe diese Zahl" && shown?.paragraphs == ["Dein Telefon fragt danach."])
                screen.dismiss(animated: true)
                #expect(try await told.once().error == .verificationCancelled)
            }
        }

        @Test("A colour is a UIColor, a number or a text, and a text that is none is no colour")
        func colors() {
            let green = UIColor(red: 0x21 / 255, green: 0xCE / 255, blue: 0x99 / 255, alpha: 1)
            for value in [green, 0x21CE99, "#21CE99", "21ce99"] as [any ColorValue] {
                #expect(ColorSchemeObject(primary: value).primary == green, "\(value)")
            }
            for value in ["", "#21CE9", "#21CE99FF", "green!", "#２１CE99"] {
                #expect(ColorSchemeObject(danger: value).danger == nil, "\(value)")
            }
            #expect(ColorSchemeObject().primary == nil)
        }

        @Test("An error says what happened, and that of the network is told apart")
        func errors() {
            #expect(CotterError.network.localizedDescription == "The network failed.")
            #expect(CotterError.status(code: 502).localizedDescription.contains("502"))
            #expect(CotterError.trustedDevice("No device.").localizedDescription == "No device.")
        }
    }
}
