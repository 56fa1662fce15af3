import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Foundation
import ServerTestSupport
import Testing
import UIKitStandIn

/// The calls share what an app configures once: these tests run one after the other.
@Suite("Cotter's calls at the real server", .serialized, .timeLimit(.minutes(15)))
enum CotterTests {}

extension CotterTests {
    @MainActor
    @Suite("Signing in by a trusted device")
    struct Login {
        @Test("A trusted device is let in at once, nothing is shown, and the secret key is sent nowhere")
        func trusted() async throws {
            try await CotterWorld.with { world in
                let transport = world.transport()
                let device = try await world.trustedDevice { $0.transport = transport }
                let told = Told()
                device.cotter.loginWithTrustedDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(error == nil && !token.isEmpty && device.shown == nil)
                #expect(Cotter.getAccessToken() == token && Cotter.getLoggedInUserID() == world.user)
                #expect(try await Cotter.accessToken().reveal() == token)
                #expect(!transport.requests.isEmpty)
                for request in transport.requests {
                    let headers = request.headers.map { "\($0.key): \($0.value)" }.joined()
                    let all = "\(request.url)\(headers)\(String(decoding: request.body ?? [], as: UTF8.self))"
                    #expect(!all.contains(CotterWorld.secret), "\(request.url)")
                }
            }
        }

        @Test("On another device the number, typed on the trusted one, signs in")
        func elsewhere() async throws {
            try await CotterWorld.with { world in
                let trusted = try await world.trustedDevice()
                let other = world.device()
                let told = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: told.callback)
                let (waiting, number) = try await other.number()
                let (prompt, model, asked) = try await trusted.question {
                    trusted.cotter.getEventTrustedDevice(vc: trusted.screen, cb: $0)
                }
                #expect(told.calls.isEmpty && other.shown === waiting)
                model.type(number: number)
                await prompt.perform(.approve)
                #expect(model.state == .approved(PromptApproval()))
                let (token, error) = try await told.once()
                #expect(error == nil && !token.isEmpty && other.shown == nil)
                #expect(asked.calls.isEmpty)
                await prompt.perform(.close)
                let ended = try await asked.once()
                #expect(ended.error == nil && ended.token.isEmpty && trusted.shown == nil)
            }
        }

        @Test("A no ends it at once; what is said closes itself, and the callback has the error")
        func declined() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let other = world.device()
                let told = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: told.callback)
                let (prompt, _) = try await other.number()
                try await phone.asked().deny()
                let (token, error) = try await told.once()
                #expect(error == .signIn(.signInRefused(.declined)))
                #expect(token.isEmpty && other.shown == nil)
                #expect((prompt.model as? WaitingModel)?.state == .closed)
                #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == nil)
            }
        }

        @Test("It lasts for a minute, says so for three seconds, and nothing is left to answer")
        func expired() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let clock = QuickClock()
                let other = world.device { $0.promptClock = clock }
                let told = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(error == .signIn(.signInRefused(.expired)))
                #expect(token.isEmpty && other.shown == nil)
                #expect(clock.waits.last == WaitingModel.closing && WaitingModel.closing == .seconds(3))
                #expect(WaitingModel.longest == .seconds(60))
                #expect(try await phone.pendingChallenges().isEmpty)
            }
        }

        @Test("Whoever gives up, by the button or by sweeping it away, is told so once", arguments: [true, false])
        func givenUp(_ isByButton: Bool) async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let other = world.device()
                let told = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: told.callback)
                let (prompt, _) = try await other.number()
                if isByButton { await prompt.perform(.cancel) } else { other.screen.dismiss(animated: true) }
                let (token, error) = try await told.once()
                #expect(token.isEmpty && error == .verificationCancelled && other.shown == nil)
                #expect(try await phone.pendingChallenges().isEmpty)
            }
        }

        @Test("Nothing waits: nothing is shown, and the callback is called all the same, if there is one")
        func nothing() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                device.cotter.getEventTrustedDevice(vc: device.screen, cb: nil)
                let told = Told()
                device.cotter.getEventTrustedDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(token.isEmpty && error == nil && device.shown == nil)
            }
        }

        @Test("A sign-in by a trusted device outlives its access token: the device signs anew, once for all who ask")
        func renewed() async throws {
            try await CotterWorld.with { world in
                let transport = world.transport()
                let device = try await world.trustedDevice { $0.transport = transport }
                let first = try #require(Cotter.getAccessToken())
                world.server.clock.advance(seconds: 3600)
                let before = transport.tokenForms
                #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == world.user)
                async let one = Cotter.accessToken()
                async let other = Cotter.accessToken()
                let (second, third) = try await (one.reveal(), other.reveal())
                #expect(second == third && second != first && transport.tokenForms == before + 1)
                #expect(Cotter.getAccessToken() == second && device.shown == nil)
                // After a relaunch, too.
                world.server.clock.advance(seconds: 3600)
                _ = relaunch(device, at: world)
                while Cotter.getAccessToken() == nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(Cotter.getLoggedInUserID() == world.user && transport.tokenForms == before + 2)
            }
        }

        @Test("While the network is away the person stays signed in, and a call after it is back renews the token")
        func away() async throws {
            try await CotterWorld.with { world in
                let transport = world.transport()
                let device = try await world.trustedDevice { $0.transport = transport }
                world.server.clock.advance(seconds: 3600)
                transport.fail()
                for isRelaunched in [false, true] {
                    if isRelaunched { _ = relaunch(device, at: world) }
                    #expect(try await accessTokenError() == "network")
                    #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == world.user)
                }
                transport.fail(false)
                while Cotter.getAccessToken() == nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(Cotter.getLoggedInUserID() == world.user)
            }
        }

        @Test("Nothing signs anew after signing out, nor for a device that was removed", arguments: [true, false])
        func ended(_ isByPerson: Bool) async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                if isByPerson {
                    Cotter.logout()
                } else {
                    let told = Told()
                    device.cotter.removeTrustedDevice(vc: device.screen, cb: told.callback)
                    try #require(try await told.once().error == nil)
                }
                world.server.clock.advance(seconds: 3600)
                #expect(try await accessTokenError() == "not_signed_in")
                #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == nil)
            }
        }

        @Test("Whoever has signed in by another device signs in again when the access token is over")
        func notHere() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let other = world.device()
                let told = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: told.callback)
                let (_, number) = try await other.number()
                _ = try await phone.asked().approve(with: .confirmation, number: number)
                #expect(try await told.once().error == nil && Cotter.getLoggedInUserID() == world.user)
                world.server.clock.advance(seconds: 3600)
                #expect(try await accessTokenError() == "not_signed_in")
                #expect(Cotter.getLoggedInUserID() == nil)
            }
        }

        /// The app on the same device, started anew.
        private func relaunch(_ device: CotterDevice, at world: CotterWorld) -> Cotter {
            Cotter.settings = device.settings
            return Cotter(
                apiSecretKey: "", apiKeyID: "", cotterURL: "\(world.server.issuer)", userID: CotterWorld.address,
                configuration: [:])
        }

        /// The code of the error of asking for an access token.
        private func accessTokenError() async throws -> String {
            do throws(CountersignError) {
                _ = try await Cotter.accessToken()
            } catch {
                return error.code
            }
            throw CancellationError()
        }

        @Test("Without a network every callback is called once, with the error")
        func offline() async throws {
            try await CotterWorld.with { world in
                let transport = world.transport()
                let device = try await world.trustedDevice { $0.transport = transport }
                let strange = world.device("other@example.com") { $0.transport = transport }
                transport.fail()
                for (cotter, screen) in [(device.cotter, device.screen), (strange.cotter, strange.screen)] {
                    var all: [Told] = []
                    for call in [
                        cotter.loginWithTrustedDevice, cotter.registerNewDevice, cotter.scanNewDevice,
                        cotter.removeTrustedDevice,
                    ] {
                        let told = Told()
                        call(screen, told.callback)
                        all.append(told)
                        // One prompt at a time.
                        _ = try await told.once()
                    }
                    let told = Told()
                    cotter.getEventTrustedDevice(vc: screen, cb: told.callback)
                    _ = try await told.once()
                    for told in all + [told] {
                        #expect(told.calls.count == 1 && told.calls[0].token.isEmpty && told.calls[0].error != nil)
                    }
                }
            }
        }
    }
}
