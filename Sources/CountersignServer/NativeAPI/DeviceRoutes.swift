import CountersignCore
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import JOSE
import OpenPGP
import RelyingPartyAPI

/// The routes of devices.
extension NativeAPI {
    /// The most requests of one device that may wait at the same time: those of its app and of the app's extensions,
    /// and those whose connections were lost.
    private static let maximumDeviceWaits = 8

    func addDevices(to routes: inout NativeRoutes) {
        routes.anyone(.get, "/v1/server-certificate") { [ports] _ in
            Response(bytes: Array(try ports.keys.current().certificate.armored.utf8), type: "application/pgp-keys")
        }
        routes.anyone(.get, "/v1/push-keys") { [ports] _ in
            Response(json: try ports.keys.current().pushKeys.json)
        }
        routes.anyone(.post, "/v1/enrollment-tickets") { [self] incoming in
            guard let shown = try incoming.shownToken(ports: ports) else { throw RequestRefusal.noToken }
            _ = try TicketRequest(incoming.optionalJSON())
            let outcome = try await ExchangeForTicket.exchange(shown.token, by: shown.key, ports: ports)
            return try reply(outcome, to: shown.scheme)
        }
        routes.anyone(.post, "/v1/enrollments") { [self] incoming in
            let request = try deviceRequest(incoming)
            let enrollment = try EnrollmentRequest(incoming.json())
            try admit(enrollment.push)
            let place = ContextLine(address: incoming.context.caller?.description, userAgent: nil)?
                .placed(by: ports.places, in: nil)
            return try await reply(EnrollDevice.enroll(enrollment, provedBy: request, from: place, ports: ports))
        }
        routes.device(.get, "/v1/enrollments/self") { [ports, self] call, _ in
            try await reply(ShowOwnEnrollment.show(to: call, ports: ports))
        }
        routes.device(.patch, "/v1/enrollments/self") { [ports, self] call, incoming in
            let update = try EnrollmentUpdate(incoming.json())
            if case .registered(let registration) = update.push { try admit(registration) }
            return try await reply(UpdateEnrollment.update(update, by: call, ports: ports))
        }
        routes.device(.delete, "/v1/enrollments/self") { [self] call, _ in
            try await reply(RemoveOwnEnrollment.remove(by: call, ports: ports))
        }
        routes.device(.get, "/v1/enrollments/self/methods") { [ports, self] call, _ in
            try await reply(ShowMethods.show(to: call, ports: ports))
        }
        routes.device(.post, "/v1/enrollments/self/methods") { [self] call, incoming in
            let request = try MethodChangeRequest(incoming.json())
            return try await reply(ChangeMethods.change(request, by: call, ports: ports))
        }
        routes.device(.post, "/v1/enrollments/self/sign-ins") { [self] call, incoming in
            guard let client = ClientID(try OwnSignInRequest(incoming.json()).client) else {
                throw RequestRefusal.noSuch(.client)
            }
            return try await reply(AskOwnSignIn.ask(at: client, by: call, ports: ports))
        }
        addOtherDevices(to: &routes)
        routes.device(.get, "/v1/enrollments/self/challenges", query: ["wait", "cursor"]) { [self] call, incoming in
            try await pending(for: call, by: incoming)
        }
        routes.device(.get, "/v1/challenges/:challenge/message") { [self] call, incoming in
            let id = try incoming.challenge()
            return try await reply(OpenChallenge.open(id, for: call, ports: ports))
        }
        routes.device(.post, "/v1/challenges/claim") { [self] call, incoming in
            let code = try ChallengeCode(claim: incoming.json())
            return try await reply(ClaimChallenge.claim(code, by: call, ports: ports))
        }
        routes.device(.post, "/v1/challenges/:challenge/answer") { [self] call, incoming in
            let id = try incoming.challenge()
            let request = try AnswerRequest(incoming.json())
            return try await reply(AnswerChallenge.answer(request, to: id, by: call, ports: ports))
        }
    }

    /// Refuses local push registrations outside development mode.
    private func admit(_ registration: PushRegistration?) throws {
        guard registration?.service == .local, !isDevelopment else { return }
        throw JSONShapeError.invalid(pointer: "/push/service", expected: PushRegistration.services)
    }

    private func pending(for call: DeviceCall, by incoming: Incoming) async throws -> Response {
        let cursor = incoming.query["cursor"]
        guard let seconds = try incoming.wait() else {
            return try await reply(PendingChallenges.list(for: call, ports: ports))
        }
        let beginning = try await PendingChallenges.list(
            for: call, waitingUntil: ports.time.now.adding(seconds), since: cursor,
            changes: resources.changes(for: incoming.context), ports: ports)
        switch beginning {
        case .ended(let outcome): return try await reply(outcome)
        case .waiting(let wait):
            return incoming.context.later.answer { [self] in
                try await waits.waiting(as: "\(wait.enrollment)", atMost: Self.maximumDeviceWaits) {
                    try await reply(wait.outcome(ports: ports))
                }
            }
        }
    }
}
