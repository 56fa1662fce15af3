import Countersign
import CountersignPrompts
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

/// A phone of the SDK's, enrolled at a real server.
private struct RealPhone: Sendable {
    let shop: Caller
    let user: String
    let authenticator: Authenticator
    let enrollment: Enrollment
    let other: Enrollment

    static func with(_ body: @escaping @Sendable (RealPhone) async throws -> Void) async throws {
        try await TestServer.with { server in
            let type: JSONValue = [
                "methods": ["pin"], "max_pending": 1000, "max_asks": 1000, "denial_pause": 0, "number_entry": true,
            ]
            _ = try await server.administrator.call(.PUT, "/v1/admin/types/typed", type).success()
            let shop = try await server.makeClient(
                "ACME Shop", ["waive_enrollment_approval": true, "pin_policy": ["cost": 15]])
            let user = try await shop.makeUser("customer-1")
            let issuer = try #require(URL(string: "\(server.issuer)"))
            let app = AppDescription(name: "Acme", version: "3.1", deviceName: "Test phone")
            let authenticator = try await Authenticator(issuer: issuer, app: app, vault: MemoryVault())
            let second = try await Authenticator(issuer: issuer, app: app, vault: MemoryVault())
            let enrollment = try await authenticator.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            let other = try await second.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            try await body(
                RealPhone(
                    shop: shop, user: user, authenticator: authenticator, enrollment: enrollment, other: other))
        }
    }

    /// Sets the PIN as a person does.
    @MainActor
    func setPIN() async {
        let pad = PINPadModel(SDKPIN(enrollment))
        await pad.load()
        #expect(pad.rules.length == 5...32)
        for _ in 0..<2 {
            pad.type("83517")
            await pad.perform(.submit)
        }
        #expect(pad.state == .done)
    }

    /// Approves by number and PIN, the second time with the right one.
    @MainActor
    func approve() async throws {
        let asked = try await shop.ask(
            user, ["type": "typed", "details": [["label": "Amount", "value": "EUR 1,250.00"]]])
        let id = try #require(asked["id"]?.string)
        let clock = HandClock()
        let list = PendingListModel(SDKPending(authenticator), biometricPrompt: "Pay", clock: clock)
        await list.refresh()
        #expect(list.screen(PromptTexts(.english)).buttons.map(\.act) == [.open(id)])
        await list.perform(.open(id))
        let prompt = try #require(list.current)
        await prompt.load()
        let question = try #require(prompt.question)
        #expect(question.client == "ACME Shop" && question.numberLength == 6 && question.methods == [.pin])
        #expect(question.details == [PromptFact(label: "Amount", value: "EUR 1,250.00")])
        #expect(question.timeLeft > .seconds(10) && !question.signedLines.isEmpty)
        clock.advance(ApprovePromptModel.readingTime)
        prompt.type(number: asked["number"]?.string ?? "")
        await prompt.perform(.approve)
        prompt.type(pin: "71538")
        await prompt.perform(.submit)
        #expect(prompt.state == .typingPIN(.wrong(attemptsLeft: 4)))
        prompt.type(pin: "83517")
        await prompt.perform(.submit)
        #expect(prompt.state == .approved(PromptApproval()))
        let status = try await shop.call(.GET, "/v1/challenges/\(id)").success()
        #expect(status["state"]?.string == "approved")
        await list.perform(.close)
        await list.refresh()
        #expect(list.state == .empty)
    }

    /// Suspends and removes the other device.
    @MainActor
    func endOther() async throws {
        let clock = HandClock()
        let devices = DevicesModel(
            SDKDevices(enrollment, named: "Test phone"), biometricPrompt: "Do it", clock: clock)
        await devices.load()
        let id = "\(other.id)"
        for act in [PromptAct.suspend(id), .remove(id)] {
            await devices.perform(act)
            clock.advance(ApprovePromptModel.readingTime)
            await devices.perform(.goOn)
            devices.type(pin: "83517")
            await devices.perform(.submit)
            guard case .list(let list, let done) = devices.state else {
                Issue.record("\(devices.state)")
                return
            }
            #expect(done?.device.id == id && list.rows.first?.isThisOne == true && list.proofs == [.pin])
            let standings: [DeviceRow.Standing] = act == .suspend(id) ? [.suspended] : []
            #expect(list.rows.dropFirst().map(\.standing) == standings)
        }
    }
}

@Suite("The prompts against a real server", .timeLimit(.minutes(15)))
struct RealServerTests {
    @Test("A person sets a PIN, and approves by it a question from the list")
    func approve() async throws {
        try await RealPhone.with { phone in
            await phone.setPIN()
            try await phone.approve()
        }
    }

    @Test("A person suspends and removes another device, by the PIN")
    func devices() async throws {
        try await RealPhone.with { phone in
            await phone.setPIN()
            try await phone.endOther()
        }
    }

    @Test("A further device shows its number, also after its screen was closed, until the earlier one has typed it")
    func furtherDevice() async throws {
        try await TestServer.with { server in
            let shop = try await server.makeClient()
            let user = try await shop.makeUser("customer-1")
            let issuer = try #require(URL(string: "\(server.issuer)"))
            let app = AppDescription(name: "Acme", version: "3.1", deviceName: "Test phone")
            let authenticator = try await Authenticator(issuer: issuer, app: app, vault: MemoryVault())
            let vault = MemoryVault()
            let second = try await Authenticator(issuer: issuer, app: app, vault: vault)
            let first = try await authenticator.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            #expect(try await FurtherDeviceModel.waiting(first) == nil)
            let further = try await second.enroll(with: .ticket(try await shop.makeTicket(for: user)))
            let number = try #require(further.approval?.number)
            let shown = try #require(await FurtherDeviceModel(further))
            #expect(await shown.state == .waiting(number: number))
            let again = try #require(try await FurtherDeviceModel.waiting(further))
            #expect(await again.state == .waiting(number: number))
            #expect(await again.activeFrom == shown.activeFrom)
            let restarted = try await Authenticator(issuer: issuer, app: app, vault: vault)
            let kept = try #require(await restarted.enrollments.first)
            #expect(try await FurtherDeviceModel.waiting(kept)?.state == .waiting(number: nil))
            let pending = try #require(try await authenticator.pendingChallenges().first)
            _ = try await pending.open().approve(with: .confirmation, number: number)
            await again.look()
            #expect(await again.state == .active)
            #expect(try await FurtherDeviceModel.waiting(kept) == nil)
        }
    }

    @Test("What is scanned is told apart, and the code of nobody is refused")
    func scanned() async throws {
        try await RealPhone.with { phone in
            let reader = SDKScanReader(phone.enrollment, of: phone.authenticator)
            let ticket = try await phone.shop.makeTicket(for: phone.user)
            #expect(reader.kind(of: ticket) == .ticket)
            #expect(reader.kind(of: "https://elsewhere.example") == .unknown)
            let scanner = await ScannerModel(reader)
            await scanner.scanned("https://elsewhere.example")
            #expect(await scanner.state == .refused(.unknown))
        }
    }
}
