import AsyncHTTPClient
import Crypto
import Encodings
import Logging
import NIOHTTP1

/// Asks people at Countersign, as an ordinary client of its HTTP interface.
struct Asker: Sendable {
    /// How long before Keycloak gives up it is told that nobody has answered.
    private static let margin = Duration.seconds(5)
    /// The longest wait of one request, in seconds.
    private static let longestWait: Int64 = 30

    let url: String
    /// The client's `ID:SECRET`.
    let credential: Secret<String>
    let type: String
    let message: String
    let client: HTTPClient
    let logger: Logger

    /// Asks, and waits for the answer.
    ///
    /// Somebody whom Countersign does not know, or will not ask, is as somebody who does not answer: the outcome and
    /// the time are the same.
    func answer(to request: ChannelRequest, of token: ChannelToken) async -> Keycloak.Status {
        let deadline = token.end - Self.margin
        let asked = ContinuousClock.now < deadline ? await ask(request, token, until: deadline) : nil
        while let challenge = asked, ContinuousClock.now < deadline {
            let left = min(Self.longestWait, max(1, (deadline - ContinuousClock.now).components.seconds))
            let state = http(.GET, "/v1/challenges/\(challenge)?wait=\(left)")
            guard let reply = await reply(to: state, within: left + 10, until: deadline) else { break }
            if let status = Self.status(of: reply.json) { return status }
            if reply.status == 429 {
                // Too many wait at the same time.
                try? await Task.sleep(for: .seconds(1))
            } else if reply.json["state"] != .string("pending") {
                break
            }
        }
        try? await Task.sleep(until: deadline, clock: .continuous)
        guard let challenge = asked else { return .unauthorized }
        // Nobody should say yes where it counts for nothing any more. Where a yes came first, it counts.
        _ = await reply(to: http(.DELETE, "/v1/challenges/\(challenge)"), within: 2, until: deadline)
        let last = await reply(to: http(.GET, "/v1/challenges/\(challenge)"), within: 2, until: deadline)
        return last.flatMap { Self.status(of: $0.json) } ?? .unauthorized
    }

    /// The challenge; nil if nobody is asked.
    private func ask(
        _ request: ChannelRequest, _ token: ChannelToken, until deadline: ContinuousClock.Instant
    ) async -> String? {
        var details = [Self.detail("Application", token.client)]
        if let text = request.bindingMessage, !text.isEmpty { details.append(Self.detail("Message", text)) }
        if request.isConsentRequired, let scope = request.scope { details.append(Self.detail("Access", scope)) }
        let body: JSONValue = [
            "user": .string("external_id:\(request.loginHint)"), "type": .string(type), "message": .string(message),
            "details": .array(details),
        ]
        var question = http(.POST, "/v1/challenges")
        // A request that comes once more, even after a restart of this program, asks nobody again.
        let name = Hex.encode(Array(SHA256.hash(data: Array(token.id.utf8))))
        question.headers.add(name: "idempotency-key", value: "keycloak-\(name)")
        question.headers.add(name: "content-type", value: "application/json")
        question.body = .bytes(body.encoded)
        guard let reply = await reply(to: question, within: 10, until: deadline) else { return nil }
        guard reply.isSuccess, let challenge = reply.json["id"]?.string else {
            logger.warning(
                "nobody is asked",
                metadata: ["status": "\(reply.status)", "code": "\(reply.json["code"]?.string ?? "none")"])
            return nil
        }
        if reply.json["number"] != nil {
            logger.error("the type shows a number, which nobody sees; use one without number entry")
        }
        logger.info("a person is asked", metadata: ["challenge": "\(challenge)"])
        return challenge
    }

    private static func detail(_ label: String, _ value: String) -> JSONValue {
        ["label": .string(label), "value": .string(value)]
    }

    /// What the end of a challenge is to Keycloak; nil if nobody has answered.
    private static func status(of challenge: JSONValue) -> Keycloak.Status? {
        switch (challenge["state"]?.string, challenge["reason"]?.string) {
        case ("approved", _): .succeed
        case ("denied", "declined"): .cancelled
        case ("denied", _), ("failed", _), ("cancelled", _): .unauthorized
        default: nil
        }
    }

    private func http(_ method: HTTPMethod, _ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        let credential = Base64.encode(Array(credential.reveal().utf8))
        request.headers.add(name: "authorization", value: "Basic \(credential)")
        return request
    }

    /// The reply to a request, which is repeated until the deadline where Countersign is away or busy; nil beyond it.
    private func reply(
        to request: HTTPClientRequest, within seconds: Int64, until deadline: ContinuousClock.Instant
    ) async -> Reply? {
        repeat {
            do {
                let reply = try await client.reply(to: request, within: seconds)
                if reply.status < 500 { return reply }
                logger.warning("Countersign is busy", metadata: ["status": "\(reply.status)"])
            } catch {
                logger.warning("Countersign cannot be reached", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(1))
        } while ContinuousClock.now < deadline
        return nil
    }
}
