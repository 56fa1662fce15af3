import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Testing

@Suite("A device wipes on the server's signed notice, and on nothing less")
struct RemovalTests {
    @Test(
        "A verified notice wipes keys and records, whatever call brings it",
        arguments: ["refresh", "pending", "open", "answer", "remove"])
    func wipes(_ call: String) async throws {
        try await SDKScene.with { scene in
            let second = try await scene.anotherEnrollment()
            let asked = try await scene.ask()
            let question = try await scene.open(asked)
            try await scene.removeAtServer()
            let result = await code {
                switch call {
                case "refresh": try await scene.enrollment.refresh()
                case "pending": _ = try await scene.authenticator.pendingChallenges()
                case "open": _ = try await scene.open(asked)
                case "answer": try await question.deny()
                default: try await scene.enrollment.remove()
                }
            }
            // Who wanted it removed has what they wanted, and of several one that is gone fails no list.
            #expect(result == (["remove", "pending"].contains(call) ? "" : "device_deregistered"))
            #expect(try await !scene.holdsKeys())
            #expect(try await scene.vault.records(of: scene.enrollment.id).isEmpty)
            #expect(await scene.authenticator.enrollments.map(\.id) == [second.id])
            #expect(await code { try await scene.enrollment.refresh() } == "not_enrolled")
            // The other user of the device is not concerned.
            try await second.refresh()
        }
    }

    /// What an app is told when something fails because the enrollment is gone.
    private static func removal(_ body: () async throws -> Void) async -> Removal? {
        do { try await body() } catch CountersignError.deviceDeregistered(let removal) { return removal } catch {}
        return nil
    }

    @Test("The app is told why, so that it can say what happened: taken out by somebody, or a wrong PIN too often")
    func reasons() async throws {
        try await SDKScene.with(pinPolicy: ["at_limit": "remove", "attempts": 1]) { scene in
            let second = try await scene.anotherEnrollment()
            let removedAt = try await scene.server.clock.stopped { second in
                try await scene.removeAtServer()
                return Timestamp(seconds: second)
            }
            let removed = await Self.removal { try await scene.enrollment.refresh() }
            #expect(removed?.reason == "removed_by_client" && removed?.kind == .userDisenrolled)
            #expect(removed?.removedAt == removedAt)
            try await second.setPIN(try PIN("83517"))
            let asked = try await scene.shop.ask("\(second.user)", ["type": "typed"])
            let id = try #require(asked["id"]?.string.flatMap { ChallengeID($0) })
            let question = try await scene.authenticator.open(id, for: second.id)
            _ = await code { try await question.approve(with: .pin(try PIN("83518"))) }
            let locked = await Self.removal { try await second.refresh() }
            #expect(locked?.reason == "wrong_pin" && locked?.kind == .userDeregistered)
        }
    }

    @Test(
        "Each reason is one of three things to a user, and one that the app does not know is somebody's act",
        arguments: [
            ("removed_by_device", .deviceDeregistered), ("replaced", .deviceDeregistered),
            ("wrong_pin", .userDeregistered), ("user_deleted", .userDeregistered),
            ("removed_by_client", .userDisenrolled), ("denied", .userDisenrolled),
            ("removed_by_operator", .userDisenrolled), ("lost", .userDisenrolled),
            ("removed_by_other_device", .userDisenrolled), ("eaten_by_a_dog", .userDisenrolled),
        ] as [(String, Removal.Kind)])
    func kinds(_ reason: String, _ kind: Removal.Kind) {
        #expect(Removal(reason: reason, removedAt: Timestamp(seconds: 0)).kind == kind)
    }

    /// Replies that tell of a removal and prove nothing.
    enum Claim: String, CaseIterable, Sendable {
        case unknownEnrollment, noNotice, emptyNotice, garbageNotice, unsignedNotice, noticeOfOther, noticeByStranger
        case noticeByCertifyOnlyKey, alteredNotice, noticeWithAddition, html, notFound, signatureInvalid, redirect
    }

    @Test("A claim without proof wipes nothing", arguments: Claim.allCases)
    func claims(_ claim: Claim) async throws {
        try await SDKScene.with { scene in
            let response = try await Self.response(claim, scene)
            scene.transport.reply(response, from: "/self")
            let result = await code { try await scene.enrollment.refresh() }
            #expect(result != "" && result != "not_enrolled")
            if claim == .unknownEnrollment { #expect(result == "unknown_enrollment") }
            #expect(try await scene.holdsKeys())
            #expect(await scene.authenticator.enrollments.map(\.id) == [scene.enrollment.id])
            // And all still works.
            scene.transport.happen(nil)
            try await scene.enrollment.refresh()
            let asked = try await scene.ask()
            try await scene.open(asked).deny()
        }
    }

    private static func response(_ claim: Claim, _ scene: SDKScene) async throws -> TransportResponse {
        func problem(_ code: ProblemCode, notice: String? = nil) -> TransportResponse {
            let members: JSONObject = notice.map { ["notice": .string($0)] } ?? [:]
            let body = ProblemDetails(code, members: members).json(issuer: scene.server.issuer, requestID: "req_0")
            return TransportResponse(status: code.meaning.status, headers: [:], body: body.encoded)
        }
        func forged(by key: SigningKeyPair) async throws -> String {
            let notice = RemovalNotice(
                issuer: scene.server.issuer, enrollment: scene.enrollment.id, removedAt: scene.server.clock.now,
                reason: .client)
            return try await CleartextMessage.sign(
                notice.text, by: key, at: scene.server.clock.now.unixSeconds
            ).encoded
        }
        switch claim {
        case .unknownEnrollment: return problem(.unknownEnrollment)
        case .noNotice: return problem(.deviceDeregistered)
        case .emptyNotice: return problem(.deviceDeregistered, notice: "")
        case .garbageNotice: return problem(.deviceDeregistered, notice: "-----BEGIN PGP SIGNED MESSAGE-----")
        case .unsignedNotice:
            let text = try await forged(by: try await StubServer().signing)
            return problem(.deviceDeregistered, notice: text.components(separatedBy: "-----BEGIN PGP SIGNATURE")[0])
        case .noticeByStranger:
            return problem(.deviceDeregistered, notice: try await forged(by: try await StubServer().signing))
        case .noticeByCertifyOnlyKey:
            return problem(.deviceDeregistered, notice: try await forged(by: try await StubServer().primary))
        case .noticeOfOther: return problem(.deviceDeregistered, notice: try await noticeOfOther(scene))
        case .alteredNotice:
            let notice = try await noticeOfOther(scene)
            let altered = notice.replacing(/enrollment: enr_\w+/, with: "enrollment: \(scene.enrollment.id)")
            return problem(.deviceDeregistered, notice: altered)
        case .noticeWithAddition:
            let notice = try await noticeOfOther(scene)
            return problem(.deviceDeregistered, notice: "enrollment: \(scene.enrollment.id)\n\(notice)")
        case .html:
            return TransportResponse(status: 403, headers: [:], body: Array("<h1>device_deregistered</h1>".utf8))
        case .notFound: return problem(.enrollmentNotFound)
        case .signatureInvalid: return problem(.signatureInvalid)
        case .redirect:
            return TransportResponse(status: 302, headers: ["location": "https://evil.example.com"], body: [])
        }
    }

    /// A true notice of the same server, about another device.
    private static func noticeOfOther(_ scene: SDKScene) async throws -> String {
        let phone = try await TestPhone.enrolled(for: scene.user, by: scene.shop, at: scene.server)
        #expect(try await phone.send(.DELETE, "/v1/enrollments/self").status == 204)
        return try #require(try await phone.send(.GET, "/v1/enrollments/self").json["notice"]?.string)
    }

    @Test("Removing tells the server first; when it cannot be told, nothing changes")
    func remove() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseRequests(1, to: "/self")
            #expect(await code { try await scene.enrollment.remove() } == "network")
            #expect(try await scene.holdsKeys())
            try await scene.enrollment.remove()
            #expect(try await !scene.holdsKeys())
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            #expect(list["enrollments"]?[0]?["reason"] == "removed_by_device")
        }
    }

    @Test("A removal whose reply was lost is done when it is asked for again")
    func lostReply() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseReplies(1, from: "/self")
            #expect(await code { try await scene.enrollment.remove() } == "network")
            #expect(try await scene.holdsKeys())
            try await scene.enrollment.remove()
            #expect(try await !scene.holdsKeys())
        }
    }

    @Test("Forgetting here asks nobody, and the server still believes in the device")
    func removeLocally() async throws {
        try await SDKScene.with { scene in
            scene.transport.loseRequests(.max, to: "/self")
            try await scene.enrollment.removeLocally()
            #expect(scene.transport.requests(to: "/self").isEmpty)
            #expect(try await !scene.holdsKeys())
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            #expect(list["enrollments"]?[0]?["state"] == "active")
        }
    }
}

extension SDKScene {
    /// Another user enrolled on the same device.
    func anotherEnrollment() async throws -> Enrollment {
        try await authenticator.enroll(with: .ticket(try await shop.makeTicket(for: try await shop.makeUser())))
    }
}
