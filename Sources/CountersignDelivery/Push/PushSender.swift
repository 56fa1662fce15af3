package import AsyncHTTPClient
import CountersignCore
import CountersignWire
import NIOCore
import NIOSSL

/// Sends pushes through the services that the operator has set up.
package struct PushSender: Sendable {
    private let apns: APNsSender?
    private let fcm: FCMSender?
    private let local: LocalPushSender?

    /// Creates a sender; a service that is not set up is nil.
    package init(apns: APNsSender? = nil, fcm: FCMSender? = nil, local: LocalPushSender? = nil) {
        self.apns = apns
        self.fcm = fcm
        self.local = local
    }

    /// Creates a client for one service, which uses HTTP/2 if the service supports it and never follows redirects.
    ///
    /// The caller must shut it down.
    ///
    /// - Parameter authorities: a file of trusted certificates, used instead of the system's.
    package static func makeClient(authorities: String? = nil) -> HTTPClient {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let authorities { tls.trustRoots = .file(authorities) }
        configuration.tlsConfiguration = tls
        // The outbox repeats failed attempts.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.connect = .seconds(5)
        // Later than the timeout of a request, whose error is more specific.
        let silence = ServiceReply.timeout + .seconds(1)
        configuration.http2ConnectionDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let handlers = channel.pipeline.syncOperations
                try handlers.addHandler(HTTP2IdleTimeoutHandler(limit: silence), position: .first)
                try handlers.addHandler(HTTP2GoAwayHandler(), position: .last)
            }
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a push about a challenge.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - id: the id of the push.
    ///   - prepare: creates the push from the current state of the challenge; nil when there is nothing to send, or no
    ///     registration.
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
