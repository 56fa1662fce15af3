import CountersignWire
import Encodings
import Foundation

/// Sends an app's requests to the endpoints of an issuer, each within limits of size and time.
struct ProviderConnection: Sendable {
    /// The most bytes of a reply that are read.
    static let maximumReply = 64 * 1024
    /// How often a request that may be repeated is sent, if the network fails.
    private static let attempts = 3

    let transport: any Transport
    /// How long a request may take from its first byte to the last of its reply.
    let timeout: Duration

    /// Fetches an object.
    ///
    /// - Parameters:
    ///   - url: where from.
    ///   - token: the access token that is shown; nil for none.
    func get(_ url: URL, showing token: AccessToken? = nil) async throws(CountersignError) -> TransportResponse {
        var request = TransportRequest(method: "GET", url: url, timeout: seconds)
        request.headers["Accept"] = "application/json"
        guard let token else { return try await send(request, within: timeout) }
        let bare = request
        return try await proved(by: token.key, at: url, isRepeatable: true, within: timeout) {
            () throws(CountersignError) in
            let fields = try await token.headerFields(for: bare.method, url)
            var shown = bare
            shown.headers.merge(fields) { _, field in field }
            return shown
        }
    }

    /// Sends a form.
    ///
    /// - Parameters:
    ///   - fields: the fields, in order.
    ///   - url: where to.
    ///   - isRepeatable: whether the same form gets the same result again, so that it is sent anew if its reply may be
    ///     lost.
    ///   - waiting: for how many seconds the issuer may hold the request, which it is told.
    ///   - key: the key to which the tokens are bound that the form asks for; nil for none.
    func post(
        _ fields: [(String, String)], to url: URL, isRepeatable: Bool = false, waiting: Int64 = 0,
        provedBy key: TokenKey? = nil
    ) async throws(CountersignError) -> TransportResponse {
        let form = FormText.encoded(fields)
        var request = TransportRequest(
            method: "POST", url: url,
            headers: ["Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded"],
            body: Array(form.utf8), timeout: seconds + TimeInterval(waiting))
        if waiting > 0 { request.headers["Prefer"] = "wait=\(waiting)" }
        let limit = timeout + .seconds(waiting)
        var backoff = Backoff()
        while true {
            do throws(CountersignError) {
                let bare = request
                return try await proved(by: key, at: url, isRepeatable: isRepeatable, within: limit) {
                    () throws(CountersignError) in
                    var proved = bare
                    if let key { proved.headers[KeyProof.field] = try await key.proof(bare.method, url) }
                    return proved
                }
            } catch {
                guard isRepeatable, case .network = error, backoff.failures + 1 < Self.attempts else { throw error }
                backoff.fail(after: .zero)
                do { try await Task.sleep(for: backoff.pause) } catch { throw .cancelled }
            }
        }
    }

    /// Sends a request with a proof; once again with another one, if the server has just told a nonce.
    ///
    /// The system's HTTP client repeats a request by itself when its connection breaks before the reply. Then the proof
    /// came before, and what may be repeated is sent with a new one.
    private func proved(
        by key: TokenKey?, at url: URL, isRepeatable: Bool, within limit: Duration,
        _ make: () async throws(CountersignError) -> TransportRequest
    ) async throws(CountersignError) -> TransportResponse {
        let response = try await send(try await make(), within: limit)
        guard let key else { return response }
        let isWanted = await key.notes(response, from: url)
        guard isWanted || isRepeatable && response.proofError == "invalid_dpop_proof" else { return response }
        let second = try await send(try await make(), within: limit)
        _ = await key.notes(second, from: url)
        return second
    }

    private var seconds: TimeInterval { TimeInterval(timeout.components.seconds) + 1 }

    private func send(
        _ request: TransportRequest, within limit: Duration
    ) async throws(CountersignError) -> TransportResponse {
        let response: TransportResponse
        do {
            // The system's limit begins anew with every byte that arrives, so a slow reply could last for ever.
            response = try await withThrowingTaskGroup(of: TransportResponse?.self) { group in
                group.addTask { try await transport.send(request) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    return nil
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let response = first else { throw TimedOut() }
                return response
            }
        } catch {
            throw Task.isCancelled ? .cancelled : .network("\(error)")
        }
        guard response.body.count <= Self.maximumReply else {
            throw .providerInvalid("it sends more than \(Self.maximumReply / 1024) KiB")
        }
        return response
    }

    private struct TimedOut: Error, CustomStringConvertible {
        let description = "the reply took too long"
    }
}
