import Cotter
import Countersign
import CountersignPrompts
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Synchronization
import Testing
import UIKitStandIn

/// A vault that does something once, when what was written last is read.
private final class TappedVault: Vault {
    typealias Act = @Sendable () async -> Void

    let storage = KeyStorage.software
    private let base: any Vault = MemoryVault()
    private let state = Mutex<(act: Act?, isWritten: Bool)>((nil, false))

    /// Does something after the first read of the app's records that comes after a write.
    func onRead(_ act: @escaping Act) {
        state.withLock { $0 = (act, false) }
    }

    func appRecord(_ name: String) async throws -> [UInt8]? {
        let record = try await base.appRecord(name)
        let act = state.withLock { state -> Act? in
            guard state.isWritten, let act = state.act else { return nil }
            state = (nil, false)
            return act
        }
        await act?()
        return record
    }

    func writeAppRecord(_ record: [UInt8], as name: String) async throws {
        try await base.writeAppRecord(record, as: name)
        state.withLock { $0.isWritten = true }
    }

    func removeAppRecord(_ name: String) async throws { try await base.removeAppRecord(name) }

    func makeSigningKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any SigningKey {
        try await base.makeSigningKey(role, for: enrollment)
    }

    func makeAgreementKey(_ role: KeyRole, for enrollment: EnrollmentID) async throws -> any AgreementKey {
        try await base.makeAgreementKey(role, for: enrollment)
    }

    func signingKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any SigningKey)? {
        try await base.signingKey(role, of: enrollment)
    }

    func agreementKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws -> (any AgreementKey)? {
        try await base.agreementKey(role, of: enrollment)
    }

    func removeKey(_ role: KeyRole, of enrollment: EnrollmentID) async throws {
        try await base.removeKey(role, of: enrollment)
    }

    func enrollments(with record: String) async throws -> [EnrollmentID] {
        try await base.enrollments(with: record)
    }

    func records(of enrollment: EnrollmentID) async throws -> [String] { try await base.records(of: enrollment) }

    func record(_ name: String, of enrollment: EnrollmentID) async throws -> [UInt8]? {
        try await base.record(name, of: enrollment)
    }

    func write(_ record: [UInt8], as name: String, of enrollment: EnrollmentID) async throws {
        try await base.write(record, as: name, of: enrollment)
    }

    func remove(_ record: String, of enrollment: EnrollmentID) async throws {
        try await base.remove(record, of: enrollment)
    }

    func removeAll(of enrollment: EnrollmentID) async throws { try await base.removeAll(of: enrollment) }
}

extension CotterTests {
    @MainActor
    @Suite("Calls that meet, and an app that ends in the middle of one")
    struct Orders {
        @Test("Whoever signs out in the last moment of signing in is signed out, and is told so once")
        func signedOut() async throws {
            try await CotterWorld.with { world in
                let vault = TappedVault()
                let device = try await world.trustedDevice { $0.vault = vault }
                vault.onRead { await MainActor.run { Cotter.logout() } }
                let told = Told()
                device.cotter.loginWithTrustedDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(token.isEmpty && error == .signIn(.notSignedIn))
                #expect(Cotter.getAccessToken() == nil && Cotter.getLoggedInUserID() == nil)
                let again = Told()
                device.cotter.loginWithTrustedDevice(vc: device.screen, cb: again.callback)
                #expect(try await again.once().error == nil && Cotter.getLoggedInUserID() == world.user)
            }
        }

        @Test(
            "Registrations that the app's end has cut off are gone on with, and no device waits for itself",
            arguments: [1, 2])
        func interrupted(_ times: Int) async throws {
            try await CotterWorld.with { world in
                let vault = MemoryVault()
                let ended = world.device { $0.vault = vault }.settings
                let sdk = try await Authenticator(
                    issuer: try #require(URL(string: "\(world.server.issuer)")), app: try #require(ended.app),
                    vault: vault, transport: ended.transport, clock: ended.clock)
                let first = try await sdk.enroll(with: .ticket(try await world.shop.makeTicket(for: world.user)))
                for _ in 1..<times {
                    let further = try await sdk.enroll(with: .ticket(try await world.shop.makeTicket(for: world.user)))
                    #expect(further.approval != nil)
                }
                // For whom it is was not noted.
                let device = world.device { $0.vault = vault }
                #expect(try await world.isTrusted() == false)
                let told = Told()
                device.cotter.registerNewDevice(vc: device.screen, cb: told.callback)
                let (token, error) = try await told.once()
                #expect(error == nil && !token.isEmpty && device.shown == nil)
                #expect(try await world.isTrusted())
                let list = try await world.shop.call(.GET, "/v1/users/\(world.user)/enrollments").success()
                let present = list["enrollments"]?.array?.filter { $0["state"] != "removed" } ?? []
                #expect(present.map { $0["enrollment"] } == [.string("\(first.id)")], "\(list)")
                #expect(present.map { $0["state"] } == ["active"])
            }
        }

        @Test(
            "Of two registrations at once one makes the device a trusted one, and the other is told that it is one",
            arguments: [false, true])
        func twice(_ isFurther: Bool) async throws {
            try await CotterWorld.with { world in
                let phone = try await isFurther ? world.phone() : nil
                let device = world.device()
                let calls = [Told(), Told()]
                for told in calls { device.cotter.registerNewDevice(vc: device.screen, cb: told.callback) }
                if let phone {
                    let (prompt, number) = try await device.number()
                    _ = try await phone.asked().approve(with: .confirmation, number: number)
                    let further = try #require(prompt.model as? FurtherDeviceModel)
                    while further.state != .active { try await Task.sleep(for: .milliseconds(25)) }
                    await prompt.perform(.close)
                }
                var ends: [(token: String, error: CotterError?)] = []
                for told in calls { ends.append(try await told.once()) }
                let isOne = CotterError.trustedDevice("This device is already registered as a trusted device.")
                #expect(ends.filter { $0.error == nil && !$0.token.isEmpty }.count == 1, "\(ends)")
                #expect(ends.filter { $0.error == isOne && $0.token.isEmpty }.count == 1, "\(ends)")
                #expect(device.shown == nil && Cotter.getLoggedInUserID() == world.user)
                #expect(try await world.isTrusted())
                // No second enrollment was made and removed again.
                let list = try await world.shop.call(.GET, "/v1/users/\(world.user)/enrollments").success()
                let states = list["enrollments"]?.array?.compactMap { $0["state"]?.string } ?? []
                #expect(states == (isFurther ? ["active", "active"] : ["active"]), "\(list)")
            }
        }

        @Test("Two users who register on one phone at once are both noted as users of it")
        func twoUsers() async throws {
            try await CotterWorld.with { world in
                let (shop, user) = (world.shop, world.user)
                let other = try await shop.makeUser("customer-2")
                let device = world.device {
                    $0.ticket = { name in try await shop.makeTicket(for: name == CotterWorld.address ? user : other) }
                }
                let second = Cotter(
                    apiSecretKey: CotterWorld.secret, apiKeyID: shop.clientID, cotterURL: "\(world.server.issuer)",
                    userID: "customer-2", configuration: [:])
                let (one, two) = (Told(), Told())
                device.cotter.registerNewDevice(vc: device.screen, cb: one.callback)
                second.registerNewDevice(vc: device.screen, cb: two.callback)
                #expect(try await one.once().error == nil)
                #expect(try await two.once().error == nil)
                #expect(try await world.isTrusted())
                #expect(try await world.isTrusted("customer-2"))
            }
        }

        @Test(
            "A device whose prompt was closed waits on: with its number, and after a launch without",
            arguments: [false, true])
        func waitsOn(_ isLaunched: Bool) async throws {
            try await CotterWorld.with { world in
                let vault = MemoryVault()
                let phone = try await world.phone()
                var device = world.device { $0.vault = vault }
                let closed = Told()
                device.cotter.registerNewDevice(vc: device.screen, cb: closed.callback)
                let (_, number) = try await device.number()
                device.screen.dismiss(animated: true)
                #expect(try await closed.once().error == .device(.enrollmentWaiting))
                if isLaunched { device = world.device { $0.vault = vault } }
                let told = Told()
                device.cotter.registerNewDevice(vc: device.screen, cb: told.callback)
                let prompt = try await device.prompt()
                let further = try #require(prompt.model as? FurtherDeviceModel)
                #expect(further.state == .waiting(number: isLaunched ? nil : number))
                _ = try await phone.asked().approve(with: .confirmation, number: number)
                while further.state != .active { try await Task.sleep(for: .milliseconds(25)) }
                await prompt.perform(.close)
                #expect(try await told.once().error == nil)
                let again = Told()
                device.cotter.registerNewDevice(vc: device.screen, cb: again.callback)
                let isOne = CotterError.trustedDevice("This device is already registered as a trusted device.")
                #expect(try await again.once().error == isOne)
            }
        }
    }
}
