package import AsyncHTTPClient
import CountersignCore
import CountersignWire
import NIOCore
import NIOSSL

/// Sends pushes by the services that the operator has set up.
package struct PushSender: Sendable {
    private let apns: APNsSender?
    private let fcm: FCMSender?
    private let local: LocalPushSender?

    /// A sender by these services; nil for one that is not set up.
    package init(apns: APNsSender? = nil, fcm: FCMSender? = nil, local: LocalPushSender? = nil) {
        self.apns = apns
        self.fcm = fcm
        self.local = local
    }

    /// A client for one service: over HTTP/2 where the service speaks it, and never where a redirect leads.
    ///
    /// Whoever makes it shuts it down.
    ///
    /// - Parameter authorities: the file of the certificates to trust instead of the system's.
    package static func makeClient(authorities: String? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorities { tls.trustRoots = .file(authorities) }
        configuration.tlsConfiguration = tls
        // The outbox tries again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        // Later than a request gives up, which says more of why.
        let silence = ServiceReply.timeout + .seconds(1)
        configuration.http2ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    HTTP2IdleTimeoutHandler(limit: silence), position: .first)
            }
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a push about a challenge.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - id: the push.
    ///   - prepare: makes it, as the challenge stands now; nil when there is nothing to send, or nowhere.
    func send(
        of challenge: ChallengeID, as id: EventID, prepare: () async throws -> AnnounceChallenge.Order?
    ) async -> DeliveryResult {
        let order: AnnounceChallenge.Order?
        do {
            order = try await prepare()
        } catch {
            return .failed("the database could not be read")
        }
        guard let order else { return .refused("the question has ended, or the device has no push registration") }
        switch order.registration.service {
        case .apns(let environment):
            guard let apns, apns.serves(order.registration.app) else {
                return .refused("APNs is not set up for \(order.registration.app)")
            }
            return await apns.send(order, of: challenge, by: environment, as: id)
        case .fcm:
            guard let fcm else { return .refused("FCM is not set up") }
            return await fcm.send(order, of: challenge)
        case .local:
            guard let local else { return .refused("pushes on the server's own machine are for development alone") }
            return await local.send(order)
        }
    }
}
