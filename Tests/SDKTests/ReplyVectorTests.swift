import CountersignWire
import Encodings
import Foundation
import Testing

@testable import Countersign

/// The replies of `docs/protocol/vectors/poll.json` and `problem.json`, which another implementation has made.
@Suite("docs/protocol/vectors: replies of the server, as the SDK reads them")
struct ReplyVectorTests {
    private static func file(_ name: String) throws -> (JSONValue, cases: [JSONValue], now: Timestamp) {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/\(name).json")
        let json = try JSONValue(parsing: Array(Data(contentsOf: file)))
        let cases = try #require(json["cases"]?.array)
        try #require(cases.count > 5)
        return (json, cases, Timestamp(seconds: try #require(json["now"]?.integer)))
    }

    @Test("Polls: what is opened, what must be fetched, and what is left out without hiding the rest")
    func polls() async throws {
        let (file, cases, now) = try Self.file("poll")
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let body = Array(try #require(vector["reply"]?.string).utf8)
            let device = try await VectorDevice(
                of: file, at: now, asking: "/v1/enrollments/self/challenges",
                reply: TransportResponse(status: 200, headers: [:], body: body))
            var opened: [String] = []
            for pending in try await device.authenticator.pendingChallenges() {
                guard let question = try? await pending.open() else { continue }
                opened.append("\(pending.id) \(question.message)")
            }
            var (expected, fetched): ([String], [String]) = ([], [])
            for entry in try #require(vector["entries"]?.array) {
                let id = try #require(entry["challenge"]?.string)
                if let body = entry["body"]?.string {
                    let message = try #require(try JSONValue(parsing: Array(body.utf8))["message"]?.string)
                    expected.append("\(id) \(message)")
                } else {
                    fetched.append("/v1/challenges/\(id)/message")
                }
            }
            #expect(opened == expected, "\(name)")
            #expect(device.server.paths.filter { $0.hasSuffix("/message") } == fetched, "\(name)")
        }
    }

    @Test("RFC 9457: what a device does about a refusal, and about a reply that is none; keys go by a notice alone")
    func problems() async throws {
        let (file, cases, now) = try Self.file("problem")
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let status = Int(try #require(vector["status"]?.integer))
            let body = Array(try #require(vector["body"]?.string).utf8)
            let device = try await VectorDevice(
                of: file, at: now, asking: "/v1/enrollments/self",
                reply: TransportResponse(status: status, headers: [:], body: body))
            let refusal = await #expect(throws: CountersignError.self, "\(name)") {
                try await device.authenticator.send("GET", "/v1/enrollments/self", for: device.stored)
            }
            #expect(Self.reaction(to: try #require(refusal)) == vector["reaction"]?.string, "\(name)")
            let left = await device.authenticator.roster.all.map(\.id)
            #expect(left == (vector["reaction"] == "delete" ? [] : [device.stored.id]), "\(name)")
        }
    }

    /// What the SDK tells an app to do, in the words of the vectors.
    private static func reaction(to error: CountersignError) -> String {
        switch error {
        case .alreadyAnswered, .challengeExpired, .challengeEnded, .challengeNotFound: "take_off"
        case .pinIncorrect(let attemptsLeft): attemptsLeft > 0 ? "ask_again" : "tell"
        case .deviceDeregistered: "delete"
        case .enrollmentUnknown: "keep"
        case .server(let problem) where problem.knownCode == .deviceDeregistered: "keep"
        case .server(let problem) where problem.status == 429 && error.retryHelps: "wait"
        default: error.retryHelps ? "repeat" : "tell"
        }
    }
}
