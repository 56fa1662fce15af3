import CountersignWire
import Encodings
import StorageTestSupport
import Testing

@testable import CountersignCore

@Suite("Callers that a node has in memory are refused everywhere as soon as they are removed")
struct KnownCallersTests {
    /// What is taken from a client at another node, and the refusal of its next request.
    enum Loss: CaseIterable {
        case disabled, deleted, secret, right

        var refusal: CallerRefusal {
            switch self {
            case .disabled: .disabled
            case .deleted, .secret: .unknown
            case .right: .rightMissing(.challenges)
            }
        }

        func happen(to client: Client, _ ports: Ports) async throws {
            switch self {
            case .disabled: _ = try await DisableClient.disable(client.id, by: client.actor, ports: ports)
            case .deleted: _ = try await DeleteClient.delete(client.id, by: client.actor, ports: ports)
            case .secret:
                _ = try await RenewClientSecret.renew(of: client.id, overlap: 0, by: client.actor, ports: ports)
            case .right:
                _ = try await UpdateClient.update(
                    client.id, ClientChanges(rights: [.enrollments]), by: client.actor, ports: ports)
            }
        }
    }

    @Test("A client asks and watches nothing more with what it has lost", arguments: Loss.allCases)
    func client(_ loss: Loss) async throws {
        let world = try await World()
        try await world.makeType()
        let made = try await world.makeClient()
        let (client, secret) = (made.client, made.secret)
        let user = try await world.makeUser(of: client)
        _ = try await world.makeDevice(of: user, by: client)
        let request = try world.request(for: user)
        let asked = try await world.ask(request, by: client)
        let node = world.ports(loggingTo: world.ports.logger)
        let recognize = { AuthenticateClient.recognize("\(client.id)", secret: secret, ports: node) }
        #expect(recognize() == nil, "a node has to see the secret once")
        guard
            case .authenticated(let caller) = try await AuthenticateClient.authenticate(
                "\(client.id)", secret: secret, ports: node)
        else { throw World.Broken("client") }
        #expect(AuthenticateClient.recognize("\(client.id)", secret: Secret("another"), ports: node) == nil)
        let known = try #require(recognize())
        #expect(known == caller.credential)
        guard case .shown = try await WatchChallenge.challenge(asked.challenge.id, for: known, ports: node) else {
            throw World.Broken("challenge")
        }

        try await loss.happen(to: client, world.ports)
        let challenges = try await world.count("challenges")
        #expect(
            try await AskChallenge.ask(request, by: known, idempotency: nil, ports: node)
                == .done(.refused(.caller(loss.refusal))))
        #expect(try await world.count("challenges") == challenges)
        // A secret that is no longer valid is forgotten, so that the next try with it is counted as a wrong one.
        #expect((recognize() == nil) == (loss.refusal == .unknown))
        let late = try await AuthenticateClient.authenticate("\(client.id)", secret: secret, ports: node)
        #expect((late == .refused) == (loss.refusal == .unknown))
        #expect(
            try await WatchChallenge.challenge(asked.challenge.id, for: known, ports: node) == .refused(loss.refusal))
    }

    @Test("A secret that was replaced is accepted until its time, whatever a node remembers")
    func earlierSecret() async throws {
        let world = try await World()
        try await world.makeType()
        let made = try await world.makeClient()
        let (client, secret) = (made.client, made.secret)
        let user = try await world.makeUser(of: client)
        _ = try await world.makeDevice(of: user, by: client)
        _ = try await AuthenticateClient.authenticate("\(client.id)", secret: secret, ports: world.ports)
        _ = try await RenewClientSecret.renew(of: client.id, overlap: 60, by: client.actor, ports: world.ports)
        let known = try #require(
            AuthenticateClient.recognize("\(client.id)", secret: secret, ports: world.ports))
        func isAsked() async throws -> Bool {
            let request = try world.request(for: user)
            let result = try await AskChallenge.ask(request, by: known, idempotency: nil, ports: world.ports)
            if case .done(.asked) = result { return true }
            #expect(result == .done(.refused(.caller(.unknown))))
            return false
        }
        #expect(try await isAsked())
        world.time.advance(seconds: 60)
        #expect(try await !isAsked())
    }

    @Test("A device that was removed at another node is refused by every operation, and told so")
    func device() async throws {
        let world = try await World()
        try await world.makeType()
        let client = try await world.makeClient(waives: true).client
        let user = try await world.makeUser(of: client)
        let device = try await world.makeDevice(of: user, by: client)
        let asked = try await world.ask(try world.request(for: user), by: client)
        let receipt = try await device.receipt(of: asked, .denied)
        let node = world.ports(loggingTo: world.ports.logger)
        // Signed and verified before the removal, like calls that wait for their transactions.
        var calls: [DeviceCall] = []
        for _ in 0..<12 {
            calls.append(try await VerifyDevice.verify(try await device.request(), ports: node).get())
        }
        func call() throws -> DeviceCall {
            guard let call = calls.popLast() else { throw World.Broken("calls") }
            return call
        }
        _ = try await RemoveEnrollment.remove(device.enrollment, of: .id(user), by: client.caller, ports: world.ports)

        let id = asked.challenge.id
        let change = MethodChangeRequest(message: receipt, authorization: nil, customData: nil, ticket: nil)
        let outcomes: [String: Any] = [
            "list": try await PendingChallenges.list(for: try call(), ports: node),
            "own": try await ShowOwnEnrollment.show(to: try call(), ports: node),
            "methods": try await ShowMethods.show(to: try call(), ports: node),
            "others": try await ShowOtherDevices.show(to: try call(), ports: node),
            "update": try await UpdateEnrollment.update(
                EnrollmentUpdate(push: .removed), by: try call(), ports: node),
            "open": try await OpenChallenge.open(id, for: try call(), ports: node),
            "claim": try await ClaimChallenge.claim(
                ChallengeCode(challenge: id, otp: Secret("otp"), form: .picture), by: try call(), ports: node),
            "answer": try await AnswerChallenge.answer(
                AnswerRequest(message: receipt), to: id, by: try call(), ports: node),
            "change": try await ChangeMethods.change(change, by: try call(), ports: node),
            "act": try await ActOnDevice.act(.remove, on: device.enrollment, nil, by: try call(), ports: node),
            "undo": try await UndoMethod.undo(.pin, of: device.enrollment, by: try call(), ports: node),
            "remove": try await RemoveOwnEnrollment.remove(by: try call(), ports: node),
        ]
        for (operation, outcome) in outcomes {
            let words = "\(outcome)"
            #expect(words.hasPrefix("refused("), "\(operation): \(words)")
            #expect(words.contains("deregistered("), "\(operation): \(words)")
        }
        #expect(calls.isEmpty && outcomes.count == 12)
    }
}
