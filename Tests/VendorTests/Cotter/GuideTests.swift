import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Foundation
import ServerTestSupport
import Testing
import UIKitStandIn
import VendorSnippets

extension CotterTests {
    @MainActor
    @Suite("The program of the guide for apps with Cotter's SDK, as scripts/seed-snippets cuts it")
    struct Guide {
        @Test("It signs in by a trusted device, finds nothing that waits, and has header fields for its own server")
        func program() async throws {
            try await CotterWorld.with(issuer: "https://login.example.com") { world in
                let phone = try await world.phone()
                let settings = world.device().settings
                CotterGuide.start()
                #expect(Cotter.settings.issuer?.absoluteString == "\(world.server.issuer)")
                // The client is not the guide's; vault, network and clock are the test's already.
                Cotter.settings.clientID = settings.clientID
                Cotter.settings.redirectURI = settings.redirectURI
                let screen = CotterGuide.screen()
                CotterGuide.logIn(screen)
                let number = try await self.number(on: screen)
                _ = try await phone.asked().approve(with: .confirmation, number: number)
                while Cotter.getLoggedInUserID() == nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(Cotter.getLoggedInUserID() == world.user)
                while screen.presentedViewController != nil { try await Task.sleep(for: .milliseconds(10)) }
                let url = try #require(URL(string: "https://api.example.com/orders"))
                let fields = try await CotterGuide.fields(url)
                let token = try #require(Cotter.getAccessToken())
                #expect(fields["Authorization"]?.hasSuffix(" \(token)") == true)
                CotterGuide.check(screen)
                try await Task.sleep(for: .milliseconds(100))
                #expect(screen.presentedViewController == nil)
            }
        }

        /// The number on a screen, as soon as it is there.
        private func number(on screen: UIViewController) async throws -> String {
            while true {
                if let code = (screen.presentedViewController as? PromptController)?.screen.code {
                    return code.written.filter(\.isNumber)
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
