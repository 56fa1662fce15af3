package import CountersignWire

/// What is known of a captcha's token.
package enum CaptchaVerdict: Hashable, Sendable {
    /// The provider says that its captcha was solved.
    case solved
    /// The provider says that it was not, or that the token came before.
    case refused
    /// Why the provider says nothing, without anything that came.
    case unavailable(String)
}

/// Asks the providers of captchas that the operator has set up.
package protocol Captchas: Sendable {
    /// The names of the providers.
    var names: Set<CaptchaName> { get }

    /// Asks a provider about a token.
    func verify(_ token: CaptchaToken, by name: CaptchaName) async -> CaptchaVerdict
}

/// No provider is set up.
package struct NoCaptchas: Captchas {
    package init() {}

    package var names: Set<CaptchaName> { [] }

    package func verify(_ token: CaptchaToken, by name: CaptchaName) async -> CaptchaVerdict {
        .unavailable("the settings have no such provider")
    }
}
