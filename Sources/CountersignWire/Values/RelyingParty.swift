package import Encodings
package import JOSE

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
        /// A page that runs in the browser alone, which cannot keep a secret either.
        case spa
        /// An app that was built for another product, and returns by a scheme without a dot.
        ///
        /// Another app may have chosen the same, and gets the code; without the code's verifier it is worth nothing.
        /// Spec: RFC 8252 §7.1, RFC 7636 §1.
        case compatible
        /// An application on a server that follows FAPI 2.0, as banks ask for.
        ///
        /// Spec: FAPI 2.0 Security Profile §5.3.2.
        case strict

        /// Whether the client is an app, on whatever port of a loopback address it listens.
        fileprivate var isApp: Bool { self == .native || self == .compatible }

        /// Whether the client authenticates at the token endpoint.
        package var isConfidential: Bool { self == .web || self == .strict }

        /// How the client's ID tokens are signed where its settings do not say it.
        ///
        /// OpenID's default is RS256, and many libraries of web applications expect it; FAPI forbids it.
        ///
        /// Spec: OpenID Connect Core 1.0 §15.1; FAPI 2.0 Security Profile §5.4.1.
        package var idTokenAlgorithm: IDTokenAlgorithm { self == .web ? .rs256 : .es256 }
    }

    /// The browsers from which the client's users may have their devices asked.
    package enum AskedBrowsers: String, CaseIterable, Sendable {
        /// Those in which the user has signed in before.
        case known
        /// All, so that anybody who knows a user's name can have their devices asked.
        case all
    }

    /// Who may become a user of the client.
    package enum Registration: String, CaseIterable, Sendable {
        /// Only whom the client names by its own call.
        case closed
        /// Whoever is a user of the deployment already.
        case known
        /// Whoever proves an address, or is a user of the deployment already.
        case open
    }

    /// Whether devices sign people in at the client by the device grant, and how.
    ///
    /// Spec: RFC 8628.
    package enum DeviceGrant: Hashable, Sendable {
        /// They do not.
        case off
        /// By a code that the person types on a page.
        case byCode
        /// Also by a name of the person, whose trusted devices are then asked at once.
        case byHint
    }

    /// How the client's server has people's devices asked, and gets its tokens.
    ///
    /// Spec: CIBA Core 1.0 §4.
    package struct Backchannel: Hashable, Sendable {
        /// How the client gets its tokens.
        package enum Delivery: Hashable, Sendable {
            /// It asks for them.
            case poll
            /// It is told at this URI that it can ask for them.
            case ping(CallbackURI)
            /// They are brought to this URI.
            case push(CallbackURI)

            /// The name of the mode.
            package var name: String {
                switch self {
                case .poll: "poll"
                case .ping: "ping"
                case .push: "push"
                }
            }

            /// Where the client is told of something; nil where it is told of nothing.
            package var receiver: CallbackURI? {
                switch self {
                case .poll: nil
                case .ping(let uri), .push(let uri): uri
                }
            }

            /// Whether tokens are brought.
            package var isPush: Bool { if case .push = self { true } else { false } }
        }

        /// How the client gets its tokens.
        package let delivery: Delivery
        /// The challenge type by which devices are asked, which has no number; nil where the client shows the number that
        /// it gets, and devices are asked as from pages.
        package let type: TypeName?
        /// By which algorithm the client signs its requests; nil where it does not sign them.
        package let algorithm: RequestAlgorithm?
        /// Whether the client brings a code of the person's with each request, without which nobody is asked.
        package let bringsUserCode: Bool
        /// Whether the client shows the number that is typed on a device.
        package var showsNumber: Bool { type == nil }

        /// A registration of these parts.
        package init(
            delivery: Delivery, type: TypeName? = nil, algorithm: RequestAlgorithm? = nil, bringsUserCode: Bool = false
        ) {
            self.delivery = delivery
            self.type = type
            self.algorithm = algorithm
            self.bringsUserCode = bringsUserCode
        }
    }

    /// The algorithms by which a client's server signs its requests.
    package enum RequestAlgorithm: String, CaseIterable, Sendable {
        /// ECDSA on P-256.
        case es256 = "ES256"
        /// RSA by PSS.
        case ps256 = "PS256"
        /// RSA by PKCS #1.
        case rs256 = "RS256"
        /// Ed25519.
        case edDSA = "EdDSA"
    }

    /// The client.
    package let client: ClientID
    /// What kind of application it is.
    package let profile: Profile
    /// Where a browser may return to after a sign-in.
    package let redirectURIs: [RedirectURI]
    /// Where a browser may return to after a sign-out.
    ///
    /// Spec: OpenID Connect RP-Initiated Logout 1.0 §3.1.
    package let signedOutURIs: [RedirectURI]
    /// Where the client is told that a session has ended; nil if it is not told.
    package let logoutReceiver: LogoutReceiver?
    /// The public keys by which the client authenticates, as a JWK Set; nil where it publishes them, has a secret, or
    /// keeps none.
    ///
    /// Spec: RFC 7517 §5.
    package let keySet: JSONValue?
    /// Where the client publishes these keys instead; nil where it does not.
    ///
    /// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`jwks_uri`).
    package let keysURI: KeysURI?
    /// The ways by which people may sign in.
    package let ways: Set<SignInWay>
    /// Who may become a user of the client.
    package let registration: Registration
    /// The calling codes of the telephone numbers to which text messages may go from pages; none by default, since
    /// anybody can have them sent.
    package let callingCodes: [CallingCode]
    /// The challenge type by which devices are asked.
    package let type: TypeName
    /// The further challenge types by which devices are asked where a client wants a stronger sign-in than ``type`` gives;
    /// the first one that does is taken.
    package let stepUpTypes: [TypeName]
    /// From which browsers devices are asked.
    package let askedBrowsers: AskedBrowsers
    /// Whether a client that keeps a secret may do without PKCE and a nonce.
    ///
    /// Spec: RFC 9700 §2.1.1.
    package let isPKCEOptional: Bool
    /// Whether the client's requests are taken only where it has pushed them; always with the profile `strict`.
    ///
    /// Spec: RFC 9126 §6.
    package let requiresPushedRequests: Bool
    /// Whether the client's requests are taken only where it has signed them.
    ///
    /// Spec: RFC 9101 §10.5.
    package let requiresSignedRequests: Bool
    /// How old an authentication may be where a request does not say it; nil for any age.
    ///
    /// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`default_max_age`).
    package let defaultMaximumAge: Seconds?
    /// How long the refresh token before the current one may come again, because its reply was lost.
    package let refreshGrace: Seconds
    /// Whether refresh tokens are replaced at each use even where the client proves who it is.
    ///
    /// Spec: RFC 9700 §2.2.2.
    package let rotatesAlways: Bool
    /// Whether all tokens of the client are bound, so that it gets none without proving a key or, with
    /// ``bindsToCertificate``, without showing a certificate; always with the profile `strict`.
    ///
    /// Spec: RFC 9449 §5.2 (`dpop_bound_access_tokens`).
    package let bindsTokens: Bool
    /// By which certificates the client authenticates, and no longer by its secret; nil for none.
    package let certificate: CertificateRule?
    /// Whether the client's tokens are bound to the certificate of its connection, and to no key.
    ///
    /// Spec: RFC 8705 §3.4 (`tls_client_certificate_bound_access_tokens`).
    package let bindsToCertificate: Bool
    /// The API that the client is, for which other clients get tokens; nil if it is none.
    package let resource: ProtectedResource?
    /// The APIs for which the client may have tokens.
    package let resources: [ResourceIdentifier]
    /// Whether devices sign people in by the device grant; off by default, since it is what phishers use.
    package let deviceGrant: DeviceGrant
    /// How the client's ID tokens are signed, and what else is signed for it alone.
    ///
    /// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`id_token_signed_response_alg`).
    package let idTokenAlgorithm: IDTokenAlgorithm
    /// What the client may have people authorize in detail.
    ///
    /// Spec: RFC 9396 §10.
    package let detailTypes: [AuthorizationDetailType]
    /// How the client's server has people's devices asked; nil where it does not.
    package let backchannel: Backchannel?

    /// How many ``stepUpTypes`` a client may have.
    package static let maximumStepUpTypes = 10
    /// The usual ``refreshGrace``.
    package static let usualGrace: Seconds = 30
    /// The longest ``refreshGrace``, in seconds.
    package static let longestGrace: Int64 = 300

    /// Whether the client's tokens are bound to a key in any case.
    package var bindsToKey: Bool { bindsTokens && !bindsToCertificate }

    /// Whether the client may have what comes of a request.
    ///
    /// What began by the weaker rules of another profile gives a strict client nothing.
    ///
    /// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2.
    ///
    /// - Parameter isStrict: whether the client was strict when the request was checked.
    package func takes(begunStrict isStrict: Bool) -> Bool { profile != .strict || isStrict }

    /// Whether devices are asked by a challenge type of this name.
    package func names(_ name: TypeName) -> Bool {
        type == name || stepUpTypes.contains(name) || backchannel?.type == name
    }

    /// Whether a refresh token is replaced at each use: always where nobody can know who shows it.
    package var rotates: Bool { rotatesAlways || !profile.isConfidential }

    /// Settings of these parts.
    package init(
        client: ClientID, profile: Profile, redirectURIs: [RedirectURI], type: TypeName = .confirm,
        stepUpTypes: [TypeName] = [],
        askedBrowsers: AskedBrowsers = .known, isPKCEOptional: Bool = false, ways: Set<SignInWay> = SignInWay.usual,
        registration: Registration = .closed, callingCodes: [CallingCode] = [], keySet: JSONValue? = nil,
        keysURI: KeysURI? = nil, signedOutURIs: [RedirectURI] = [], logoutReceiver: LogoutReceiver? = nil,
        defaultMaximumAge: Seconds? = nil,
        refreshGrace: Seconds = usualGrace, rotatesAlways: Bool = false, resource: ProtectedResource? = nil,
        resources: [ResourceIdentifier] = [], requiresPushedRequests: Bool = false,
        requiresSignedRequests: Bool = false, bindsTokens: Bool = false, deviceGrant: DeviceGrant = .off,
        detailTypes: [AuthorizationDetailType] = [], certificate: CertificateRule? = nil,
        bindsToCertificate: Bool = false, backchannel: Backchannel? = nil, idTokenAlgorithm: IDTokenAlgorithm? = nil
    ) {
        self.client = client
        self.profile = profile
        self.redirectURIs = redirectURIs
        self.type = type
        self.stepUpTypes = stepUpTypes
        self.askedBrowsers = askedBrowsers
        self.isPKCEOptional = isPKCEOptional
        self.ways = ways
        self.registration = registration
        self.callingCodes = callingCodes
        self.keySet = keySet
        self.keysURI = keysURI
        self.signedOutURIs = signedOutURIs
        self.logoutReceiver = logoutReceiver
        self.defaultMaximumAge = defaultMaximumAge
        self.refreshGrace = refreshGrace
        self.rotatesAlways = rotatesAlways
        self.bindsTokens = bindsTokens || bindsToCertificate || profile == .strict
        self.certificate = certificate
        self.bindsToCertificate = bindsToCertificate
        self.resource = resource
        self.resources = resources
        self.requiresPushedRequests = requiresPushedRequests || profile == .strict
        self.requiresSignedRequests = requiresSignedRequests
        self.deviceGrant = deviceGrant
        self.idTokenAlgorithm = idTokenAlgorithm ?? profile.idTokenAlgorithm
        self.detailTypes = detailTypes
        self.backchannel = backchannel
    }

    /// A JWK Set as it is kept: the keys that can be used, and nothing else; nil if there is none.
    package static func keySet(in json: JSONValue) -> JSONValue? {
        guard let set = try? JWKSet(json), !set.keys.isEmpty else { return nil }
        return set.json
    }

    /// The keys of ``keySet``; nil for none.
    package var keys: JWKSet? { keySet.flatMap { try? JWKSet($0) } }

    /// Whether the client authenticates by keys at the provider's endpoints, and no longer by its secret.
    package var hasKeys: Bool { keySet != nil || keysURI != nil }

    /// Whether people have a way to sign in by which they copy nothing from one screen to another: a passkey, a code
    /// that their device scans, or the link of a mail.
    package var hasWayWithoutCopying: Bool { !ways.isDisjoint(with: [.passkey, .qr, .email]) }

    /// Whether people sign in by nothing but codes that are sent to addresses.
    package var hasCodesAlone: Bool { ways.isSubset(of: [.email, .text]) }

    /// Whether a code may go to an address from the client's pages.
    package func sends(to address: PersonalAddress) -> Bool {
        switch address {
        case .email: ways.contains(.email)
        case .phone(let number): ways.contains(.text) && callingCodes.contains { $0.isOf(number) }
        }
    }

    /// The registered URI that a request names.
    ///
    /// - Parameter text: the URI of the request.
    /// - Returns: nil if the client has registered no such URI.
    package func redirectURI(named text: String) -> RedirectURI? {
        redirectURIs.first { $0.allows(text, isApp: profile.isApp) }
    }

    /// The origins whose scripts may read what the client gets: those of the pages to which a browser returns.
    ///
    /// Spec: RFC 6454 §6.2.
    package var origins: [String] { profile == .spa ? redirectURIs.compactMap(\.origin) : [] }

    /// Whether people sign in to their account page through the client: the page is one of its redirect URIs.
    ///
    /// - Parameter page: the URI of the page.
    package func isAccount(at page: String) -> Bool { redirectURIs.contains { $0.description.hasSameBytes(as: page) } }

    /// The registered URI to return to after a sign-out that a request names.
    ///
    /// - Parameter text: the URI of the request.
    /// - Returns: nil if the client has registered no such URI.
    package func signedOutURI(named text: String) -> RedirectURI? {
        signedOutURIs.first { $0.allows(text, isApp: profile.isApp) }
    }
}

/// Where a client is told that a session has ended.
///
/// Spec: OpenID Connect Back-Channel Logout 1.0 §2.2.
package struct LogoutReceiver: Hashable, Sendable {
    /// The URI to which logout tokens are posted.
    package let uri: CallbackURI
    /// Whether the client says that it needs the session's name in each logout token; ours always have it.
    package let requiresSession: Bool

    /// A receiver of these parts.
    package init(uri: CallbackURI, requiresSession: Bool = false) {
        self.uri = uri
        self.requiresSession = requiresSession
    }
}

/// A way to sign in, strongest first.
package enum SignInWay: String, CaseIterable, Sendable {
    /// A passkey of the browser, or of a device near it.
    case passkey
    /// A number that is typed on a trusted device.
    case device
    /// A code that is scanned with a trusted device.
    case qr
    /// A code by mail.
    case email
    /// A code by text message.
    case text

    /// Those that a client has unless its settings say otherwise: with a trusted device.
    package static let usual: Set<SignInWay> = [.device, .qr]

    /// Whether the person sees on a device what is asked, and the device signs it.
    package var isSigned: Bool { self == .device || self == .qr }
}

/// The beginning of telephone numbers: `+` and 1 to 6 digits, such as that of a country.
///
/// Spec: ITU-T E.164 §6.2.
package struct CallingCode: Hashable, Sendable, CustomStringConvertible {
    /// How many a client may list.
    package static let maximumCount = 50
    /// The code, with its `+`.
    package let description: String

    /// Reads a code, or nil.
    package init?(_ text: String) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == UInt8(ascii: "+"), (1...6).contains(digits.count), digits.first != UInt8(ascii: "0"),
            digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        description = text
    }

    /// Whether a number begins with it.
    package func isOf(_ number: PhoneNumber) -> Bool { number.description.utf8.starts(with: description.utf8) }
}

/// How ID tokens are signed.
package enum IDTokenAlgorithm: String, CaseIterable, Sendable {
    /// ECDSA on P-256.
    case es256 = "ES256"
    /// RSA, the default of OpenID Connect, which many libraries expect.
    case rs256 = "RS256"
}
