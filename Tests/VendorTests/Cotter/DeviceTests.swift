import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import UIKitStandIn

extension CotterTests {
    @MainActor
    @Suite("Making a device a trusted one, and taking that back")
    struct Devices {
        @Test("A further device shows a number; typed on the trusted one, it makes the device one")
        func further() async throws {
            try await CotterWorld.with { world in
                let trusted = try await world.trustedDevice()
                let other = world.device()
                let told = Told()
                other.cotter.registerNewDevice(vc: other.screen, cb: told.callback)
                let (waiting, number) = try await other.number()
                let (prompt, model, asked) = try await trusted.question {
                    trusted.cotter.scanNewDevice(vc: trusted.screen, cb: $0)
                }
                model.type(number: number)
                await prompt.perform(.approve)
                await prompt.perform(.close)
                let ended = try await asked.once()
                #expect(ended.error == nil && ended.token.isEmpty)
                let further = try #require(waiting.model as? FurtherDeviceModel)
                while further.state != .active { try await Task.sleep(for: .milliseconds(25)) }
                #expect(told.calls.isEmpty)
                await waiting.perform(.close)
                let (token, error) = try await told.once()
                #expect(error == nil && !token.isEmpty && other.shown == nil)
            }
        }

        @Test("A further device whose screen is swept away waits, and its sign-in asks a trusted one")
        func waiting() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let other = world.device()
                let told = Told()
                other.cotter.registerNewDevice(vc: other.screen, cb: told.callback)
                _ = try await other.number()
                other.screen.dismiss(animated: true)
                guard case .trustedDevice? = try await told.once().error else { throw CancellationError() }
                let signIn = Told()
                other.cotter.loginWithTrustedDevice(vc: other.screen, cb: signIn.callback)
                let (prompt, _) = try await other.number()
                #expect(prompt.model is WaitingModel)
                await prompt.perform(.cancel)
                #expect(try await signIn.once().error == .verificationCancelled)
                #expect(try await phone.pendingChallenges().allSatisfy { $0.type == "\(TypeName.newDevice)" })
            }
        }

        @Test("A device that no trusted one lets in is none, and is told so")
        func refused() async throws {
            try await CotterWorld.with { world in
                let phone = try await world.phone()
                let other = world.device()
                let told = Told()
                other.cotter.registerNewDevice(vc: other.screen, cb: told.callback)
                let (waiting, _) = try await other.number()
                try await phone.asked().deny()
                let further = try #require(waiting.model as? FurtherDeviceModel)
                while further.state != .refused { try await Task.sleep(for: .milliseconds(25)) }
                await waiting.perform(.close)
                guard case .trustedDevice? = try await told.once().error else { throw CancellationError() }
                #expect(try await isTrusted(CotterWorld.address) == false)
            }
        }

        @Test("A device is registered once, a device that is none admits none, and none admits one that has not begun")
        func refusals() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                let strange = world.device()
                for (cotter, screen, call) in [
                    (device.cotter, device.screen, device.cotter.registerNewDevice),
                    (device.cotter, device.screen, device.cotter.scanNewDevice),
                    (strange.cotter, strange.screen, strange.cotter.scanNewDevice),
                    (strange.cotter, strange.screen, strange.cotter.removeTrustedDevice),
                ] {
                    let told = Told()
                    call(screen, told.callback)
                    guard case .trustedDevice? = try await told.once().error else { throw CancellationError() }
                    #expect(cotter.userID == CotterWorld.address && screen.presentedViewController == nil)
                }
            }
        }

        @Test("A removed device is removed at the server, and its next sign-in asks another device")
        func removed() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                #expect(try await isTrusted(CotterWorld.address))
                let told = Told()
                device.cotter.removeTrustedDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(error == nil && token.isEmpty)
                #expect(try await isTrusted(CotterWorld.address) == false)
                let devices = try await world.shop.call(.GET, "/v1/users/\(world.user)/enrollments").success()
                let isActive = devices["enrollments"]?.array?.contains { $0["state"] == "active" }
                #expect(isActive == false, "\(devices)")
                let signIn = Told()
                device.cotter.loginWithTrustedDevice(vc: device.screen, cb: signIn.callback)
                let (prompt, _) = try await device.number()
                await prompt.perform(.cancel)
                #expect(try await signIn.once().error == .verificationCancelled)
            }
        }

        @Test("A device is trusted for the user who has registered it, and for no other; it is so after a relaunch")
        func users() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                #expect(try await isTrusted(CotterWorld.address))
                #expect(try await isTrusted(world.user))
                #expect(try await isTrusted("other@example.com") == false)
                // The same vault, and everything else made anew.
                Cotter.settings = device.settings
                let relaunched = Cotter(
                    apiSecretKey: "", apiKeyID: "", cotterURL: "\(world.server.issuer)", userID: CotterWorld.address,
                    configuration: [:])
                #expect(try await isTrusted(CotterWorld.address))
                while Cotter.getAccessToken() == nil { try await Task.sleep(for: .milliseconds(10)) }
                #expect(Cotter.getLoggedInUserID() == world.user)
                let told = Told()
                relaunched.loginWithTrustedDevice(vc: device.screen, cb: told.callback)
                #expect(try await told.once().error == nil)
            }
        }

        @Test("Signing out forgets the tokens at once, and has the server take them back")
        func logout() async throws {
            try await CotterWorld.with { world in
                let transport = world.transport()
                _ = try await world.trustedDevice { $0.transport = transport }
                #expect(Cotter.getAccessToken() != nil)
                Cotter.logout()
                #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == nil)
                while !transport.requests.contains(where: { $0.url.path.hasSuffix("/revoke") }) {
                    try await Task.sleep(for: .milliseconds(10))
                }
                #expect(try await isTrusted(CotterWorld.address))
            }
        }

        /// Whether this device is a trusted one of a user of the app.
        private func isTrusted(_ userID: String) async throws -> Bool {
            try await withCheckedThrowingContinuation { continuation in
                CotterAPIService.shared.getTrustedDeviceStatus(clientUserID: userID) { result in
                    continuation.resume(with: result.map(\.enrolled).mapError { $0 as any Error })
                }
            }
        }
    }
}
