import Crypto
import Encodings
import Foundation
import JOSE

/// Apple's documented rules for a request, and nothing that is not written there.
///
/// Spec: APNs provider API, *Sending notification requests to APNs*, *Handling notification responses from APNs*,
/// *Establishing a token-based connection to APNs*.
struct APNsRules: PeerRules {
    /// How old a provider token may be, and how soon another may come, in seconds.
    private static let oldest: Int64 = 3600
    private static let soonest: Int64 = 20 * 60
    private static let largest = 4096
    private static let types: Set = [
        "alert", "background", "controls", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
        "pushtotalk", "widgets",
    ]

    let team: String
    let keyID: String
    let key: P256.Signing.PublicKey
    let topics: Set<String>

    /// A provider token that was seen on a connection.
    struct Seen: Sendable {
        let text: String
        let issuedAt: Int64
    }

    let firstStreams = 1

    func judge(_ push: Push, on connection: ConnectionState, now: Int64) -> Judgement {
        let (isFirst, refused) = connection.withToken { seen in
            let (token, refused) = token(of: push, after: seen, now: now)
            defer { seen = token }
            return (seen == nil && refused == nil, refused)
        }
        if let refusal = refused ?? refusal(of: push) { return Judgement(answer: refusal, opensConnection: isFirst) }
        return Judgement(
            answer: .accepted, device: push.path.split(separator: "/").last.map(String.init), opensConnection: isFirst)
    }

    func body(of answer: Answer) -> String {
        guard let reason = answer.reason else { return "" }
        return JSONValue.members([
            "reason": .string(reason), "timestamp": answer.timestamp.map(JSONValue.integer),
        ]).text
    }

    /// What is wrong with the provider token of a request; the token when nothing is.
    private func token(of push: Push, after seen: Seen?, now: Int64) -> (seen: Seen?, refusal: Answer?) {
        guard let field = push.values("authorization").first, field.hasPrefix("bearer ") else {
            return (seen, Answer(status: 403, reason: "MissingProviderToken"))
        }
        let text = String(field.dropFirst(7))
        if let seen, seen.text == text, now - seen.issuedAt <= Self.oldest { return (seen, nil) }
        guard
            let verified = try? JWS.verify(
                text, algorithms: [.es256], type: .exactly("JWT"), keys: JWKSet([JWK(.p256(key), keyID: keyID)])),
            let claims = try? JSONValue(parsing: verified.payload), claims["iss"] == .string(team),
            let issuedAt = claims["iat"]?.integer, issuedAt <= now + 60
        else { return (seen, Answer(status: 403, reason: "InvalidProviderToken")) }
        guard now - issuedAt <= Self.oldest else { return (seen, Answer(status: 403, reason: "ExpiredProviderToken")) }
        if let seen, issuedAt > seen.issuedAt, issuedAt - seen.issuedAt < Self.soonest {
            return (seen, Answer(status: 429, reason: "TooManyProviderTokenUpdates"))
        }
        return (Seen(text: text, issuedAt: issuedAt), nil)
    }

    /// What is wrong with the rest of a request.
    private func refusal(of push: Push) -> Answer? {
        func bad(_ reason: String) -> Answer { Answer(status: 400, reason: reason) }
        guard push.method == "POST" else { return Answer(status: 405, reason: "MethodNotAllowed") }
        guard push.path.hasPrefix("/3/device/") else { return Answer(status: 404, reason: "BadPath") }
        let device = push.path.dropFirst("/3/device/".count)
        if device.isEmpty { return bad("MissingDeviceToken") }
        guard Hex.decode(device.lowercased()) != nil else { return bad("BadDeviceToken") }
        let names = push.fields.map(\.name).filter { $0.hasPrefix("apns-") || $0 == "authorization" }
        if Set(names).count != names.count { return bad("DuplicateHeaders") }
        guard let topic = push.values("apns-topic").first else { return bad("MissingTopic") }
        if !topics.contains(topic) { return bad("TopicDisallowed") }
        guard let type = push.values("apns-push-type").first, Self.types.contains(type) else {
            return bad("InvalidPushType")
        }
        if let id = push.values("apns-id").first, UUID(uuidString: id) == nil { return bad("BadMessageId") }
        // A time from now on instead of a date is the usual mistake.
        if let date = push.values("apns-expiration").first {
            guard let seconds = Int64(date), seconds == 0 || seconds > 1_000_000_000 else {
                return bad("BadExpirationDate")
            }
        }
        let priority = push.values("apns-priority").first ?? "10"
        guard ["10", "5", "1"].contains(priority), type != "background" || priority == "5" else {
            return bad("BadPriority")
        }
        if let collapse = push.values("apns-collapse-id").first, collapse.utf8.count > 64 {
            return bad("BadCollapseId")
        }
        if push.payload.isEmpty { return bad("PayloadEmpty") }
        if push.payload.count > Self.largest { return Answer(status: 413, reason: "PayloadTooLarge") }
        guard let json = try? JSONSerialization.jsonObject(with: Data(push.payload)) as? [String: Any],
            json["aps"] is [String: Any]
        else { return bad("PayloadEmpty") }
        return nil
    }
}
