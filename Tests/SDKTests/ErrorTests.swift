import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("Errors say what happened and what to do")
struct ErrorTests {
    static let all: [CountersignError] =
        [
            .network("offline"), .serverUnreachable(status: 502), .clockSkew(by: .seconds(90_000)),
            .deviceDeregistered(Removal(reason: "wrong_pin", removedAt: Timestamp(seconds: 0))),
            .notEnrolled, .enrollmentUnknown, .invitationRefused(.malformed), .invitationRefused(.otherIssuer),
            .invitationRefused(.wrongFingerprint), .ticketRefused(code: "ticket_used"), .enrollmentWaiting,
            .enrollmentSuspended, .methodNeeded,
            .serverChanged,
            .challengeNotFound, .challengeExpired, .alreadyAnswered, .challengeEnded(state: "cancelled", reason: nil),
            .notHandleable(reason: "x"), .numberRequired(length: 6), .numberIncorrect, .pushRefused(.malformed),
            .pushTokenInUse,
            .pinPolicy(.length), .pinIncorrect(attemptsLeft: 2), .pinLocked, .pinNotSet, .pinRequired, .pinAlreadySet,
            .authorityNeeded, .configurationInvalid("x"), .codeRefused(.malformed), .codeRefused(.invalid),
            .codeRefused(.expired), .codeRefused(.alreadyClaimed), .userNotLinked, .methodMissing([.pin, .biometric]),
            .customRetry(attemptsLeft: 2, payload: nil), .customFailed(payload: nil), .customNotRegistered,
            .customUnavailable, .vault("full"), .cancelled, .server(ProblemDetails(.rateLimited)),
            .signInRefused(.declined), .signInRefused(.loginRequired), .signInRefused(.expired),
            .signInRefused(.unavailable), .signInRefused(.other(code: "invalid_scope")), .providerInvalid("x"),
            .browserFailed("x"), .notSignedIn, .signInEnded,
        ] + BiometricFailure.allCases.map { .biometric($0) }
        + ResponseFault.allCases.map { .signInResponse($0) } + IDTokenFault.allCases.map { .idTokenRefused($0) }

    @Test("docs/reference/sdk-errors.md lists every error with its cause and its cure")
    func page() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/reference/sdk-errors.md")
        let written = try String(contentsOf: file, encoding: .utf8)
        for error in Self.all {
            let row = "| `\(error.code)` | \(error) | \(error.suggestion) | \(error.retryHelps ? "yes" : "no") |"
            #expect(written.contains(row + "\n"), "a row is missing or stale: \(row)")
        }
        #expect(written.split(separator: "\n").filter { $0.hasPrefix("| `") }.count == Self.all.count)
    }

    @Test("Of PINs that cannot be set, too, each is told what to do", arguments: PINViolation.allCases)
    func violations(_ violation: PINViolation) {
        let error = CountersignError.pinPolicy(violation)
        #expect("\(error)".contains(violation.rawValue) && error.suggestion.hasPrefix("Choose one "))
    }

    @Test("Every error has a code, a sentence and a suggestion", arguments: all)
    func texts(_ error: CountersignError) {
        #expect(error.code.wholeMatch(of: /[a-z_]+/) != nil)
        #expect("\(error)".hasSuffix(".") && "\(error)".count > 10)
        #expect(error.suggestion.hasSuffix(".") && error.suggestion.count > 10)
        #expect(error.suggestion != "\(error)")
    }

    @Test("Codes are those of one error alone")
    func codes() {
        #expect(Set(Self.all.map(\.code)).count == Self.all.count)
    }

    @Test("Trying again helps against the network, and not against a no")
    func retries() {
        let helped = Self.all.filter(\.retryHelps).map(\.code)
        #expect(
            helped == [
                "network", "server_unreachable", "custom_unavailable", "vault", "cancelled", "rate_limited",
                "sign_in_unavailable",
            ])
    }

    @Test("No error tells a secret: ticket, number, key or message")
    func secrets() async throws {
        try await SDKScene.with { scene in
            let ticket = try await scene.shop.makeTicket(for: try await scene.shop.makeUser())
            let invitation = try #require(EnrollmentInvitation(ticket))
            let asked = try await scene.ask(["secure_message": "A private matter"])
            let question = try await scene.open(asked)
            let secrets = [ticket, invitation.ticket.reveal(), asked.number, asked.wrongNumber, "private matter"]
            func expectNoSecret(_ body: @Sendable () async throws -> Void) async {
                do {
                    try await body()
                    Issue.record("no error")
                } catch let error as CountersignError {
                    let text = "\(error) \(error.suggestion) \(error.code) \(error.localizedDescription)"
                    for secret in secrets { #expect(!text.contains(secret)) }
                } catch {
                    Issue.record("\(error)")
                }
            }
            scene.transport.loseRequests(.max, to: "/v1/enrollments")
            await expectNoSecret { _ = try await scene.authenticator.enroll(with: .ticket(ticket)) }
            await expectNoSecret { _ = try await scene.authenticator.enroll(with: .ticket(ticket + "x")) }
            scene.transport.happen(nil)
            scene.server.clock.advance(seconds: 700)
            await expectNoSecret { _ = try await scene.authenticator.enroll(with: .ticket(ticket)) }
            await expectNoSecret { try await question.approve(with: .confirmation, number: asked.number) }
            let second = try await scene.ask()
            let other = try await scene.open(second)
            await expectNoSecret { try await other.approve(with: .confirmation, number: second.wrongNumber) }
        }
    }
}
