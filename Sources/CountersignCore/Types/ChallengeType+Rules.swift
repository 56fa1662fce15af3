package import CountersignWire

/// What follows from a type.
extension ChallengeType {
    /// What a type may not be.
    package struct Violation: Hashable, Sendable {
        /// The member that is wrong, by its name in the API.
        package let member: String
        /// What it must be.
        package let expected: String
    }

    /// What it may not be as it is labelled; nil for a type that can be set.
    package var violation: Violation? { isAAL2 ? AAL2.violations(of: self).first : nil }

    /// What it may not be on a server with these captchas; nil for a type that can be set.
    package func violation(with captchas: Set<CaptchaName>) -> Violation? {
        if let captcha, !captchas.contains(captcha) {
            return Violation(member: "captcha", expected: "the name of one of the server's captchas")
        }
        return violation
    }

    /// How long to wait after so many denials in a row: not at all after one, which may be a mistake, and
    /// never longer than denials count.
    func pause(afterDenials count: Int) -> Seconds {
        count < 2 ? 0 : min((1 << Int64(min(count - 2, 30))) * denialPause, Self.askWindow)
    }

    /// Whether a client may ask by it.
    ///
    /// One that sends codes costs money and proves little: it is open to those alone that it names.
    func isOpen(to client: ClientID) -> Bool { clients?.contains(client) ?? (channel != .text) }

    /// What is asked in a language: in itself, in one it is a variety of, in English, or in the first one there is.
    ///
    /// Spec: RFC 4647 §3.4.
    func text(in language: LanguageTag?) -> DisplayMessage? {
        let asked = language?.fallbacks ?? []
        let first = texts.keys.min { $0.description < $1.description }
        return (asked + [.english] + [first].compactMap { $0 }).lazy.compactMap { texts[$0] }.first
    }
}
