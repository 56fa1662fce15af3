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
                #expect(try await told.once().error == .device(.enrollmentWaiting))
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
                #expect(try await told.once().error == .device(.notEnrolled))
                #expect(try await world.isTrusted() == false)
            }
        }

        @Test("A device is registered once, a device that is none admits none, and none admits one that has not begun")
        func refusals() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                let strange = world.device()
                let isOne = CotterError.trustedDevice("This device is already registered as a trusted device.")
                let noneWaits = CotterError.trustedDevice(
                    "No new device waits. Register it there first, then try again here.")
                let isNone = CotterError.device(.notEnrolled)
                for (screen, call, error) in [
                    (device.screen, device.cotter.registerNewDevice, isOne),
                    (device.screen, device.cotter.scanNewDevice, noneWaits),
                    (strange.screen, strange.cotter.scanNewDevice, isNone),
                    (strange.screen, strange.cotter.removeTrustedDevice, isNone),
                ] {
                    let told = Told()
                    call(screen, told.callback)
                    #expect(try await told.once().error == error)
                    #expect(screen.presentedViewController == nil)
                }
            }
        }

        @Test("A removed device is removed at the server, and its next sign-in asks another device")
        func removed() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                #expect(try await world.isTrusted())
                let told = Told()
                device.cotter.removeTrustedDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(error == nil && token.isEmpty)
                #expect(try await world.isTrusted() == false)
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

        @Test(
            "A device whose enrollment the server has lost is none: it signs in elsewhere, registers anew, or is removed",
            arguments: ["login", "register", "remove"])
        func lost(_ call: String) async throws {
            let (issuer, vault) = ("https://login.example.com", MemoryVault())
            try await CotterWorld.with(issuer: issuer) { world in
                _ = try await world.trustedDevice { $0.vault = vault }
            }
            // The server as an old backup has it.
            try await CotterWorld.with(issuer: issuer) { world in
                let device = world.device { $0.vault = vault }
                #expect(try await world.isTrusted())
                let told = Told()
                switch call {
                case "login":
                    device.cotter.loginWithTrustedDevice(vc: device.screen, cb: told.callback)
                    let (prompt, _) = try await device.number()
                    await prompt.perform(.cancel)
                    #expect(try await told.once().error == .verificationCancelled)
                case "register":
                    device.cotter.registerNewDevice(vc: device.screen, cb: told.callback)
                    let (token, error) = try await told.once()
                    #expect(error == nil && !token.isEmpty)
                default:
                    device.cotter.removeTrustedDevice(vc: device.screen, cb: told.callback)
                    #expect(try await told.once().error == nil)
                }
                #expect(try await world.isTrusted() == (call == "register"))
            }
        }

        @Test("A device is trusted for the user who has registered it, and for no other; it is so after a relaunch")
        func users() async throws {
            try await CotterWorld.with { world in
                let device = try await world.trustedDevice()
                #expect(try await world.isTrusted())
                #expect(try await world.isTrusted(world.user))
                #expect(try await world.isTrusted("other@example.com") == false)
                // The same vault, and everything else made anew.
                Cotter.settings = device.settings
                let relaunched = Cotter(
                    apiSecretKey: "", apiKeyID: "", cotterURL: "\(world.server.issuer)", userID: CotterWorld.address,
                    configuration: [:])
                #expect(try await world.isTrusted())
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
                #expect(try await world.isTrusted())
            }
        }
    }
}
