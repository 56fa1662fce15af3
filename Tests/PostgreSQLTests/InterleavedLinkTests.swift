import CountersignStorage
import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

/// What a device has opened by a link, with the answers that it could give.
private struct OpenedLink: Sendable {
    let id: ChallengeID
    let shop: Client
    let approval: Interleaving.Operation
    let denial: Interleaving.Operation
    let cancellation: Interleaving.Operation
    let removal: Interleaving.Operation

    init(in world: World) async throws {
        let back = "https://shop.example.com/back"
        let shop = try await world.makeClient(waives: true, returns: [back]).client
        self.shop = shop
        let device = try await world.makeDevice(of: try await world.makeUser(of: shop), by: shop)
        var request = try world.request(for: nil, type: "scan")
        request.returnURI = ReturnURI(stored: back)
        let asked = try await world.ask(request, by: shop)
        let id = asked.challenge.id
        self.id = id
        let code = try #require(asked.code).code
        _ = try await ClaimChallenge.claim(code, by: try await device.call(), ports: world.ports)
        try await device.open(id)
        func answer(_ decision: Decision) async throws -> Interleaving.Operation {
            let message = try await device.receipt(of: asked, decision)
            let call = try await device.call()
            return { ports in
                let outcome = try await AnswerChallenge.answer(
                    AnswerRequest(message: message), to: id, by: call, ports: ports)
                return switch outcome {
                case .decided(let reply):
                    "\(reply.status.state) to \(reply.returnMessage == nil ? "nowhere" : "the shop")"
                case .alreadyEnded(let status): "already \(status.state)"
                default: "\(outcome)"
                }
            }
        }
        approval = try await answer(.approved(.confirm, number: nil))
        denial = try await answer(.denied)
        let call = try await device.call()
        removal = { ports in
            switch try await RemoveOwnEnrollment.remove(by: call, ports: ports) {
            case .removed: "removed"
            case .refused(let refusal): "\(refusal)"
            }
        }
        cancellation = { ports in
            switch try await CancelChallenge.cancel(id, by: shop.caller, ports: ports) {
            case .cancelled: "cancelled"
            case .alreadyEnded(let status): "already \(status.state)"
            case .notFound: "not found"
            }
        }
    }

    /// Presents the code that an approval brings.
    func presentation(of code: Secret<String>) -> Interleaving.Operation {
        { [id, shop] ports in
            switch try await ReturnChallenge.present(code, for: id, by: shop.caller, ports: ports) {
            case .released: "released"
            case .codeInvalid: "invalid"
            case .alreadyEnded(let status): "already \(status.state)"
            case .notFound, .rateLimited: "neither"
            }
        }
    }

    /// How its client sees it, and whether there is a receipt.
    func seen(in world: World) async throws -> String {
        let shown = try await WatchChallenge.shown(id, to: shop, ports: world.ports)
        let receipts = try await world.count("receipts", where: "challenge_id = '\(id)'")
        return "\(shown?.challenge.state.status.state ?? "-") \(receipts)"
    }
}

@Suite("An approval by a link and what may come in between")
struct InterleavedLinkTests {
    @Test("A device that says yes and no at once is heard once, whatever the other says")
    func answers() async throws {
        let meeting = try await Interleaving()
        try await meeting.world.makeType("scan", numberEntry: false, channel: .code)
        let places = try await meeting.everywhere { world in
            let link = try await OpenedLink(in: world)
            return (link, link.approval, link.denial)
        } judge: { link, told, comment in
            let seen = try await link.seen(in: meeting.world)
            if told.first == "approved to the shop" {
                #expect(told.second == "already approved", comment)
                #expect(seen == "pending 1", comment)
            } else {
                #expect(told.first == "already denied" && told.second == "denied to nowhere", comment)
                #expect(seen == "denied 1", comment)
            }
        }
        #expect(places >= 3)
    }

    @Test("A question that is taken back while it is approved leaves no receipt, whoever was first")
    func cancelled() async throws {
        let meeting = try await Interleaving()
        try await meeting.world.makeType("scan", numberEntry: false, channel: .code)
        let places = try await meeting.everywhere { world in
            let link = try await OpenedLink(in: world)
            return (link, link.approval, link.cancellation)
        } judge: { link, told, comment in
            #expect(["approved to the shop", "already cancelled"].contains(told.first), comment)
            #expect(told.second == "cancelled", comment)
            let seen = try await link.seen(in: meeting.world)
            #expect(seen == "cancelled 0", comment)
        }
        #expect(places >= 3)
    }

    @Test("A code that is presented while the device is removed releases its approval before that, or not at all")
    func removed() async throws {
        let meeting = try await Interleaving()
        try await meeting.world.makeType("scan", numberEntry: false, channel: .code)
        let places = try await meeting.everywhere { world in
            let link = try await OpenedLink(in: world)
            _ = try await link.approval(world.ports)
            return (link, link.presentation(of: world.ports.hasher.returnCode(of: link.id)), link.removal)
        } judge: { link, told, comment in
            let seen = try await link.seen(in: meeting.world)
            #expect(told.second == "removed", comment)
            if told.first == "released" {
                #expect(seen == "approved 1", comment)
            } else {
                #expect(told.first == "already failed" && seen == "failed 0", comment)
            }
        }
        #expect(places >= 3)
    }

    @Test("A link that is approved while the device is removed is never released")
    func removedWhileApproving() async throws {
        let meeting = try await Interleaving()
        try await meeting.world.makeType("scan", numberEntry: false, channel: .code)
        let places = try await meeting.everywhere { world in
            let link = try await OpenedLink(in: world)
            return (link, link.approval, link.removal)
        } judge: { link, told, comment in
            let seen = try await link.seen(in: meeting.world)
            #expect(told.second == "removed" && seen == "failed 0", comment)
        }
        #expect(places >= 3)
    }

    @Test("A code is taken once, and not after the question was taken back", arguments: [true, false])
    func presented(_ twice: Bool) async throws {
        let meeting = try await Interleaving()
        try await meeting.world.makeType("scan", numberEntry: false, channel: .code)
        let places = try await meeting.everywhere { world in
            let link = try await OpenedLink(in: world)
            _ = try await link.approval(world.ports)
            let presentation = link.presentation(of: world.ports.hasher.returnCode(of: link.id))
            return (link, presentation, twice ? presentation : link.cancellation)
        } judge: { link, told, comment in
            let seen = try await link.seen(in: meeting.world)
            if told.first == "released" {
                #expect(told.second == "already approved" && seen == "approved 1", comment)
            } else if twice {
                #expect(told == ("already approved", "released") && seen == "approved 1", comment)
            } else {
                #expect(told == ("already cancelled", "cancelled") && seen == "cancelled 0", comment)
            }
        }
        #expect(places >= 3)
    }
}
