package import AsyncHTTPClient
package import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1

/// Sends pushes through Firebase Cloud Messaging.
///
/// An Android message contains only data, so that the app verifies the announcement before it shows anything. For Apple
/// devices, FCM passes on the same headers and payload that APNs would get.
///
/// Spec: FCM HTTP v1.
package struct FCMSender: Sendable {
    /// The pause after FCM reported too many requests.
    ///
    /// Spec: FCM HTTP v1.
    private static let pause = Seconds.minutes(1)

    private let settings: FCMSettings
    private let client: HTTPClient
    private let tokens: FCMTokens
    private let time: any TimeSource

    package init(_ settings: FCMSettings, client: HTTPClient, time: any TimeSource) {
        self.settings = settings
        self.client = client
        tokens = FCMTokens(settings, client: client, time: time)
        self.time = time
    }

    func send(_ order: AnnounceChallenge.Order, of challenge: ChallengeID) async -> DeliveryResult {
        do {
            let token = try await tokens.token()
            let first = try await post(order, of: challenge, token)
            guard first.status == 401 else { return judge(first, order) }
            // The token was revoked early; a new one is fetched, once.
            await tokens.forget(token)
            return judge(try await post(order, of: challenge, try await tokens.token()), order)
        } catch let refusal as FCMTokens.Refusal {
            return .failed(refusal.words, notBefore: refusal.retryAt)
        } catch {
            return .failed("FCM: \(words(of: error))")
        }
    }

    private func post(
        _ order: AnnounceChallenge.Order, of challenge: ChallengeID, _ token: Secret<String>
    ) async throws -> ServiceReply {
        var request = HTTPClientRequest(url: "\(settings.url)/v1/projects/\(settings.project)/messages:send")
        request.method = .POST
        request.headers = [
            "authorization": "Bearer \(token.reveal())", "content-type": "application/json; charset=utf-8",
        ]
        request.body = .bytes(message(order, of: challenge).encoded)
        return try await ServiceReply(to: request, by: client)
    }

    private func message(_ order: AnnounceChallenge.Order, of challenge: ChallengeID) -> JSONValue {
        let aps = order.payload["aps"]
        var headers = JSONObject()
        for (name, value) in order.apnsHeaders(of: challenge) { headers[name] = .string(value) }
        let seconds = max(0, order.expiresAt.seconds - time.now.seconds)
        return [
            "message": .members([
                "token": .string(order.registration.token.reveal()),
                // In FCM's data, every value is a string.
                "data": .members([
                    "title": aps?["alert"]?["title"], "body": aps?["alert"]?["body"], "category": aps?["category"],
                    "badge": aps?["badge"].map { .string($0.text) },
                    "countersign": order.payload["countersign"].map { .string($0.text) },
                ]),
                "android": ["priority": order.isSilent ? "NORMAL" : "HIGH", "ttl": .string("\(seconds)s")],
                "apns": .members(["headers": .object(headers), "payload": order.payload]),
            ])
        ]
    }

    /// Classifies a reply; an unknown code is judged by the status.
    private func judge(_ reply: ServiceReply, _ order: AnnounceChallenge.Order) -> DeliveryResult {
        let error = reply.json?["error"]
        let details = error?["details"]?.array ?? []
        let code = details.lazy.compactMap { $0["errorCode"]?.string }.first ?? error?["status"]?.string
        let isTokenWrong = details.flatMap { $0["fieldViolations"]?.array ?? [] }
            .contains { $0["field"] == "message.token" }
        let words = "FCM answered \(reply.status) \(ServiceReply.printable(code))"
        switch (reply.status, code) {
        case (200, _): return .delivered
        case (404, "UNREGISTERED"): return .unregistered(words, order.target)
        case (400, _) where isTokenWrong: return .unregistered(words, order.target)
        case (429, _): return .failed(words, notBefore: reply.retryTime(at: time.now, orAfter: Self.pause))
        case (401, _), (500..., _): return .failed(words, notBefore: reply.retryTime(at: time.now))
        default: return .refused(words)
        }
    }
}
