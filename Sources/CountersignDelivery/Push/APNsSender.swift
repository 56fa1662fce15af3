package import AsyncHTTPClient
package import CountersignCore
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOHTTP1

/// Sends pushes through the Apple Push Notification service.
///
/// Spec: APNs provider API.
package struct APNsSender: Sendable {
    /// The pause after APNs reported too many requests for a device.
    private static let pause: Seconds = 20

    private let settings: APNsSettings
    private let client: HTTPClient
    private let tokens: APNsTokens
    private let time: any TimeSource

    /// Creates a sender; its client must support HTTP/2.
    package init(
        _ settings: APNsSettings, client: HTTPClient, tokens: any ProviderTokens, time: any TimeSource
    ) {
        self.settings = settings
        self.client = client
        self.tokens = APNsTokens(settings, tokens: tokens, time: time)
        self.time = time
    }

    func serves(_ app: AppID) -> Bool { settings.apps.contains(app) }

    func send(
        _ order: AnnounceChallenge.Order, of challenge: ChallengeID, by environment: APNsEnvironment, as id: EventID
    ) async -> DeliveryResult {
        do {
            let token = try await tokens.token()
            let first = try await post(order, of: challenge, by: environment, as: id, token)
            guard first.status == 403, first.reason == "ExpiredProviderToken",
                let other = try await tokens.token(insteadOf: token)
            else { return judge(first, order) }
            return judge(try await post(order, of: challenge, by: environment, as: id, other), order)
        } catch {
            return .failed("APNs: \(words(of: error))")
        }
    }

    private func post(
        _ order: AnnounceChallenge.Order, of challenge: ChallengeID, by environment: APNsEnvironment, as id: EventID,
        _ token: ProviderToken
    ) async throws -> ServiceReply {
        let device = order.registration.token.reveal()
        var request = HTTPClientRequest(url: "\(settings.base(environment))/3/device/\(device)")
        request.method = .POST
        request.headers = ["authorization": "bearer \(token.text.reveal())", "apns-topic": "\(order.registration.app)"]
        request.headers.add(contentsOf: HTTPHeaders(order.apnsHeaders(of: challenge) + [("apns-id", id.uuid)]))
        request.body = .bytes(order.payload.encoded)
        return try await ServiceReply(to: request, by: client)
    }

    /// Classifies a reply; an unknown reason is judged by the status.
    private func judge(_ reply: ServiceReply, _ order: AnnounceChallenge.Order) -> DeliveryResult {
        let words = "APNs answered \(reply.status) \(ServiceReply.printable(reply.reason))"
        switch (reply.status, reply.reason) {
        case (200, _): return .delivered
        case (410, _), (400, "BadDeviceToken"):
            // The device may have registered the same token again since then.
            if let timestamp = reply.json?["timestamp"]?.integer.map(Timestamp.init(milliseconds:)),
                timestamp < order.target.registeredAt
            {
                return .failed(words)
            }
            return .unregistered(words, order.target)
        case (429, _): return .failed(words, notBefore: reply.retryTime(at: time.now, orAfter: Self.pause))
        case (403, _), (500..., _): return .failed(words, notBefore: reply.retryTime(at: time.now))
        default: return .refused(words)
        }
    }
}

extension AnnounceChallenge.Order {
    /// The APNs headers of a push.
    func apnsHeaders(of challenge: ChallengeID) -> [(String, String)] {
        [
            ("apns-push-type", isSilent ? "background" : "alert"), ("apns-priority", isSilent ? "5" : "10"),
            ("apns-expiration", "\(expiresAt.seconds)"),
            // A newer push about the same challenge replaces the older one.
            ("apns-collapse-id", "\(challenge)"),
        ]
    }
}

extension ServiceReply {
    /// The reason that APNs gave for an error.
    fileprivate var reason: String? { json?["reason"]?.string }
}
