import CountersignWire
import Encodings
import Foundation
import OpenPGP
import Testing

@testable import Countersign

/// The challenges of `docs/protocol/vectors/challenge.json`, which another implementation has made.
@Suite("docs/protocol/vectors: sealed challenges, opened by the SDK")
struct ChallengeVectorTests {
    private static let file: JSONValue? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/challenge.json")
        guard let bytes = try? Data(contentsOf: file) else { return nil }
        return try? JSONValue(parsing: Array(bytes))
    }()

    private static var count: Int { file?["cases"]?.array?.count ?? 0 }

    @Test("There are vectors")
    func some() {
        #expect(Self.count > 5)
    }

    @Test("A challenge is opened as it was sealed, or refused for the reason of the vector", arguments: 0..<count)
    func challenge(_ index: Int) async throws {
        let file = try #require(Self.file)
        let vector = try #require(file["cases"]?[index])
        let name = try #require(vector["name"]?.string)
        let id = try #require(vector["challenge"]?.string.flatMap { ChallengeID($0) })
        let message = try #require(vector["message"]?.string.flatMap { Hex.decode($0) })
        let now = Timestamp(seconds: try #require(vector["now"]?.integer))
        let device = try await VectorDevice(of: file, at: now)
        do throws(CountersignError) {
            let body = try await device.authenticator.unseal(message, naming: id, for: device.stored)
            _ = try await device.authenticator.opened(body)
            #expect(vector["valid"] == true, "\(name)")
            let expected = try? JSONValue(parsing: Array((vector["body"]?.string ?? "").utf8))
            #expect(body.question.message.text == expected?["message"]?.string, "\(name)")
            #expect("\(body.question.nonce)" == expected?["nonce"]?.string, "\(name)")
            #expect(body.question.details.count == expected?["details"]?.array?.count ?? 0, "\(name)")
            #expect(body.question.signingData == expected?["signing_data"]?.string, "\(name)")
            let methods = expected?["methods"]?.array?.compactMap { $0.string.flatMap(AnswerMethod.init(rawValue:)) }
            #expect(body.methods == methods, "\(name)")
            #expect(body.numberEntry.map { Int64($0) } == expected?["number_entry"]?.integer, "\(name)")
            #expect(body.attemptsLeft.map { Int64($0) } == expected?["attempts_left"]?.integer, "\(name)")
            #expect(body.returnURI?.description == expected?["return_uri"]?.string, "\(name)")
        } catch {
            #expect(vector["valid"] == false, "\(name): \(error)")
            #expect(Self.isExpected(error, of: vector), "\(name): \(error)")
        }
    }

    /// Whether the SDK refuses a challenge where and why the vector says.
    private static func isExpected(_ error: CountersignError, of vector: JSONValue) -> Bool {
        let (stage, reason) = (vector["stage"]?.string ?? "", vector["error"]?.string ?? "")
        switch error {
        case .serverChanged: return (stage, reason) == ("message", "unknownSigner")
        case .challengeExpired: return (stage, reason) == ("purpose", "expired")
        case .notHandleable(let words):
            switch (stage, reason) {
            // A packet's type is a number in the vectors and a type of ours in the words.
            case ("message", "unexpectedPacket(2)"):
                return words.hasPrefix("OpenPGP: unexpectedPacket(") && words.contains("2")
            case ("message", _): return words == "OpenPGP: \(reason)"
            case ("body", "signatureType"), ("body", "json"): return words == "it is not JSON"
            case ("body", _): return words.contains("\"\(reason)\"")
            case ("purpose", "methods"): return words == "it is to be answered by unknown methods"
            case ("purpose", "return_uri"): return words.hasPrefix("this app does not go back to ")
            case ("purpose", "challenge"), ("purpose", "issuer"), ("purpose", "user"), ("purpose", "enrollment"):
                return words == "it is meant for somebody else"
            default: return false
            }
        default: return false
        }
    }
}
