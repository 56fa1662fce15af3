import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

/// Two phones of one user, each an app of its own.
private struct TwoPhones: Sendable {
    let scene: SDKScene
    let old: Enrollment
    let new: Enrollment
    let newApp: Authenticator

    static func with(_ body: @escaping @Sendable (TwoPhones) async throws -> Void) async throws {
        try await SDKScene.with { scene in
            let app = try await SDKScene.authenticator(scene.server, MemoryVault(), scene.transport, scene.clock)
            let new = try await app.enroll(with: .ticket(try await scene.shop.makeTicket(for: scene.user)))
            try await body(TwoPhones(scene: scene, old: scene.enrollment, new: new, newApp: app))
        }
    }
}

@Suite("An app sees, suspends, resumes and removes the user's other devices")
struct OthersTests {
    @Test("Without a PIN a tap is enough; a suspended device is told so, answers nothing, and can remove itself")
    func suspend() async throws {
        try await TwoPhones.with { phones in
            let others = try await phones.old.otherDevices()
            #expect(others.devices.map(\.enrollment) == [phones.new.id] && !others.needsMethod)
            #expect(others.devices[0].device.name.text == "Test phone" && others.devices[0].state == .active)
            try await phones.old.suspend(phones.new.id)
            #expect(try await phones.new.status().state == .suspended)
            #expect(try await phones.new.status().suspendedAt != nil)
            #expect(await code { _ = try await phones.newApp.pendingChallenges() } == "enrollment_suspended")
            #expect(await code { _ = try await phones.new.otherDevices() } == "enrollment_suspended")
            try await phones.old.resume(phones.new.id)
            #expect(try await phones.new.status().state == .active)
            #expect(try await phones.newApp.pendingChallenges().isEmpty)
            try await phones.old.suspend(phones.new.id)
            try await phones.new.remove()
            #expect(try await phones.old.otherDevices().devices.isEmpty)
        }
    }

    @Test("With a PIN its signature is needed: a wrong one counts, none is told what is needed, the right one removes")
    func remove() async throws {
        try await TwoPhones.with { phones in
            try await phones.old.setPIN(try PIN("83517"))
            #expect(try await phones.old.otherDevices().needsMethod)
            #expect(await code { try await phones.old.remove(phones.new.id) } == "pin_required")
            #expect(
                await code { try await phones.old.remove(phones.new.id, with: .pin(try PIN("83518"))) }
                    == "pin_incorrect")
            let scene = phones.scene
            let app = try await SDKScene.authenticator(scene.server, MemoryVault(), scene.transport, scene.clock)
            let third = try await app.enroll(with: .ticket(try await scene.shop.makeTicket(for: scene.user)))
            #expect(await code { try await phones.new.remove(third.id) } == "method_needed")
            #expect(
                await code { try await phones.old.remove(phones.new.id, with: .confirmation) }
                    == "configuration_invalid")
            try await phones.old.remove(phones.new.id, with: .pin(try PIN("83517")))
            do throws(CountersignError) {
                try await phones.new.refresh()
                Issue.record("it is there")
            } catch .deviceDeregistered(let removal) {
                #expect(removal.reason == "removed_by_other_device" && removal.kind == .userDisenrolled)
            } catch {
                Issue.record("\(error)")
            }
            #expect(await code { try await phones.old.remove(phones.new.id, with: .pin(try PIN("83517"))) } != "")
        }
    }

    @Test("A method that another device has set and that waits is seen, and undone without any method")
    func undo() async throws {
        try await TwoPhones.with { phones in
            let client = "/v1/admin/clients/\(phones.scene.shop.clientID)"
            _ = try await phones.scene.server.administrator.call(
                .PATCH, client, ["waive_enrollment_approval": false]
            ).success()
            phones.scene.server.clock.advance(seconds: 601)
            let ticket = try await phones.scene.shop.makeTicket(for: phones.scene.user)
            try await phones.new.setPIN(try PIN("83517"), authority: .ticket(ticket))
            #expect(try await phones.new.methods().waiting[.pin] != nil)
            #expect(try await phones.new.status().waitingMethods[.pin] != nil)
            let seen = try #require(try await phones.old.otherDevices().devices.first)
            #expect(seen.waiting[.pin] != nil)
            try await phones.old.undo(.pin, of: phones.new.id)
            #expect(try await phones.new.methods().pin == .none)
            #expect(await code { try await phones.old.undo(.pin, of: phones.new.id) } == "enrollment_not_found")
        }
    }
}
