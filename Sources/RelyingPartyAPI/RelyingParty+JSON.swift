package import CountersignWire
package import Encodings

/// The settings of a client that signs people in, as JSON: `RelyingParty` of the contract, which is also the form in
/// which a column holds them.
extension RelyingParty {
    /// The settings as JSON, without the client.
    package var json: JSONValue {
        var members = bareMembers
        if let member = certificate?.member { members[member.name] = member.value }
        for member in backchannel?.json.object?.members ?? [] { members[member.name] = member.value }
        return .object(members)
    }

    /// The settings without the client, its certificates and those of the backchannel.
    private var bareMembers: JSONObject {
        JSONObject([
            "profile": .string(profile.rawValue),
            "redirect_uris": .array(redirectURIs.map { .string($0.description) }), "type": .string("\(type)"),
            "step_up_types": stepUpTypes.isEmpty ? nil : .array(stepUpTypes.map { .string("\($0)") }),
            "asked_browsers": .string(askedBrowsers.rawValue), "pkce_optional": .bool(isPKCEOptional),
            "ways": .array(SignInWay.allCases.filter(ways.contains).map { .string($0.rawValue) }),
            "registration": .string(registration.rawValue),
            "calling_codes": .array(callingCodes.map { .string($0.description) }), "jwks": keySet,
            "jwks_uri": keysURI.map { .string("\($0)") },
            "post_logout_redirect_uris": signedOutURIs.isEmpty
                ? nil : .array(signedOutURIs.map { .string($0.description) }),
            "backchannel_logout_uri": logoutReceiver.map { .string($0.uri.description) },
            "backchannel_logout_session_required": logoutReceiver?.requiresSession == true ? true : nil,
            "default_max_age": defaultMaximumAge.map { .integer($0.value) },
            "refresh_grace": refreshGrace == Self.usualGrace ? nil : .integer(refreshGrace.value),
            "rotate_refresh_tokens": rotatesAlways ? true : nil,
            "dpop_bound_access_tokens": bindsToKey ? true : nil,
            "tls_client_certificate_bound_access_tokens": bindsToCertificate ? true : nil,
            "resource": resource.map { resource in
                [
                    "identifier": .string("\(resource.identifier)"),
                    "scopes": .array(resource.scopes.map(JSONValue.string)),
                ]
            },
            "resources": resources.isEmpty ? nil : .array(resources.map { .string("\($0)") }),
            "require_pushed_authorization_requests": requiresPushedRequests ? true : nil,
            "require_signed_request_object": requiresSignedRequests ? true : nil,
            "device_grant": deviceGrant == .off ? nil : true,
            "device_login_hint": deviceGrant == .byHint ? true : nil,
            "authorization_details_types": detailTypes.isEmpty ? nil : .array(detailTypes.map(\.json)),
        ])
    }

    /// Reads settings.
    ///
    /// - Parameters:
    ///   - json: the settings; all but `profile` and `redirect_uris` may be left out.
    ///   - client: the client.
    ///   - isDevelopment: whether a web application may be on this machine, without TLS.
    /// - Throws: ``JSONShapeError``.
    package init(_ json: JSONValue, of client: ClientID, isDevelopment: Bool) throws(JSONShapeError) {
        var members = try JSONMembers(json)
        let profiles = Profile.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let profile = try members.required("profile", "one of \(profiles)") {
            $0.string.flatMap { Profile(rawValue: $0) }
        }
        let uris = try members.uris("redirect_uris", of: profile, isDevelopment: isDevelopment)
        let resource = try members.resource(of: profile)
        let signedOutURIs = try members.uris("post_logout_redirect_uris", of: profile, isDevelopment: isDevelopment)
        let logoutReceiver = try members.logoutReceiver(isDevelopment: isDevelopment)
        let type = try members.optional("type", "the name of a challenge type") { $0.string.flatMap { TypeName($0) } }
        let stepUpTypes = try members.stepUpTypes()
        let browsers = try members.optional("asked_browsers", "\"known\" or \"all\"") {
            $0.string.flatMap { AskedBrowsers(rawValue: $0) }
        }
        let isPKCEOptional = try members.optionalBool("pkce_optional") ?? false
        guard !isPKCEOptional || profile.isConfidential else {
            throw .invalid(
                pointer: members.pointer(to: "pkce_optional"), expected: "false for a client that keeps no secret")
        }
        let ways = try members.ways()
        let registration = try members.optional("registration", "\"closed\", \"known\" or \"open\"") {
            $0.string.flatMap { Registration(rawValue: $0) }
        }
        let codes = try members.callingCodes()
        guard !ways.contains(.text) || !codes.isEmpty else {
            throw .invalid(
                pointer: members.pointer(to: "calling_codes"), expected: "at least one, where \"ways\" has \"text\"")
        }
        let keySet = try members.optional(
            "jwks", "a JWK Set with at least one public key, for a client that keeps a secret"
        ) {
            profile.isConfidential ? Self.keySet(in: $0) : nil
        }
        let keysURI = try members.optional(
            "jwks_uri", "an https URL (http to loopback in development mode), for a client that keeps a secret"
        ) {
            profile.isConfidential ? $0.string.flatMap { KeysURI($0, isDevelopment: isDevelopment) } : nil
        }
        // check: ClientKeyTests.unfitURI
        guard keySet == nil || keysURI == nil else {
            throw .invalid(pointer: members.pointer(to: "jwks_uri"), expected: "nothing, beside \"jwks\"")
        }
        let resources = try members.resources()
        let maximumAge = try members.optionalInteger("default_max_age", in: 0...Int64(Int32.max))
        let grace = try members.optionalInteger("refresh_grace", in: 0...Self.longestGrace)
        let rotatesAlways = try members.optionalBool("rotate_refresh_tokens") ?? false
        let requiresSigned = try members.optionalBool("require_signed_request_object") ?? false
        // check: RequestObjectTests.required
        guard !requiresSigned || keySet != nil || keysURI != nil else {
            throw .invalid(
                pointer: members.pointer(to: "require_signed_request_object"),
                expected: "false without \"jwks\" or \"jwks_uri\"")
        }
        let requiresPushed = try members.optionalBool("require_pushed_authorization_requests") ?? false
        let bindsTokens = try members.optionalBool("dpop_bound_access_tokens") ?? false
        let certificate = try members.certificate(of: profile)
        let bindsToCertificate = try members.bindsToCertificate(of: profile, besides: bindsTokens)
        let deviceGrant = try members.deviceGrant(by: ways)
        let backchannel = try members.backchannel(
            of: profile, by: ways, hasKeys: keySet != nil || keysURI != nil, signsAlways: requiresSigned,
            isDevelopment: isDevelopment)
        let detailTypes = try members.detailTypes(by: ways)
        if profile == .strict {
            try members.checkStrict(
                authenticates: keySet != nil || keysURI != nil || certificate != nil,
                bindsToCertificate: bindsToCertificate)
        }
        // An API alone signs nobody in, and a device or a server need not have a browser.
        guard !uris.isEmpty || resource != nil || deviceGrant != .off || backchannel != nil else {
            throw .invalid(
                pointer: members.pointer(to: "redirect_uris"), expected: "1 to \(RedirectURI.maximumCount) URIs")
        }
        try members.refuseUnknown()
        self.init(
            client: client, profile: profile, redirectURIs: uris, type: type ?? .confirm,
            stepUpTypes: stepUpTypes, askedBrowsers: browsers ?? .known, isPKCEOptional: isPKCEOptional, ways: ways,
            registration: registration ?? .closed, callingCodes: codes, keySet: keySet,
            keysURI: keysURI, signedOutURIs: signedOutURIs, logoutReceiver: logoutReceiver,
            defaultMaximumAge: maximumAge.map { Seconds($0) },
            refreshGrace: grace.map { Seconds($0) } ?? Self.usualGrace, rotatesAlways: rotatesAlways,
            resource: resource, resources: resources, requiresPushedRequests: requiresPushed,
            requiresSignedRequests: requiresSigned, bindsTokens: bindsTokens, deviceGrant: deviceGrant,
            detailTypes: detailTypes, certificate: certificate, bindsToCertificate: bindsToCertificate,
            backchannel: backchannel)
    }
}

/// The members by which a client's certificates are registered, of which it has one.
///
/// Spec: RFC 8705 §2.1.2.
private enum CertificateMember {
    static let subject = "tls_client_auth_subject_dn"
    static let domain = "tls_client_auth_san_dns"
    static let uri = "tls_client_auth_san_uri"
    static let address = "tls_client_auth_san_ip"
    static let mail = "tls_client_auth_san_email"
    static let thumbprints = "self_signed_tls_client_auth_thumbprints"
}

extension CertificateRule {
    /// The member that has the rule.
    fileprivate var member: (name: String, value: JSONValue) {
        switch self {
        case .subject(let subject): (CertificateMember.subject, .string("\(subject)"))
        case .domain(let domain): (CertificateMember.domain, .string(domain))
        case .uri(let uri): (CertificateMember.uri, .string(uri))
        case .address(let address): (CertificateMember.address, .string("\(address)"))
        case .mail(let mail): (CertificateMember.mail, .string(mail))
        case .thumbprints(let list): (CertificateMember.thumbprints, .array(list.map(JSONValue.string)))
        }
    }

    /// A name that a certificate can have, which is ASCII there; nil for another text.
    fileprivate static func name(_ text: String) -> String? {
        let isName =
            (1...maximumSize).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isName ? text : nil
    }
}

extension RelyingParty.Backchannel {
    fileprivate var json: JSONValue {
        .members([
            "backchannel_token_delivery_mode": .string(delivery.name),
            "backchannel_client_notification_endpoint": delivery.receiver.map { .string($0.description) },
            "backchannel_number_entry": showsNumber ? true : nil,
            "backchannel_type": type.map { .string("\($0)") },
            "backchannel_authentication_request_signing_alg": algorithm.map { .string($0.rawValue) },
            "backchannel_user_code_parameter": bringsUserCode ? true : nil,
        ])
    }
}

extension JSONMembers {
    /// By which certificates the client authenticates.
    fileprivate mutating func certificate(
        of profile: RelyingParty.Profile
    ) throws(JSONShapeError) -> CertificateRule? {
        let name = "1 to \(CertificateRule.maximumSize) characters of ASCII without a space"
        let subject = try optional(CertificateMember.subject, "a distinguished name in the form of RFC 4514") {
            $0.string.flatMap { SubjectName($0) }.map { CertificateRule.subject($0) }
        }
        let domain = try optional(CertificateMember.domain, name) {
            $0.string.flatMap { CertificateRule.name($0) }.map { CertificateRule.domain($0) }
        }
        let uri = try optional(CertificateMember.uri, name) {
            $0.string.flatMap { CertificateRule.name($0) }.map { CertificateRule.uri($0) }
        }
        let address = try optional(CertificateMember.address, "an IPv4 or IPv6 address") {
            $0.string.flatMap { CertificateAddress($0) }.map { CertificateRule.address($0) }
        }
        let mail = try optional(CertificateMember.mail, name) {
            $0.string.flatMap { CertificateRule.name($0) }.map { CertificateRule.mail($0) }
        }
        let isEmptied = value(CertificateMember.thumbprints) == .array([])
        // Who takes the last one away does not mean that the secret counts again.
        // check: CertificateClientTests.settings
        guard !isEmptied else {
            throw .invalid(
                pointer: pointer(to: CertificateMember.thumbprints),
                expected: "1 to \(CertificateRule.maximumThumbprints) thumbprints, or absent")
        }
        let thumbprints = try distinct(
            CertificateMember.thumbprints, expecting: "a SHA-256 in base64url",
            atMost: CertificateRule.maximumThumbprints, "thumbprints"
        ) { Base64URL.decode($0)?.count == 32 ? $0 : nil }
        let own: CertificateRule? = thumbprints.isEmpty ? nil : .thumbprints(thumbprints)
        let rules: [(member: String, rule: CertificateRule?)] = [
            (CertificateMember.subject, subject), (CertificateMember.domain, domain), (CertificateMember.uri, uri),
            (CertificateMember.address, address), (CertificateMember.mail, mail), (CertificateMember.thumbprints, own),
        ]
        let found = rules.filter { $0.rule != nil }
        guard let first = found.first else { return nil }
        // check: CertificateClientTests.settings
        guard profile.isConfidential else {
            throw .invalid(
                pointer: pointer(to: first.member), expected: "nothing, for a client that keeps no secret")
        }
        // check: CertificateClientTests.settings
        guard found.count == 1 else {
            throw .invalid(pointer: pointer(to: found[1].member), expected: "nothing, beside \"\(first.member)\"")
        }
        return first.rule
    }

    /// Whether the client's tokens are bound to its certificate: an app has none, and a token has one binding.
    fileprivate mutating func bindsToCertificate(
        of profile: RelyingParty.Profile, besides bindsTokens: Bool
    ) throws(JSONShapeError) -> Bool {
        let name = "tls_client_certificate_bound_access_tokens"
        let isOn = try optionalBool(name) ?? false
        // check: CertificateClientTests.settings
        guard !isOn || profile.isConfidential && !bindsTokens else {
            throw .invalid(
                pointer: pointer(to: name),
                expected: "false for a client that keeps no secret, and beside \"dpop_bound_access_tokens\"")
        }
        return isOn
    }

    /// The URIs in a member, of a kind that the client may have.
    fileprivate mutating func uris(
        _ name: String, of profile: RelyingParty.Profile, isDevelopment: Bool
    ) throws(JSONShapeError) -> [RedirectURI] {
        let uris = try array(name).map { element throws(JSONShapeError) in
            guard let uri = element.value.string.flatMap({ RedirectURI($0) }),
                profile.allows(uri, isDevelopment: isDevelopment)
            else { throw JSONShapeError.invalid(pointer: element.pointer, expected: profile.expectedURI) }
            return uri
        }
        guard uris.count <= RedirectURI.maximumCount else {
            throw .invalid(pointer: pointer(to: name), expected: "at most \(RedirectURI.maximumCount) URIs")
        }
        return uris
    }

    /// Where the client is told that a session has ended; a URI of the kind to which callbacks go.
    fileprivate mutating func logoutReceiver(isDevelopment: Bool) throws(JSONShapeError) -> LogoutReceiver? {
        let uri = try optional("backchannel_logout_uri", "an https URL (http to loopback in development mode)") {
            $0.string.flatMap { CallbackURI($0, isDevelopment: isDevelopment) }
        }
        let requiresSession = try optionalBool("backchannel_logout_session_required") ?? false
        guard let uri else {
            guard !requiresSession else {
                throw .invalid(
                    pointer: pointer(to: "backchannel_logout_session_required"),
                    expected: "false without \"backchannel_logout_uri\"")
            }
            return nil
        }
        return LogoutReceiver(uri: uri, requiresSession: requiresSession)
    }

    /// The API that a client is: one that keeps a secret, by which it asks about the tokens that it gets.
    fileprivate mutating func resource(of profile: RelyingParty.Profile) throws(JSONShapeError) -> ProtectedResource? {
        guard let member = value("resource") else { return nil }
        guard profile.isConfidential else {
            throw .invalid(pointer: pointer(to: "resource"), expected: "nothing, for a client that keeps no secret")
        }
        var resource = try JSONMembers(member, at: pointer(to: "resource"))
        let identifier = try resource.required("identifier", "an absolute URI without a fragment") {
            $0.string.flatMap { ResourceIdentifier($0) }
        }
        let scopes = try resource.array("scopes").map { element throws(JSONShapeError) in
            guard let scope = element.value.string, ProtectedResource.isScope(scope) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: "the name of a scope")
            }
            return scope
        }
        guard (1...ProtectedResource.maximumScopes).contains(scopes.count), Set(scopes).count == scopes.count else {
            throw .invalid(
                pointer: resource.pointer(to: "scopes"),
                expected: "1 to \(ProtectedResource.maximumScopes) different scopes")
        }
        try resource.refuseUnknown()
        return ProtectedResource(identifier: identifier, scopes: scopes)
    }

    fileprivate mutating func resources() throws(JSONShapeError) -> [ResourceIdentifier] {
        try distinct(
            "resources", expecting: "an absolute URI without a fragment", atMost: ResourceIdentifier.maximumCount,
            "URIs"
        ) { ResourceIdentifier($0) }
    }

    /// Whether devices sign people in, and whether by a name alone, which needs that devices are asked at all.
    fileprivate mutating func deviceGrant(
        by ways: Set<SignInWay>
    ) throws(JSONShapeError) -> RelyingParty.DeviceGrant {
        let isOn = try optionalBool("device_grant") ?? false
        let takesHints = try optionalBool("device_login_hint") ?? false
        // check: DeviceGrantTests.settings
        guard !takesHints || isOn && ways.contains(.device) else {
            throw .invalid(
                pointer: pointer(to: "device_login_hint"),
                expected: "false without \"device_grant\", and where \"ways\" lacks \"device\"")
        }
        return takesHints ? .byHint : isOn ? .byCode : .off
    }

    /// What the client may have people authorize in detail, which needs devices that show and sign it.
    fileprivate mutating func detailTypes(
        by ways: Set<SignInWay>
    ) throws(JSONShapeError) -> [AuthorizationDetailType] {
        let types = try array("authorization_details_types").map { element throws(JSONShapeError) in
            try AuthorizationDetailType(element.value, at: element.pointer)
        }
        let place = pointer(to: "authorization_details_types")
        let isDistinct = Set(types.map(\.name)).count == types.count
        let isApart = Set(types.map(\.heading.label)).isDisjoint(with: types.flatMap(\.fields).map(\.label))
        // Nobody could tell which of two was meant, or where the next one begins.
        // check: AuthorizedDetailsTests.labels
        guard isDistinct, isApart, Set(types.map(\.heading)).count == types.count else {
            throw .invalid(
                pointer: place, expected: "different types, whose first lines differ, and have no label of a field")
        }
        guard types.count <= AuthorizationDetailType.maximumCount else {
            throw .invalid(pointer: place, expected: "at most \(AuthorizationDetailType.maximumCount) types")
        }
        guard types.isEmpty || ways.contains(where: \.isSigned) else {
            throw .invalid(pointer: place, expected: "nothing, where \"ways\" has neither \"device\" nor \"qr\"")
        }
        return types
    }

    /// Refuses what the profile `strict` does not leave to the settings.
    ///
    /// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2.
    ///
    /// - Parameters:
    ///   - authenticates: whether the client has keys or a certificate, in the place of its secret.
    ///   - bindsToCertificate: whether its tokens are bound to its certificate, and not by proofs.
    fileprivate mutating func checkStrict(
        authenticates: Bool, bindsToCertificate: Bool
    ) throws(JSONShapeError) {
        // check: StrictProfileTests.settings
        guard authenticates else {
            throw .invalid(
                pointer: pointer(to: "jwks"),
                expected: "keys, here or in \"jwks_uri\", or a certificate, for a strict client")
        }
        let fixed = ["require_pushed_authorization_requests"] + (bindsToCertificate ? [] : ["dpop_bound_access_tokens"])
        for name in fixed {
            let isOn = try optionalBool(name) ?? true
            // check: StrictProfileTests.settings
            guard isOn else { throw .invalid(pointer: pointer(to: name), expected: "true for a strict client") }
        }
        // A device's request is neither pushed nor bound to a browser, and a refresh token belongs to its client.
        for name in ["pkce_optional", "rotate_refresh_tokens", "device_grant"] {
            let isOn = try optionalBool(name) ?? false
            // check: StrictProfileTests.settings
            guard !isOn else { throw .invalid(pointer: pointer(to: name), expected: "false for a strict client") }
        }
    }

    /// How a client's server has people's devices asked; nil without a mode.
    ///
    /// Spec: CIBA Core 1.0 §4.
    fileprivate mutating func backchannel(
        of profile: RelyingParty.Profile, by ways: Set<SignInWay>, hasKeys: Bool, signsAlways: Bool,
        isDevelopment: Bool
    ) throws(JSONShapeError) -> RelyingParty.Backchannel? {
        let mode = try optional("backchannel_token_delivery_mode", "\"poll\", \"ping\" or \"push\"") {
            $0.string.flatMap { ["poll", "ping", "push"].contains($0) ? $0 : nil }
        }
        let uri = try optional(
            "backchannel_client_notification_endpoint", "an https URL (http to loopback in development mode)"
        ) {
            $0.string.flatMap { CallbackURI($0, isDevelopment: isDevelopment) }
        }
        let algorithms = RelyingParty.RequestAlgorithm.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let algorithm = try optional("backchannel_authentication_request_signing_alg", "one of \(algorithms)") {
            $0.string.flatMap { RelyingParty.RequestAlgorithm(rawValue: $0) }
        }
        let type = try optional("backchannel_type", "the name of a challenge type") {
            $0.string.flatMap { TypeName($0) }
        }
        let showsNumber = try optionalBool("backchannel_number_entry") ?? false
        let bringsUserCode = try optionalBool("backchannel_user_code_parameter") ?? false
        guard let mode else {
            let others = [
                ("backchannel_client_notification_endpoint", uri != nil),
                ("backchannel_authentication_request_signing_alg", algorithm != nil), ("backchannel_type", type != nil),
                ("backchannel_number_entry", showsNumber), ("backchannel_user_code_parameter", bringsUserCode),
            ]
            if let other = others.first(where: { $0.1 }) {
                throw .invalid(
                    pointer: pointer(to: other.0), expected: "nothing without \"backchannel_token_delivery_mode\"")
            }
            return nil
        }
        // check: BackchannelEndpointTests.settings
        guard profile.isConfidential, ways.contains(.device) else {
            throw .invalid(
                pointer: pointer(to: "backchannel_token_delivery_mode"),
                expected: "nothing for a client that keeps no secret, or where \"ways\" lacks \"device\"")
        }
        // check: BackchannelEndpointTests.settings
        guard (uri == nil) == (mode == "poll") else {
            throw .invalid(
                pointer: pointer(to: "backchannel_client_notification_endpoint"),
                expected: "a URL with the modes \"ping\" and \"push\", and nothing with \"poll\"")
        }
        // check: BackchannelEndpointTests.settings
        guard (type == nil) == showsNumber else {
            throw .invalid(
                pointer: pointer(to: "backchannel_type"),
                expected: "the name of a type without a number, or \"backchannel_number_entry\" in its place")
        }
        // check: BackchannelEndpointTests.settings
        guard algorithm == nil ? !signsAlways : hasKeys else {
            throw .invalid(
                pointer: pointer(to: "backchannel_authentication_request_signing_alg"),
                expected: "nothing without keys, and an algorithm with \"require_signed_request_object\"")
        }
        // Spec: FAPI-CIBA §5.2.2.
        // check: StrictProfileTests.settings
        guard profile != .strict || algorithm != nil && algorithm != .rs256 && mode != "push" else {
            throw .invalid(
                pointer: pointer(to: "backchannel_token_delivery_mode"),
                expected: "\"poll\" or \"ping\", with an algorithm of signed requests but RS256, for a strict client")
        }
        let delivery: RelyingParty.Backchannel.Delivery
        if let uri {
            delivery = mode == "push" ? .push(uri) : .ping(uri)
        } else {
            delivery = .poll
        }
        return RelyingParty.Backchannel(
            delivery: delivery, type: type, algorithm: algorithm, bringsUserCode: bringsUserCode)
    }

    fileprivate mutating func stepUpTypes() throws(JSONShapeError) -> [TypeName] {
        try distinct(
            "step_up_types", expecting: "the name of a challenge type", atMost: RelyingParty.maximumStepUpTypes, "types"
        ) { TypeName($0) }
    }

    /// So many different values, each read from a text.
    private mutating func distinct<Element: Hashable>(
        _ name: String, expecting form: String, atMost maximum: Int, _ plural: String, read: (String) -> Element?
    ) throws(JSONShapeError) -> [Element] {
        let values = try array(name).map { element throws(JSONShapeError) in
            guard let value = element.value.string.flatMap(read) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: form)
            }
            return value
        }
        guard values.count <= maximum, Set(values).count == values.count else {
            throw .invalid(pointer: pointer(to: name), expected: "at most \(maximum) different \(plural)")
        }
        return values
    }

    fileprivate mutating func ways() throws(JSONShapeError) -> Set<SignInWay> {
        let names = SignInWay.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let ways = try array("ways").map { element throws(JSONShapeError) in
            guard let way = element.value.string.flatMap({ SignInWay(rawValue: $0) }) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: "one of \(names)")
            }
            return way
        }
        return ways.isEmpty ? SignInWay.usual : Set(ways)
    }

    fileprivate mutating func callingCodes() throws(JSONShapeError) -> [CallingCode] {
        let codes = try array("calling_codes").map { element throws(JSONShapeError) in
            guard let code = element.value.string.flatMap({ CallingCode($0) }) else {
                throw JSONShapeError.invalid(pointer: element.pointer, expected: "a plus sign and 1 to 6 digits")
            }
            return code
        }
        guard codes.count <= CallingCode.maximumCount else {
            throw .invalid(pointer: pointer(to: "calling_codes"), expected: "at most \(CallingCode.maximumCount)")
        }
        return codes
    }
}

extension RelyingParty.Profile {
    /// Whether a client of this kind may register a URI.
    ///
    /// Spec: RFC 8252 §7, RFC 9700 §2.6.
    fileprivate func allows(_ uri: RedirectURI, isDevelopment: Bool) -> Bool {
        switch uri.kind {
        case .https: true
        case .loopback: self == .native || self == .compatible || isDevelopment && self != .strict
        case .privateScheme: self == .native || self == .compatible
        case .bareScheme: self == .compatible
        }
    }

    /// What a URI of such a client must be.
    fileprivate var expectedURI: String {
        switch self {
        case .web, .spa: "an https URL without a fragment (http to loopback in development mode)"
        case .strict: "an https URL without a fragment"
        case .compatible:
            "an https URL, an http URL to a loopback address, one slash after a scheme that is a reversed domain, or a "
                + "slash after a scheme without a dot that is no known one"
        case .native:
            "an https URL, an http URL to a loopback address, or one slash after a scheme that is a reversed domain"
        }
    }
}
