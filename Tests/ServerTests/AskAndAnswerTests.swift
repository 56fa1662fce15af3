import CountersignWire
import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

@Suite("A client asks, a phone answers")
struct AskAndAnswerTests {
    @Test("An approval reaches the client, with its receipt")
    func approval() async throws {
        try await TestServer.with { server in
            try await server.administrator.call(.PUT, "/v1/admin/types/payment", [:])
            let shop = try await server.makeClient()
            let user = try await shop.makeUser("customer-1")
            let phone = try await TestPhone.enrolled(for: user, by: shop, at: server)
            let asked = try await shop.ask(user)
            let id = try #require(asked["id"]?.string)
            let number = try #require(asked["number"]?.string.flatMap { EntryNumber($0) })
            let reply = try await phone.answer(id, .approved(.confirm, number: number))
            #expect(reply.status == 200, "\(reply)")
            #expect(reply.json["state"] == "approved")
            let status = try await shop.call(.GET, "/v1/challenges/\(id)").success()
            #expect(status["state"] == "approved")
            #expect(status["method"] == "confirm")
            let receipt = try await shop.call(.GET, "/v1/challenges/\(id)/receipt")
            #expect(receipt.status == 200)
            #expect(String(decoding: receipt.body, as: UTF8.self).contains("number: \(number.digits)"))
        }
    }
}
