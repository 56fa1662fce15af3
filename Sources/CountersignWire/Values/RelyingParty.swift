/// How a client uses the OpenID provider.
///
/// It has the client's id and a row of its own, so that a client without it has nothing to do with OpenID.
package struct RelyingParty: Hashable, Sendable {
    /// What kind of application the client is, which fixes how it authenticates and how its tokens are made.
    package enum Profile: String, CaseIterable, Sendable {
        /// An application on a server, which keeps a secret.
        case web
        /// An app on a device or a command-line tool, which cannot keep a secret.
        case native

        /// Whether the client authenticates at the token endpoint.
        package var isConfidential: Bool { self == .web }

        /// How the client's ID tokens are signed.
        ///
        /// OpenID's default is RS256, and many libraries of web applications expect it. Spec: OpenID Connect Core
        /// 1.0 §15.1.
        package var idTokenAlgorithm: IDTokenAlgorithm { self == .web ? .rs256 : .es256 }
    }

    /// The browsers from which the client's users may have their devices asked.
    package enum AskedBrowsers: String, CaseIterable, Sendable {
        /// Those in which the user has signed in before.
        case known
        /// All, so that anybody who knows a user's name can have their devices asked.
        case all
    }

    /// The client.
    package let client: ClientID
    /// What kind of application it is.
    package let profile: Profile
    /// Where a browser may return to after a sign-in.
    package let redirectURIs: [RedirectURI]
    /// The challenge type by which devices are asked.
    package let type: TypeName
    /// From which browsers devices are asked.
    package let askedBrowsers: AskedBrowsers
    /// Whether a client that keeps a secret may do without PKCE and a nonce.
    ///
    /// Spec: RFC 9700 §2.1.1.
    package let isPKCEOptional: Bool

    /// Settings of these parts.
    package init(
        client: ClientID, profile: Profile, redirectURIs: [RedirectURI], type: TypeName = .confirm,
        askedBrowsers: AskedBrowsers = .known, isPKCEOptional: Bool = false
    ) {
        self.client = client
        self.profile = profile
        self.redirectURIs = redirectURIs
        self.type = type
        self.askedBrowsers = askedBrowsers
        self.isPKCEOptional = isPKCEOptional
    }

    /// The registered URI that a request names.
    ///
    /// - Parameter text: the URI of the request.
    /// - Returns: nil if the client has registered no such URI.
    package func redirectURI(named text: String) -> RedirectURI? {
        redirectURIs.first { $0.allows(text, isApp: profile == .native) }
    }
}

/// How ID tokens are signed.
package enum IDTokenAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA on P-256.
    case es256 = "ES256"
    /// RSA, the default of OpenID Connect, which many libraries expect.
    case rs256 = "RS256"
}
