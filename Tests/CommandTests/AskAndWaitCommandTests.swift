import Encodings
import Foundation
import TestSupport
import Testing

@Suite("challenge ask --wait", .timeLimit(.minutes(15)))
struct AskAndWaitCommandTests {
    @Test("It waits on through the death of the server, and the user is asked once")
    func serverDies() async throws {
        try await ServedTool.with { tool in
            let shop = try await tool.furnish()
            let asking = try tool.start(
                "challenge", "ask", "--user", "customer-1", "--type", "payment", "--message", "Pay EUR 1,250.00?",
                "--wait", "120", as: shop)
            let id = try #require(await asking.line(holding: "Challenge chl_")).dropFirst("Challenge ".count)
            let number = try #require(await asking.line(holding: "Number to type")).suffix(6)
            tool.server.send(SIGKILL)
            _ = try await tool.server.result()
            let port = try #require(tool.url.split(separator: ":").last)
            let next = try Tool.start(["serve", "--port", "\(port)", "--json", "--data", tool.data])
            #expect(await next.line() != nil)
            let answered = try await tool.run("device", "answer", "\(id)", "--approve", "--number", "\(number)")
            #expect(answered.status == 0, "\(answered.errors)")
            let told = try await asking.result()
            #expect(told.status == 0, "\(told.errors)")
            #expect(told.output.hasSuffix("\(id): approved by confirm\n"), "\(told.output)")
            #expect(try await tool.json("challenge", "list", as: shop)["challenges"]?.array?.count == 1)
            next.send(SIGTERM)
            #expect(try await next.result().status == 0)
        }
    }
}
