import CountersignWire
import Encodings
import Foundation
import StorageTestSupport
import Testing

@testable import CountersignCore

/// The answers of `docs/protocol/vectors/jwt-answer.json`, which another implementation has signed.
@Suite("docs/protocol/vectors: answers by JWT, as the server judges them")
struct JWTAnswerVectorTests {
    private struct Judged {
        var decision: Decision?
        var error: String?
    }

    @Test("RFC 7515 §5.2: each answer decides what its vector says, or is refused for the same reason")
    func answers() throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../docs/protocol/vectors/jwt-answer.json")
        let file = try JSONValue(parsing: Array(Data(contentsOf: path)))
        let cases = try #require(file["cases"]?.array)
        try #require(cases.count > 40)
        for vector in cases {
            let name = try #require(vector["name"]?.string)
            let judged = try judge(vector, of: file)
            var method: String?
            if case .approved(let proved, _)? = judged.decision { method = proved.rawValue }
            #expect(judged.decision?.name == vector["decision"]?.string, "\(name)")
            #expect(method == vector["method"]?.string, "\(name)")
            #expect(judged.error == vector["error"]?.string, "\(name)")
        }
    }

    private func judge(_ vector: JSONValue, of file: JSONValue) throws -> Judged {
        let name = try #require(vector["device"]?.string)
        let keys = try #require(file["devices"]?[name].flatMap { DeviceJWKs($0) })
        let token = try #require(vector["token"]?.string)
        let answer: JWTAnswer
        do { answer = try JWTAnswer(token, by: keys) } catch { return Judged(error: words(of: error)) }
        switch try verifier(vector, of: file, keys).verify(answer, token) {
        case .verified(let answer): return Judged(decision: answer.decision)
        case .invalid(let fault): return Judged(error: words(of: fault))
        case .wrongPIN, .pinLocked, .wrongNumber: throw World.Broken("a verdict of a PIN or a number")
        }
    }

    /// The server, with the challenge of the file and its device.
    private func verifier(_ vector: JSONValue, of file: JSONValue, _ keys: DeviceJWKs) throws -> JWTVerifier {
        let issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
        let now = Timestamp(seconds: try #require(vector["now"]?.integer))
        let asked = now.adding(-30)
        let user = try #require(file["user"]?.string.flatMap { UserID($0) })
        let message = try DisplayMessage("Sign in?")
        let question = Question(
            challenge: try #require(file["challenge"]?.string.flatMap { ChallengeID($0) }),
            nonce: try #require(file["nonce"]?.string.flatMap { Nonce($0) }), issuer: issuer, client: AskScene.id(1),
            clientName: try ClientName("ACME"), type: .confirm, context: nil, askedAt: asked, details: [],
            signingData: nil, message: message)
        let methods = try #require(vector["methods"]?.array).compactMap { word in
            word.string.flatMap { AnswerMethod(rawValue: $0) }
        }
        let challenge = Challenge(
            question: question, user: user, alert: message, methods: methods, numberHash: nil,
            expiresAt: now.adding(60), callbackURI: nil, clientState: nil, locale: nil, state: .pending)
        let enrollment = Enrollment(
            id: try #require(file["enrollment"]?.string.flatMap { EnrollmentID($0) }), user: user,
            client: AskScene.id(1), state: .active, credential: .jwk(keys),
            device: DeviceDescription(name: try DisplayLine("Phone"), storage: .enclave), versions: [],
            biometric: keys.userVerification.map { _ in EnrolledBiometric(key: nil, countsFrom: asked) },
            createdAt: asked)
        return JWTVerifier(
            challenge: challenge, type: ChallengeType(name: .confirm, numberEntry: false, assurance: .challenge),
            enrollment: enrollment, keys: keys, issuer: issuer, now: now)
    }

    /// An error in the words of the vectors, without modules and types.
    private func words(of error: any Error) -> String { words("\(error)") }

    private func words(of fault: AnswerFault) -> String { words("\(fault)") }

    private func words(_ text: String) -> String { text.replacing(#/(?:\w+\.)+/#, with: "") }
}
