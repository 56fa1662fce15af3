package import CountersignCore
package import CountersignWire
package import Encodings
package import NIOCore

/// A service that says whether a captcha was solved.
package struct CaptchaProvider: Sendable {
    /// The URL of the service.
    package let url: String
    /// The secret by which the service knows the site.
    package let secret: Secret<String>

    /// A provider of these parts.
    package init(url: String, secret: Secret<String>) {
        self.url = url
        self.secret = secret
    }
}

/// Asks the providers of captchas about tokens, in the way that reCAPTCHA, hCaptcha and Turnstile have in common.
///
/// It goes where callbacks may go, and follows no redirect. The person's address is not told: the provider has seen the
/// browser itself, perhaps from another one of its addresses.
package final class CaptchaVerifier: Captchas {
    /// The maximum size of a reply, in bytes.
    private static let maximumSize = 16_384
    /// What a provider says where not the token is wrong, but the settings, or the provider itself.
    private static let faults: Set<String> = ["missing-input-secret", "invalid-input-secret", "internal-error"]

    private let providers: [CaptchaName: CaptchaProvider]
    private let timeout: TimeAmount
    private let client: CallbackClient

    /// Creates a verifier that cannot ask before ``start()``.
    ///
    /// - Parameters:
    ///   - providers: the providers by their names.
    ///   - reach: the addresses at which they may be.
    ///   - timeout: how long a reply may take, up to the last byte.
    package init(
        _ providers: [CaptchaName: CaptchaProvider], reach: OutboundAddressPolicy, timeout: TimeAmount = .seconds(5)
    ) {
        self.providers = providers
        client = CallbackClient(reach: reach)
        self.timeout = timeout
    }

    package var names: Set<CaptchaName> { Set(providers.keys) }

    /// Allows requests until ``shutdown()``.
    package func start() { client.start() }

    package func shutdown() async throws { try await client.shutdown() }

    /// Asks a provider about a token.
    ///
    /// See ``Captchas/verify(_:by:)``. Only `true` is a yes: neither a text nor a number is.
    package func verify(_ token: CaptchaToken, by name: CaptchaName) async -> CaptchaVerdict {
        guard let provider = providers[name] else { return .unavailable("the settings have no such provider") }
        let form = FormText.encoded([("secret", provider.secret.reveal()), ("response", token.text.reveal())])
        switch await client.content(at: provider.url, posting: form, within: timeout, atMost: Self.maximumSize) {
        case .failed(let reason): return .unavailable(reason)
        case .content(let bytes):
            guard let reply = try? JSONValue(parsing: bytes), let isSolved = reply["success"]?.bool else {
                return .unavailable("the reply is not that of a captcha's provider")
            }
            guard !isSolved else { return .solved }
            let codes = (reply["error-codes"]?.array ?? []).compactMap(\.string)
            if let fault = codes.first(where: { Self.faults.contains($0) }) {
                return .unavailable("the provider says \(fault)")
            }
            return .refused
        }
    }
}
