import CountersignWire
import Encodings
import Logging

/// The token of a request, and what its captcha's provider says of it.
struct CheckedCaptcha: Sendable {
    /// For how long a token is remembered: longer than its provider takes it, and than clocks of nodes are apart.
    private static let memory = Seconds.days(1)

    let name: CaptchaName
    private let token: CaptchaToken
    private let verdict: CaptchaVerdict

    /// Asks the provider, outside of all transactions.
    static func check(_ token: CaptchaToken, by name: CaptchaName, ports: Ports) async -> CheckedCaptcha {
        let verdict = await ports.captchas.verify(token, by: name)
        if case .unavailable(let reason) = verdict {
            ports.logger.warning(
                "a captcha cannot be verified", metadata: ["captcha": "\(name)", "error": "\(reason)"])
        }
        return CheckedCaptcha(name: name, token: token, verdict: verdict)
    }

    /// Why nothing is sent for it; nil where something may be, and the token is then spent.
    ///
    /// The provider may not notice that a token comes twice, to two nodes at once.
    func refusal(in work: UnitOfWork) throws -> AskChallenge.Refusal? {
        switch verdict {
        case .unavailable: return .captchaUnavailable
        case .refused: return .captchaRefused
        case .solved:
            let hash = Hex.encode(SecretHash(of: token.text).bytes)
            let isFirst = try work.nonces.spend(nonce: hash, of: "captcha", until: work.now.adding(Self.memory))
            // check: CaptchaTests.once
            guard isFirst else { return .captchaRefused }
            return nil
        }
    }
}

extension UnitOfWork {
    /// Why a code may not be sent for want of a solved captcha; nil where it may.
    ///
    /// - Parameters:
    ///   - name: the captcha that the type needs; nil for none.
    ///   - client: who asks.
    ///   - token: what the request brings.
    ///   - checked: what is known of it.
    func refusal(
        needing name: CaptchaName?, by client: ClientID, _ token: CaptchaToken?, _ checked: CheckedCaptcha?
    ) throws -> AskChallenge.Refusal? {
        guard let name else { return nil }
        // The type may have got another captcha while the provider was asked.
        if let checked, checked.name == name { return try checked.refusal(in: self) }
        guard token != nil else { return .captchaMissing(name) }
        // The provider is asked next, and nobody may have it flooded by us.
        let asks = try count(.captchas(client))
        return asks.isExceeded ? .tooManyCaptchas(retryAfter: asks.retryAfter(at: now)) : .captchaMissing(name)
    }
}
