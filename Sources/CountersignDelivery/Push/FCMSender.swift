package import AsyncHTTPClient
package import CountersignCore
import CountersignWire
import Encodings
import NIOHTTP1

/// Sends pushes by Firebase Cloud Messaging.
///
/// A message carries data alone, so that an Android app verifies the announcement before it shows it; to Apple's devices
/// FCM hands on what APNs would have got. Spec: FCM HTTP v1.
package struct FCMSender: Sendable {
    /// For how long nothing is sent to a device after too much was, in seconds.
    ///
    /// Spec: FCM HTTP v1.
    private static let pause: Int64 = 60

    private let settings: FCMSettings
    private let client: HTTPClient
    private let tokens: FCMTokens
    private let time: any TimeSource

    /// A sender over a client.
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
            // Taken back before its time: another one is fetched, once.
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
                // Values are texts here.
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

    /// What becomes of a push by what FCM said; a code that is not known counts as its status does.
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
