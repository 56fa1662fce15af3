import CountersignCore
import CountersignWire
import Crypto
import Encodings
import JOSE
import OpenPGP
import RelyingPartyAPI

extension Parser {
    /// JSON texts.
    static let json = Parser("json") { input in
        let value: JSONValue
        do throws(JSONSyntaxError) { value = try JSONValue(parsing: input) } catch { return .refused }
        let written = value.encoded
        try expect(
            try again("a JSON value") { try JSONValue(parsing: written) }.encoded == written,
            "a JSON value has no stable spelling")
        let pretty = Array(value.pretty.utf8)
        try expect(
            try again("a pretty JSON value") { try JSONValue(parsing: pretty) }.encoded == written,
            "a JSON value changes when it is laid out")
        return .read
    }

    /// The bodies that devices and server exchange.
    static let wireBodies = Parser("wire-bodies") { input in
        guard let value = try? JSONValue(parsing: input) else { return .refused }
        let verdicts = [
            try body("a challenge", value, { try ChallengeBody($0) }, \.json),
            try body("a device", value, { try DeviceDescription($0, at: "") }, \.json),
            try body("an enrollment request", value, { try EnrollmentRequest($0) }, \.json),
            try body("an enrollment reply", value, { try EnrollmentReply($0) }, \.json),
            try body("an answer", value, { try AnswerRequest($0) }, \.json),
            try body("a change of methods", value, { try MethodChangeRequest($0) }, \.json),
            try body("how methods stand", value, { try MethodsReply($0) }, \.json),
            try body("rules for PINs", value, { try PINPolicy($0, at: "") }, \.json),
            try body("a reply to an answer", value, { try AnswerReply($0) }, \.json),
            try body("a status", value, { try ChallengeStatus($0) }, \.json),
            try body("a detail", value, { try Detail($0, at: "") }, \.json),
        ]
        if let problem = ProblemDetails(value) { _ = problem.description }
        return verdicts.contains(.read) ? .read : .refused
    }

    /// Bodies that only the server reads, as far as reading them needs no server.
    static let serverBodies = Parser("server-bodies") { input in
        guard let value = try? JSONValue(parsing: input) else { return .refused }
        let verdict = HookVerdict(value)
        try expect((verdict?.payload ?? "").utf8.count <= HookVerdict.maximumPayload, "a payload is too long")
        let verdicts = [
            try body("a challenge type", value, { try ChallengeType($0, name: .confirm) }, \.json),
            try body(
                "an authenticator", value,
                { try CustomAuthenticator($0) { CallbackURI($0, isDevelopment: false) } }, \.json),
        ]
        return verdicts.contains(.read) || verdict != nil ? .read : .refused
    }

    private static func body<Value>(
        _ what: String, _ json: JSONValue, _ read: (JSONValue) throws -> Value, _ write: (Value) -> JSONValue
    ) throws -> Verdict {
        let value: Value
        do {
            value = try read(json)
        } catch {
            try expect(error is JSONShapeError || error is RefusedText, "\(what) is refused by \(error)")
            return .refused
        }
        let written = write(value).encoded
        let again = try again(what) { try read(try JSONValue(parsing: written)) }
        try expect(write(again).encoded == written, "\(what) changes when it is written")
        return .read
    }

    static let pushIssuer = Issuer("https://login.example.com")
    static let pushEnrollment = EnrollmentID(
        at: Timestamp(seconds: Int64(FixedKeys.time)), random: [UInt8](repeating: 4, count: 10))

    /// Payloads of push notifications.
    static let pushEnvelope = Parser("push-envelope") { input in
        guard let payload = try? JSONValue(parsing: input), let issuer = pushIssuer else { return .refused }
        _ = PushEnvelope.enrollment(named: payload)
        do throws(PushRefusal) {
            let envelope = try PushEnvelope(
                verifying: payload, issuer: issuer, enrollment: pushEnrollment,
                keys: JWKSet([JWK(FixedKeys.json.publicKey)]), now: Timestamp(seconds: Int64(FixedKeys.time)), skew: 60)
            return envelope.expiresAt > envelope.issuedAt ? .read : .refused
        } catch {
            return .refused
        }
    }
}
