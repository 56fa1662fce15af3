import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import OpenPGP
import ServerTestSupport
import Synchronization
import Testing

@Suite("Enrolling by the SDK")
struct EnrollingTests {
    /// An app that is not enrolled, and a ticket for it.
    private static func with(
        vault: any Vault = MemoryVault(), clockAheadBy seconds: Int64 = 0,
        _ body: @escaping @Sendable (Authenticator, SDKScene, _ ticket: String) async throws -> Void
    ) async throws {
        try await SDKScene.with { scene in
            let clock = SkewedClock(of: scene.server.clock, aheadBy: seconds)
            let app = try await SDKScene.authenticator(scene.server, vault, scene.transport, clock)
            try await body(app, scene, try await scene.shop.makeTicket(for: try await scene.shop.makeUser()))
        }
    }

    @Test(
        "A new name of the device, version of the app or system is told once, with the next look; no look fails by it")
    func changes() async throws {
        try await SDKScene.with { scene in
            func patches() -> Int { scene.transport.requests(to: "/self").count { $0.method == "PATCH" } }
            func described() async throws -> JSONValue? {
                let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
                return list["enrollments"]?[0]?["device"]
            }
            #expect(try await scene.authenticator.pendingChallenges().isEmpty)
            #expect(try await scene.relaunched().pendingChallenges().isEmpty)
            #expect(patches() == 0, "nothing has changed")
            let updated = AppDescription(name: "Acme", version: "3.2", deviceName: "Ada's phone", system: "Linux 7")
            let app = try await scene.relaunched(app: updated)
            scene.transport.happen { request, send in
                request.method == "PATCH"
                    ? TransportResponse(status: 503, headers: [:], body: []) : try await send(request)
            }
            #expect(try await app.pendingChallenges().isEmpty, "who cannot tell its name is asked all the same")
            #expect(patches() == 1)
            scene.transport.happen(nil)
            for _ in 0..<2 { #expect(try await app.pendingChallenges().isEmpty) }
            #expect(patches() == 2, "told again until there is a reply, and then no more")
            #expect(
                try await described() == [
                    "name": "Ada's phone", "system": "Linux 7", "app": "Acme 3.2", "storage": "software",
                ])
            // Whoever iterates tells as well; what cannot be shown is not told.
            let unshown = AppDescription(name: "Acme", version: "3.3", deviceName: "A\u{202E}")
            #expect(try await scene.relaunched(app: unshown).pendingChallenges().isEmpty)
            let again = try await scene.relaunched(
                app: AppDescription(name: "Acme", version: "4", deviceName: "Ada's phone"))
            var challenges = again.challenges().makeAsyncIterator()
            let asked = try await scene.ask()
            #expect(await challenges.next()?.id == asked.id)
            #expect(try await described() == ["name": "Ada's phone", "app": "Acme 4", "storage": "software"])
            #expect(patches() == 3)
        }
    }

    @Test("An enrolled app knows user, enrollment and fingerprint, and so does the server")
    func enrolls() async throws {
        try await SDKScene.with { scene in
            #expect("\(scene.enrollment.user)" == scene.user)
            let list = try await scene.shop.call(.GET, "/v1/users/\(scene.user)/enrollments").success()
            let device = try #require(list["enrollments"]?[0])
            #expect(device["enrollment"] == .string("\(scene.enrollment.id)"))
            #expect(device["fingerprint"] == .string("\(scene.enrollment.fingerprint)"))
            #expect(device["device"]?["name"] == "Test phone")
            #expect(device["device"]?["app"] == "Acme 3.1")
            #expect(device["device"]?["storage"] == "software")
            #expect(device["versions"] == [1])
            let certificate = try Certificate(armored: scene.enrollment.certificate)
            #expect(certificate.fingerprint == scene.enrollment.fingerprint)
            try await scene.enrollment.refresh()
        }
    }

    @Test(
        "A text that is no invitation is refused, and nothing is sent",
        arguments: ["", "hello", "eyJ9", Base64.encode(Array("{\"issuer\":\"http://127.0.0.1\"}".utf8))])
    func malformed(_ text: String) async throws {
        try await Self.with { app, scene, _ in
            let before = scene.transport.requests(to: "").count
            #expect(await code { _ = try await app.enroll(with: .ticket(text)) } == "invitation_malformed")
            #expect(scene.transport.requests(to: "").count == before)
        }
    }

    @Test("A ticket of another issuer is refused, and nothing is sent")
    func otherIssuer() async throws {
        try await Self.with { app, scene, _ in
            let before = scene.transport.requests(to: "").count
            let foreign = try await StubServer().invitation
            #expect(await code { _ = try await app.enroll(with: .ticket(foreign)) } == "invitation_other_issuer")
            #expect(scene.transport.requests(to: "").count == before)
        }
    }

    @Test("A server with another certificate than the ticket names is refused before the ticket is told")
    func manInTheMiddle() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let mallory = try await StubServer().certificate.armored
            scene.transport.reply(
                TransportResponse(status: 200, headers: [:], body: Array(mallory.utf8)), from: "/v1/server-certificate")
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "invitation_wrong_fingerprint")
            #expect(scene.transport.requests(to: "/v1/enrollments").count == 1, "only the scene's own enrollment")
            #expect(await app.enrollments.isEmpty)
            scene.transport.happen(nil)
            _ = try await app.enroll(with: .ticket(ticket))
        }
    }

    @Test("A server that enrolls something else than was asked for is refused, and the keys are removed")
    func otherEnrollment() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let invitation = try #require(EnrollmentInvitation(ticket))
            scene.transport.happen { request, send in
                var response = try await send(request)
                if request.url.path == "/v1/enrollments" {
                    let text = String(decoding: response.body, as: UTF8.self)
                    response.body = Array(
                        text.replacing("\(invitation.enrollment)", with: "enr_00000000000000000000000000").utf8)
                }
                return response
            }
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "not_handleable")
            #expect(try await vault.signingKey(.primary, of: invitation.enrollment) == nil)
            #expect(await app.enrollments.isEmpty)
        }
    }

    @Test("A used ticket is refused, and no keys stay behind")
    func usedTicket() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let other = try await SDKScene.authenticator(
                scene.server, MemoryVault(), scene.transport, SystemClock())
            _ = try await other.enroll(with: .ticket(ticket))
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "ticket_used")
            let invitation = try #require(EnrollmentInvitation(ticket))
            for role in [KeyRole.primary, .authentication] {
                #expect(try await vault.signingKey(role, of: invitation.enrollment) == nil)
            }
            #expect(try await vault.agreementKey(.encryption, of: invitation.enrollment) == nil)
            // The same app again: the ticket is its own, and used.
            #expect(await code { _ = try await other.enroll(with: .ticket(ticket)) } == "ticket_used")
            #expect(await other.enrollments.count == 1)
        }
    }

    @Test("A ticket that is too old is refused")
    func expiredTicket() async throws {
        try await SDKScene.with { scene in
            let ticket = try await scene.shop.makeTicket(for: try await scene.shop.makeUser())
            scene.server.clock.advance(seconds: 601)
            #expect(await code { _ = try await scene.authenticator.enroll(with: .ticket(ticket)) } == "ticket_expired")
            #expect(await scene.authenticator.enrollments.count == 1)
        }
    }

    @Test("A ticket the server does not know is refused")
    func unknownTicket() async throws {
        try await Self.with { app, _, ticket in
            let known = try #require(EnrollmentInvitation(ticket))
            let made = EnrollmentInvitation(
                issuer: known.issuer, ticket: Secret("ctt_made-up"), fingerprint: known.fingerprint, user: known.user,
                enrollment: known.enrollment)
            #expect(await code { _ = try await app.enroll(with: .ticket(made.text)) } == "ticket_invalid")
        }
    }

    @Test("A second device shows a number, which the first one types; until then it says no yes")
    func approved() async throws {
        try await SDKScene.with { scene in
            let strict = try await scene.server.makeClient("Strict Shop")
            let user = try await strict.makeUser()
            let first = try await scene.authenticator.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            #expect(first.approval == nil)
            #expect(try await first.refresh() == nil)
            let app = try await SDKScene.authenticator(scene.server, MemoryVault(), scene.transport, scene.clock)
            scene.transport.loseReplies(1, from: "/v1/enrollments")
            let second = try await app.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            let approval = try #require(second.approval, "told again when the reply is lost")
            #expect(try await second.refresh() == approval.expiresAt)
            let asked = try await strict.call(.POST, "/v1/challenges", ["type": "qr", "message": "Sign in?"]).success()
            let scanned = try #require(asked["code"]?["qr"]?.string)
            #expect(await code { _ = try await second.claim(scanned) } == "enrollment_waiting")
            let pending = try await scene.authenticator.pendingChallenges().first { $0.enrollment == first.id }
            let question = try #require(pending)
            #expect(question.type == "new-device" && question.clientName == "Strict Shop")
            let opened = try await question.open()
            #expect(opened.details.contains { $0.label == "Fingerprint" && $0.value == "\(second.fingerprint)" })
            #expect(opened.details.first?.value == "Test phone" && opened.context == "127.0.0.1")
            try await opened.approve(with: .confirmation, number: approval.number)
            #expect(try await second.refresh() == nil)
        }
    }

    @Test("A second device that is denied is wiped at its next word with the server")
    func denied() async throws {
        try await SDKScene.with { scene in
            let strict = try await scene.server.makeClient("Strict Shop")
            let user = try await strict.makeUser()
            let first = try await scene.authenticator.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            let app = try await SDKScene.authenticator(scene.server, MemoryVault(), scene.transport, scene.clock)
            let second = try await app.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            let pending = try await scene.authenticator.pendingChallenges().first { $0.enrollment == first.id }
            try await #require(pending).open().deny()
            #expect(await code { _ = try await second.refresh() } == "device_deregistered")
            #expect(await app.enrollments.isEmpty)
        }
    }

    @Test("A lost reply to an enrollment is asked for again with the same request", arguments: [1, 3])
    func lostReply(_ count: Int) async throws {
        try await Self.with { app, scene, ticket in
            let before = scene.transport.bodies(to: "/v1/enrollments").count
            scene.transport.loseReplies(count, from: "/v1/enrollments")
            let enrollment = try await app.enroll(with: .ticket(ticket))
            let bodies = scene.transport.bodies(to: "/v1/enrollments").dropFirst(before)
            #expect(bodies.count == count + 1)
            #expect(Set(bodies).count == 1)
            try await enrollment.refresh()
        }
    }

    @Test("Without a network there is no enrollment yet; the same ticket works when the network is back")
    func noNetwork() async throws {
        try await Self.with { app, scene, ticket in
            scene.transport.loseRequests(.max, to: "/v1/enrollments")
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "network")
            #expect(await app.enrollments.isEmpty)
            scene.transport.happen(nil)
            let enrollment = try await app.enroll(with: .ticket(ticket))
            #expect(await app.enrollments.map(\.id) == [enrollment.id])
            try await enrollment.refresh()
        }
    }

    /// What the app does after it gave up waiting for the reply to an enrollment that the server had made.
    enum Next: CaseIterable {
        case sameTicket, sameTicketAfterItsEnd, otherTicket, otherTicketAfterRestart, sameTicketTwiceAtOnce
    }

    @Test("An enrollment whose reply never came is not lost: the next call asks for it again", arguments: Next.allCases)
    func replyNeverCame(_ next: Next) async throws {
        let vault: any Vault = MemoryVault()
        try await SDKScene.with { scene in
            let strict = try await scene.server.makeClient("Strict Shop")
            let user = try await strict.makeUser()
            let ticket = try await strict.makeTicket(for: user)
            func started() async throws -> Authenticator {
                try await SDKScene.authenticator(scene.server, vault, scene.transport, scene.clock)
            }
            let before = try await started()
            scene.transport.loseReplies(.max, from: "/v1/enrollments")
            #expect(await code { _ = try await before.enroll(with: .ticket(ticket)) } == "network")
            #expect(await before.enrollments.isEmpty)
            scene.transport.happen(nil)
            let app = next == .otherTicketAfterRestart ? try await started() : before
            let first = try #require(EnrollmentInvitation(ticket)).enrollment
            switch next {
            case .sameTicket, .sameTicketAfterItsEnd:
                if next == .sameTicketAfterItsEnd { scene.server.clock.advance(seconds: 601) }
                let enrollment = try await app.enroll(with: .ticket(ticket))
                #expect(enrollment.id == first && enrollment.approval == nil)
                #expect(await app.enrollments.map(\.id) == [first])
            case .sameTicketTwiceAtOnce:
                async let one = code { _ = try await app.enroll(with: .ticket(ticket)) }
                async let other = code { _ = try await app.enroll(with: .ticket(ticket)) }
                let codes = await [one, other]
                #expect(codes.contains("") && Set(codes).isSubset(of: ["", "configuration_invalid", "ticket_used"]))
            case .otherTicket, .otherTicketAfterRestart:
                let enrollment = try await app.enroll(with: .ticket(try await strict.makeTicket(for: user)))
                #expect(enrollment.approval?.number != nil, "the first one can approve it, because this app has it")
            }
            let kept = try #require(await app.enrollments.first { $0.id == first })
            #expect(try await kept.refresh() == nil)
            #expect(try await vault.enrollments(with: "attempt").isEmpty)
            let asked = try await strict.ask(user)["id"]?.string ?? ""
            #expect(try await kept.pendingChallenges().contains { "\($0.id)" == asked })
        }
    }

    @Test("What the server made stays when it has forgotten the ticket since, or the description cannot be shown")
    func ticketForgotten() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let id = try #require(EnrollmentInvitation(ticket)).enrollment
            scene.transport.loseReplies(.max, from: "/v1/enrollments")
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "network")
            scene.transport.happen(nil)
            for name in ["a\u{202E}b", " Pixel", "Pixel\u{2800}"] {
                let unshown = try await Authenticator(
                    issuer: try #require(URL(string: "\(scene.server.issuer)")),
                    app: AppDescription(name: "Acme", version: "1", deviceName: name), vault: vault,
                    transport: scene.transport, clock: scene.clock)
                #expect(await code { _ = try await unshown.enroll(with: .ticket(ticket)) } == "not_handleable")
            }
            let problem = JSONValue.members(["code": "ticket_invalid", "title": "?", "status": 403])
            scene.transport.reply(
                TransportResponse(status: 403, headers: [:], body: problem.encoded), from: "/v1/enrollments")
            let enrollment = try await app.enroll(with: .ticket(ticket))
            #expect(enrollment.id == id)
            scene.transport.happen(nil)
            #expect(try await enrollment.refresh() == nil)
            #expect(try await vault.enrollments(with: "attempt").isEmpty)
        }
    }

    @Test("An attempt that never reached the server is not made up for: the next ticket enrolls a first device")
    func attemptAbandoned() async throws {
        let vault: any Vault = MemoryVault()
        try await SDKScene.with { scene in
            let strict = try await scene.server.makeClient("Strict Shop")
            let user = try await strict.makeUser()
            let first = try await strict.makeTicket(for: user)
            let abandoned = try #require(EnrollmentInvitation(first)).enrollment
            let app = try await SDKScene.authenticator(scene.server, vault, scene.transport, scene.clock)
            scene.transport.loseRequests(.max, to: "/v1/enrollments")
            #expect(await code { _ = try await app.enroll(with: .ticket(first)) } == "network")
            scene.transport.happen(nil)
            let enrollment = try await app.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            #expect(enrollment.approval == nil)
            #expect(try await enrollment.refresh() == nil)
            #expect(await app.enrollments.map(\.id) == [enrollment.id])
            // The lost request may be on its way for a while; then its keys go.
            #expect(try await vault.enrollments(with: "attempt") == [abandoned])
            scene.server.clock.advance(seconds: 61)
            _ = try await app.enroll(with: .ticket(try await strict.makeTicket(for: user)))
            #expect(try await vault.records(of: abandoned).isEmpty)
            #expect(try await vault.signingKey(.primary, of: abandoned) == nil)
        }
    }

    @Test("A record of an attempt that cannot be read hinders no enrollment, and stays for whoever can read it")
    func attemptUnreadable() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let other = try await scene.shop.makeTicket(for: try await scene.shop.makeUser())
            let id = try #require(EnrollmentInvitation(other)).enrollment
            try await vault.write(Array("{\"v\":2}".utf8), as: "attempt", of: id)
            let enrollment = try await app.enroll(with: .ticket(ticket))
            #expect(await app.enrollments.map(\.id) == [enrollment.id])
            #expect(try await vault.enrollments(with: "attempt") == [id])
        }
    }

    @Test("A second call with a ticket takes no keys away that the first has had enrolled")
    func secondCallLate() async throws {
        let vault: any Vault = MemoryVault()
        try await Self.with(vault: vault) { app, scene, ticket in
            let isOver = Mutex(false)
            let certificates = Mutex(0)
            scene.transport.happen { request, send in
                var number = 0
                if request.url.path.hasSuffix("/v1/server-certificate") {
                    number = certificates.withLock { count in
                        count += 1
                        return count
                    }
                }
                while number == 1, !isOver.withLock(\.self) { try await Task.sleep(for: .milliseconds(10)) }
                let response = try await send(request)
                if request.url.path.hasSuffix("/v1/enrollments"), !isOver.withLock(\.self) {
                    throw FaultyTransport.Lost()
                }
                return response
            }
            async let late = app.enroll(with: .ticket(ticket))
            while certificates.withLock(\.self) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(await code { _ = try await app.enroll(with: .ticket(ticket)) } == "network")
            isOver.withLock { $0 = true }
            let enrollment = try await late
            #expect(try await enrollment.refresh() == nil)
            #expect(await app.enrollments.map(\.id) == [enrollment.id])
        }
    }

    @Test("A device's clock that is off by ten minutes is corrected", arguments: [-600, 600] as [Int64])
    func correctedClock(_ seconds: Int64) async throws {
        try await Self.with(clockAheadBy: seconds) { app, scene, ticket in
            let enrollment = try await app.enroll(with: .ticket(ticket))
            try await enrollment.refresh()
            let difference = await app.millisecondsSince1970 - scene.server.clock.now.milliseconds
            #expect(abs(difference) < 60_000, "\(difference)")
        }
    }

    @Test("A device's clock that is off by more than a day is reported", arguments: [-90_000, 90_000] as [Int64])
    func hopelessClock(_ seconds: Int64) async throws {
        try await Self.with(clockAheadBy: seconds) { app, scene, ticket in
            do {
                _ = try await app.enroll(with: .ticket(ticket))
                Issue.record("the clock was taken for right")
            } catch CountersignError.clockSkew(let skew) {
                #expect(abs(skew.components.seconds + seconds) < 60, "\(skew)")
            }
            #expect(await app.connectionState == .clockSkew)
            #expect(await app.enrollments.isEmpty)
        }
    }

    @Test(
        "An issuer must be https, or http on this machine",
        arguments: ["http://example.com", "ftp://example.com", "https://example.com/path"])
    func issuers(_ text: String) async throws {
        let url = try #require(URL(string: text))
        let told = await code {
            _ = try await Authenticator(
                issuer: url, app: AppDescription(name: "Acme", version: "1", deviceName: "Phone"),
                vault: MemoryVault())
        }
        #expect(told == "not_handleable")
    }

    @Test("A device's name that could deceive is refused before anything is sent")
    func deceivingName() async throws {
        let stub = try await StubServer()
        let url = try #require(URL(string: "\(stub.issuer)"))
        let app = try await Authenticator(
            issuer: url, app: AppDescription(name: "Acme", version: "1", deviceName: "a\u{202E}b"),
            vault: MemoryVault(), transport: stub)
        #expect(await code { _ = try await app.enroll(with: .ticket(stub.invitation)) } == "not_handleable")
        #expect(stub.device == nil)
    }
}
