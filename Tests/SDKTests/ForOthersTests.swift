import Countersign
import Foundation
import ServerTestSupport
import Testing

@Suite("What libraries over the SDK need of it", .timeLimit(.minutes(15)))
struct ForOthersTests {
    @Test("A vault tells the issuers of its enrollments, each once")
    func issuers() async throws {
        try await SDKScene.with { scene in
            #expect(try await Authenticator.issuers(in: MemoryVault()).isEmpty)
            let other = try await scene.shop.makeUser()
            _ = try await scene.authenticator.enroll(with: .ticket(try await scene.shop.makeTicket(for: other)))
            let issuers = try await Authenticator.issuers(in: scene.vault)
            #expect(issuers.map(\.absoluteString) == ["\(scene.server.issuer)"])
        }
    }

    @Test("Whether there is a biometric is known on the device, without asking the server")
    func biometric() async throws {
        try await SDKScene.with(vault: InsecureSimulatedBiometrics(before: MemoryVault()) { _ in nil }) { scene in
            #expect(await !scene.enrollment.hasBiometricKey)
            try await scene.enrollment.registerBiometric(prompt: "Register?")
            scene.transport.happen { _, _ in throw FaultyTransport.Lost() }
            #expect(await scene.enrollment.hasBiometricKey)
            scene.transport.happen(nil)
            try await scene.enrollment.removeBiometric()
            #expect(await !scene.enrollment.hasBiometricKey)
        }
    }

    @Test("A token of another library is bound to nothing; what could bring a field along is none")
    func bearer() async throws {
        let token = try #require(AccessToken(bearer: "abc", expiresAt: 5))
        #expect(token.reveal() == "abc" && !token.isBound && token.expiresAt == 5 && "\(token)" == "•••")
        let url = try #require(URL(string: "https://api.example.com/orders"))
        #expect(try await token.headerFields(for: "GET", url) == ["Authorization": "Bearer abc"])
        for text in ["", "a b", "a\r\nb", "ä"] { #expect(AccessToken(bearer: text) == nil, "\(text)") }
    }
}
