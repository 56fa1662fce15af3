import CountersignStorage
import CountersignWire
import Encodings
import RelyingPartyAPI
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("One outcome, also where one node's clock is ahead of the others'")
struct ToldExpiredTests {
    /// Who is told that a challenge is over.
    enum Way: String, CaseIterable, Sendable {
        case open, answer, claim, showCode, bringBack, resend, cancel, enterCode, watch
    }

    @Test(
        "Who is told that a challenge is over, is told how it has ended: none has another outcome after",
        arguments: Way.allCases)
    func isWritten(_ way: Way) async throws {
        let scene = try await ClaimScene()
        let (world, shop) = (scene.world, scene.shop)
        try await world.makeType(numberEntry: false)
        var request = try world.request(for: scene.user)
        switch way {
        case .claim, .showCode: request = try world.request(for: nil, type: "scan")
        case .bringBack:
            request = try world.request(for: nil, type: "scan")
            request.returnURI = ReturnURI(stored: ClaimScene.returnURI)
        case .enterCode:
            let type = try ChallengeType(
                ["text_code": true, "clients": [.string("\(shop.id)")]], name: try #require(TypeName("sms")))
            try await SetType.set(type, by: shop.actor, ports: world.ports)
            request = try world.request(for: scene.user, type: "sms")
            request.phone = PhoneNumber("+15551234567")
        default: break
        }
        let asked = try await world.ask(request, by: scene.shop)
        let id = asked.challenge.id
        if way == .answer { try await scene.device.open(id) }

        // As a node sees it whose clock is ahead.
        world.time.advance(seconds: 3600)
        let told: String
        switch way {
        case .open:
            let outcome = try await OpenChallenge.open(id, for: try await scene.device.call(), ports: world.ports)
            guard case .alreadyEnded(let status) = outcome else { throw World.Broken("open: \(outcome)") }
            told = status.state
        case .answer:
            let message = try await scene.device.receipt(of: asked, .denied)
            told = try await scene.device.answer(id, with: message).summary
        case .claim: told = try await scene.claim(try #require(asked.code).code, by: scene.device)
        case .showCode: told = try await scene.shown(id)
        case .bringBack:
            told = try await ReturnChallenge.present(Secret("0"), for: id, by: shop.caller, ports: world.ports).summary
        case .resend:
            let outcome = try await ResendChallenge.resend(id, by: shop.caller, ports: world.ports)
            guard case .alreadyEnded(let status) = outcome else { throw World.Broken("resend: \(outcome)") }
            told = status.state
        case .cancel:
            let outcome = try await CancelChallenge.cancel(id, by: shop.caller, ports: world.ports)
            guard case .alreadyEnded(let status) = outcome else { throw World.Broken("cancel: \(outcome)") }
            told = status.state
        case .enterCode:
            let code = EntryNumber(value: 471_932)
            let outcome = try await EnterCode.enter(code, for: id, by: shop.caller, ports: world.ports)
            guard case .alreadyEnded(let status) = outcome else { throw World.Broken("enter: \(outcome)") }
            told = status.state
        case .watch:
            let shown = try await WatchChallenge.shown(id, to: scene.shop, ports: world.ports)
            told = try #require(shown).challenge.state.status.state
        }
        #expect(told.contains("expired"))
        let kept = try await world.store.read { try $0.challenges.find(id) }
        #expect(kept?.state == .ended(.expired, at: world.time.now))
        #expect(try await world.audit().filter { $0.challenge == id }.last?.kind == .challengeExpired)

        // And another whose clock is right.
        world.time.advance(seconds: -3600)
        guard case .alreadyEnded(let status) = try await CancelChallenge.cancel(id, by: shop.caller, ports: world.ports)
        else {
            Issue.record("cancelled")
            return
        }
        #expect(status.state == "expired")
    }
}
