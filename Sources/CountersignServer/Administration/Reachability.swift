import AsyncHTTPClient
import CountersignWire
import Foundation
import NIOCore
import NIOHTTP1

/// Checks a server at its public URL, as its callers reach it.
enum Reachability {
    static func examine(_ settings: ServerSettings, now: Timestamp) async -> [DiagnosticResult] {
        guard let issuer = settings.issuer else {
            return [
                .warning(
                    "issuer", "No public URL is set: the server is for this machine alone.",
                    "Set issuer before anybody enrolls.")
            ]
        }
        do {
            let url = issuer.uri("/readyz")
            let response = try await reply(to: url)
            guard response.status == .ok else {
                return [
                    .fault(
                        "issuer", "\(url) answers \(response.status.code).", "Look at the proxy, or the server's log.")
                ]
            }
            return [
                .fine("issuer", "\(issuer) answers."),
                time(response.headers.first(name: "Date"), now: SystemTime().now),
            ].compactMap { $0 }
        } catch {
            return [
                .fault(
                    "issuer", "\(issuer) does not answer: \(error).",
                    "Start the server; look at the name, the firewall, the proxy and the certificate.")
            ]
        }
    }

    private static func reply(to url: String) async throws -> HTTPClientResponse {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.connectionPool.retryConnectionEstablishment = false
        TrustRoots.apply(to: &configuration)
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            try await client.shutdown()
            return response
        } catch {
            try await client.shutdown()
            throw error
        }
    }

    /// Checks the clock in the field `Date` of a reply, which is the server's or its proxy's.
    static func time(_ field: String?, now: Timestamp) -> DiagnosticResult? {
        guard let date = field.flatMap({ format.date(from: $0) }) else { return nil }
        let difference = Int(date.timeIntervalSince1970) - Int(now.seconds)
        guard abs(difference) > 5 else { return .fine("server clock", "It agrees with the one here.") }
        return .warning(
            "server clock", "It differs by \(abs(difference)) s from here.", "Set both clocks right, by NTP.")
    }

    /// The date format of HTTP.
    ///
    /// Spec: RFC 9110 §5.6.7.
    private static var format: DateFormatter {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format
    }
}
