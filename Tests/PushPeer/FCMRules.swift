import Encodings
import Foundation
import JOSE
import Synchronization

/// Google's documented rules for tokens and messages, and nothing that is not written there.
///
/// Spec: FCM HTTP v1, `projects.messages.send` and *Error codes*; Google, *Using OAuth 2.0 for server to server
/// applications*.
final class FCMRules: PeerRules {
    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
    private static let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    /// How long an assertion and a token may last, in seconds.
    private static let lifetime: Int64 = 3600
    private static let largest = 4096

    private let account: String
    private let keyID: String
    private let key: RSAPublicKey
    private let project: String
    private let tokens = Mutex<[String: Int64]>([:])

    let firstStreams = 100

    init(account: String, keyID: String, key: RSAPublicKey, project: String) {
        self.account = account
        self.keyID = keyID
        self.key = key
        self.project = project
    }

    func judge(_ push: Push, on connection: ConnectionState, now: Int64) -> Judgement {
        switch push.path {
        case "/token":
            let answer = token(for: push, now: now)
            return Judgement(answer: answer, device: answer.status == 200 ? "token" : nil)
        case "/v1/projects/\(project)/messages:send":
            if let refusal = refusal(of: push, now: now) { return Judgement(answer: refusal) }
            var answer = Answer.accepted
            answer.detail = ["name": .string("projects/\(project)/messages/\(UUID().uuidString)")]
            return Judgement(answer: answer, device: message(of: push)?["token"]?.string)
        default: return Judgement(answer: Answer(status: 404, reason: "NOT_FOUND"))
        }
    }

    func body(of answer: Answer) -> String {
        if answer.status == 200 { return answer.detail?.text ?? "{}" }
        if let detail = answer.detail, detail["error"] != nil { return detail.text }
        let code: JSONValue = .string(answer.reason ?? "UNKNOWN")
        return JSONValue.members([
            "error": .members([
                "code": .integer(Int64(answer.status)), "message": "No.", "status": code,
                "details": [
                    answer.detail
                        ?? ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code]
                ],
            ])
        ]).text
    }

    private func token(for push: Push, now: Int64) -> Answer {
        func refused(_ error: String) -> Answer {
            Answer(status: 400, reason: error, detail: ["error": .string(error)])
        }
        guard push.method == "POST", push.values("content-type") == ["application/x-www-form-urlencoded"],
            let form = URLComponents(string: "?\(String(decoding: push.payload, as: UTF8.self))")?.queryItems,
            form.first(where: { $0.name == "grant_type" })?.value == Self.grant,
            let assertion = form.first(where: { $0.name == "assertion" })?.value
        else { return refused("invalid_request") }
        let host = push.values(":authority").first ?? push.values("host").first ?? ""
        guard
            let verified = try? JWS.verify(
                assertion, algorithms: [.rs256], type: .exactly("JWT"), keys: JWKSet([JWK(.rsa(key), keyID: keyID)])),
            let claims = try? JSONValue(parsing: verified.payload), claims["iss"] == .string(account),
            claims["scope"] == .string(Self.scope), claims["aud"] == .string("https://\(host)/token"),
            let issuedAt = claims["iat"]?.integer, let expires = claims["exp"]?.integer, issuedAt <= now + 60,
            expires > now, expires - issuedAt <= Self.lifetime
        else { return refused("invalid_grant") }
        let token = "ya29.\(UUID().uuidString)"
        tokens.withLock { $0[token] = now + Self.lifetime - 1 }
        var answer = Answer.accepted
        answer.detail = [
            "access_token": .string(token), "expires_in": .integer(Self.lifetime - 1), "token_type": "Bearer",
        ]
        return answer
    }

    private func message(of push: Push) -> JSONValue? { (try? JSONValue(parsing: push.payload))?["message"] }

    private func refusal(of push: Push, now: Int64) -> Answer? {
        guard push.method == "POST" else { return Answer(status: 404, reason: "NOT_FOUND") }
        let field = push.values("authorization").first ?? ""
        guard field.hasPrefix("Bearer "), let end = tokens.withLock({ $0[String(field.dropFirst(7))] }), now < end
        else { return Answer(status: 401, reason: "UNAUTHENTICATED", detail: ["@type": "ErrorInfo"]) }
        func wrong(_ field: String) -> Answer {
            Answer(
                status: 400, reason: "INVALID_ARGUMENT",
                detail: [
                    "@type": "type.googleapis.com/google.rpc.BadRequest",
                    "fieldViolations": [["field": .string(field), "description": "No."]],
                ])
        }
        guard let message = message(of: push) else { return wrong("message") }
        let known: Set = ["token", "data", "notification", "android", "apns", "webpush", "fcm_options"]
        if let other = message.object?.members.first(where: { !known.contains($0.name) }) {
            return wrong("message.\(other.name)")
        }
        guard let token = message["token"]?.string, token.contains(":") else { return wrong("message.token") }
        var size = 0
        for (name, value) in message["data"]?.object?.members ?? [] {
            guard let text = value.string else { return wrong("message.data[\(name)]") }
            size += name.utf8.count + text.utf8.count
        }
        if size > Self.largest { return wrong("message.data") }
        if let ttl = message["android"]?["ttl"] {
            guard ttl.string?.wholeMatch(of: /[0-9]+(\.[0-9]{1,9})?s/) != nil else {
                return wrong("message.android.ttl")
            }
        }
        if let priority = message["android"]?["priority"], priority != "HIGH", priority != "NORMAL" {
            return wrong("message.android.priority")
        }
        for (name, value) in message["apns"]?["headers"]?.object?.members ?? [] where value.string == nil {
            return wrong("message.apns.headers[\(name)]")
        }
        if let payload = message["apns"]?["payload"], payload.encoded.count > Self.largest {
            return wrong("message.apns.payload")
        }
        return nil
    }
}
