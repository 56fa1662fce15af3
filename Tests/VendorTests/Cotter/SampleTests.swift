import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Crypto
import Encodings
import Foundation
import ServerTestSupport
import Testing
import UIKitStandIn
import VendorSnippets

extension CotterTests {
    @MainActor
    @Suite("The samples of Cotter's documents, as scripts/seed-snippets cuts them")
    struct Samples {
        @Test("000/01 and 000/04: the screen on another device signs in by the one on the trusted device")
        func screens() async throws {
            try await CotterWorld.with(issuer: "https://www.cotter.app") { world in
                // The samples name a server and a client; the app names its client at this server besides.
                let trusted = try await world.trustedDevice()
                let checking = S000x04.screen()
                let other = world.device()
                Cotter.settings = other.settings
                let signingIn = S000x01.screen()
                S000x01.tap(signingIn)
                let number = try await self.number(on: signingIn)
                while checking.presentedViewController == nil {
                    S000x04.tap(checking)
                    // What is asked may not be there yet; and each tap looks once.
                    for _ in 0..<300 where checking.presentedViewController == nil {
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
                let prompt = try #require(checking.presentedViewController as? PromptController)
                let model = try #require(prompt.model as? ApprovePromptModel)
                while model.question == nil { try await Task.sleep(for: .milliseconds(10)) }
                try await Task.sleep(for: ApprovePromptModel.readingTime + .milliseconds(50))
                model.type(number: number)
                await prompt.perform(.approve)
                #expect(model.state == .approved(PromptApproval()))
                while signingIn.segues.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
                #expect(signingIn.segues == ["segueToDashboard"] && signingIn.presentedViewController == nil)
                #expect(Cotter.getLoggedInUserID() == world.user)
                await prompt.perform(.close)
                #expect(checking.presentedViewController == nil && trusted.shown == nil)
            }
        }

        @Test("000/01: a no on the trusted device leads to the error, once the prompt has closed itself")
        func declined() async throws {
            try await CotterWorld.with(issuer: "https://www.cotter.app") { world in
                let phone = try await world.phone()
                _ = world.device()
                let screen = S000x01.screen()
                S000x01.tap(screen)
                _ = try await number(on: screen)
                try await phone.asked().deny()
                while screen.segues.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
                #expect(screen.segues == ["segueToErrorView"] && screen.presentedViewController == nil)
            }
        }

        @Test("000/01: on a trusted device the same call is let in at once")
        func trusted() async throws {
            try await CotterWorld.with(issuer: "https://www.cotter.app") { world in
                _ = try await world.trustedDevice()
                let screen = S000x01.screen()
                S000x01.tap(screen)
                while screen.segues.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
                #expect(screen.segues == ["segueToDashboard"] && screen.presentedViewController == nil)
            }
        }

        @Test("000/05: the callback goes on to one screen or the other")
        func callback() {
            let screen = S000x05()
            screen.finalAuthCallback("token", nil)
            screen.finalAuthCallback("", CotterError.network)
            #expect(screen.segues == ["segueToDashboard", "segueToErrorView"])
        }

        @Test("002/01, 002/02: the verifier has 43 characters, and the challenge is its hash, as RFC 7636 §4.2 has it")
        func proofKey() throws {
            let verifier = S002x01()
            #expect(verifier.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil)
            #expect(S002x02(verifier) == Base64URL.encode(Array(SHA256.hash(data: Array(verifier.utf8)))))
        }

        @Test("002/03: the page is opened in the system's session")
        func page() {
            let screen = S002x03()
            screen.open()
            #expect(screen.authSession?.isStarted == true && screen.authSession?.scheme == "yourapp://")
            #expect(screen.authSession?.url.host() == "js.cotter.app")
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
