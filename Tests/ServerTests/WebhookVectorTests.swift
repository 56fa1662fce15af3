import CountersignDelivery
import Encodings
import Foundation
import Testing

/// The calls of `docs/protocol/vectors/webhook.json`, which another implementation has signed.
@Suite("docs/protocol/vectors: calls of the server, signed by another implementation as by ours")
struct WebhookVectorTests {
    private static func file() throws -> JSONValue {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/webhook.json")
        return try JSONValue(parsing: Array(Data(contentsOf: file)))
    }

    /// What the server sends for a body at the time and under the id that a call names.
    private static func sent(
        _ body: String, for vector: JSONValue, by secrets: [String]
    ) throws -> [String: String]? {
        guard let id = vector["fields"]?["webhook-id"]?.string,
            let time = vector["fields"]?["webhook-timestamp"]?.string.flatMap({ Int64($0) })
        else { return nil }
        let signature = try #require(WebhookSignature(secrets: secrets.map { Secret($0) }))
        let headers = signature.headers(id: id, at: time, body: Array(body.utf8))
        return Dictionary(uniqueKeysWithValues: headers.map { ($0.name, $0.value) })
    }

    @Test("Standard Webhooks, Signature scheme: what is to be accepted is what the server sends, and nothing else")
    func signatures() throws {
        let file = try Self.file()
        let cases = try #require(file["cases"]?.array)
        try #require(cases.count > 5)
        let (now, tolerance) = (try #require(file["now"]?.integer), try #require(file["tolerance"]?.integer))
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let body = try #require(vector["body"]?.string)
            let secret = try #require(vector["secret"]?.string)
            let arrived = vector["fields"]?["webhook-signature"]?.string?.split(separator: " ").map(String.init) ?? []
            let expected = try Self.sent(body, for: vector, by: [secret])
            let isSigned = expected?["webhook-signature"].map { arrived.contains($0) } ?? false
            let isInTime = (expected?["webhook-timestamp"].flatMap { Int64($0) }).map { abs($0 - now) <= tolerance }
            switch vector["error"]?.string {
            case "signature": #expect(!isSigned && isInTime != false, "\(name)")
            case "timestamp": #expect(isInTime != true, "\(name)")
            default:
                #expect(isSigned && isInTime == true, "\(name)")
                let secrets = try #require(vector["secrets"]?.array).compactMap(\.string)
                let all = try #require(try Self.sent(body, for: vector, by: secrets)?["webhook-signature"])
                // Other signatures may stand beside ours.
                #expect(arrived.suffix(secrets.count).joined(separator: " ") == all, "\(name)")
            }
        }
    }
}
