import Countersign
import DeviceAuthenticator
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Testing
import VendorSnippets

@Suite("Okta's calls after a sign-in of another library's", .timeLimit(.minutes(15)))
struct OktaSignInTests {
    // The pair of RFC 7636, Appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let redirectURI = "http://127.0.0.1:50999/callback"

    /// Approves the one question that waits for an enrollment.
    private func approve(
        _ number: String, by enrollment: any AuthenticatorEnrollmentProtocol, in scene: OktaScene
    ) async throws {
        var waiting: [any PushChallengeProtocol] = []
        while waiting.isEmpty {
            waiting = try await scene.pending(enrollment)
            if waiting.isEmpty { try await Task.sleep(for: .milliseconds(25)) }
        }
        let person = OktaPerson(.approved, number: number)
        let failure = await person.resolve(waiting[0])
        #expect(failure == nil && person.steps == ["consent", "number of 6"])
    }

    /// An access token that is bound to nothing, as an app without proofs of a key gets it.
    private func token(_ scene: OktaScene, by enrollment: any AuthenticatorEnrollmentProtocol) async throws -> String {
        let settings: JSONValue = [
            "profile": "native", "redirect_uris": [.string(Self.redirectURI)], "asked_browsers": "all",
            "registration": "closed",
        ]
        let path = "/v1/admin/clients/\(scene.shop.clientID)/openid"
        #expect(try await scene.server.administrator.call(.PUT, path, settings).status == 200)
        let email: JSONValue = ["email": "customer-1@example.com"]
        #expect(try await scene.shop.call(.PATCH, "/v1/users/\(scene.user)", email).status == 200)
        let request =
            "/oauth2/authorize?response_type=code&client_id=\(scene.shop.clientID)&scope=openid%20enroll&state=s"
            + "&nonce=n&redirect_uri=http%3A%2F%2F127.0.0.1%3A50999%2Fcallback&code_challenge=\(Self.challenge)"
            + "&code_challenge_method=S256"
        let url = try #require(URL(string: request))
        let back = try await PageVisitor(scene.server).signIn(url) { number in
            try await approve(number, by: enrollment, in: scene)
        }
        let items = URLComponents(url: back, resolvingAgainstBaseURL: false)?.queryItems ?? []
        let code = try #require(items.first { $0.name == "code" }?.value, "\(back)")
        let form =
            "grant_type=authorization_code&code=\(code)&redirect_uri=http%3A%2F%2F127.0.0.1%3A50999%2Fcallback"
            + "&client_id=\(scene.shop.clientID)&code_verifier=\(Self.verifier)"
        let reply = try await scene.server.send(
            .POST, "/oauth2/token", headers: [("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8), isContract: false)
        let given = try reply.success()
        #expect(given["token_type"]?.string == "Bearer", "\(reply)")
        return try #require(given["access_token"]?.string)
    }

    @Test("A bearer token enrolls a second device, which the first one lets in by the number that the second one shows")
    func second() async throws {
        try await OktaScene.with { scene in
            let first = try await scene.enroll()
            let token = try await token(scene, by: first)
            let tablet = try OktaScene.launched(MemoryVault(), scene.transport)
            let made = try await scene.enrolled(by: .bearer(token), with: tablet).get()
            #expect(made.user.id == first.user.id)
            let awaiting = try #require(made as? any AwaitingEnrollment)
            #expect(try #require(awaiting.activeAt) > Date())
            try await approve(try #require(awaiting.approvalNumber), by: first, in: scene)
            let (challenge, _) = try await scene.asked("payment", made)
            #expect(await OktaPerson(.approved).resolve(challenge) == nil)
            #expect(try await scene.state(of: challenge.transactionId) == "approved")
            // Each sign-in enrolls one device.
            let again = await scene.enrolled(by: .bearer(token), with: tablet)
            guard case .failure(let error) = again else {
                Issue.record("a token enrolled twice")
                return
            }
            #expect(oktaCode(error) == "ticket_used")
        }
    }

    @Test("The program of the guide enrolls by a bearer token, prints the number for the first device, and answers")
    func guide() async throws {
        try await OktaScene.with { scene in
            let first = try await scene.enroll()
            let program = try OktaGuide(vault: MemoryVault())
            program.enroll(
                token: try await token(scene, by: first), server: scene.config.orgURL, client: scene.shop.clientID,
                pushToken: Data([1, 2, 3]))
            var printed: Substring?
            for _ in 0..<3000 where printed == nil {
                try await Task.sleep(for: .milliseconds(10))
                printed = Console.lines.compactMap { $0.firstMatch(of: #/^Type ([0-9]+) on the/#)?.output.1 }.first
            }
            try await approve(String(try #require(printed, "\(Console.lines)")), by: first, in: scene)
            let made = try #require(program.authenticator.allEnrollments().first)
            for (isYes, state) in [(true, "approved"), (false, "denied")] {
                let (challenge, number) = try await scene.asked("numbered", made)
                program.answer(challenge, isYes: isYes, number: number)
                while try await scene.state(of: challenge.transactionId) == "pending" {
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(try await scene.state(of: challenge.transactionId) == state)
            }
        }
    }
}
