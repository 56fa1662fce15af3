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
            "id_token_signed_response_alg": idTokenAlgorithm == profile.idTokenAlgorithm
                ? nil : .string(idTokenAlgorithm.rawValue),
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
        let algorithms = IDTokenAlgorithm.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        let idTokenAlgorithm = try members.optional("id_token_signed_response_alg", "one of \(algorithms)") {
            $0.string.flatMap { IDTokenAlgorithm(rawValue: $0) }
        }
        if profile == .strict {
            try members.checkStrict(
                authenticates: keySet != nil || keysURI != nil || certificate != nil,
                bindsToCertificate: bindsToCertificate, idTokenAlgorithm: idTokenAlgorithm)
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
            backchannel: backchannel, idTokenAlgorithm: idTokenAlgorithm)
    }
}

extension JSONMembers {
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

    /// Refuses what the profile `strict` does not leave to the settings.
    ///
    /// Spec: FAPI 2.0 Security Profile §5.3.2.1, §5.3.2.2, §5.4.1.
    ///
    /// - Parameters:
    ///   - authenticates: whether the client has keys or a certificate, in the place of its secret.
    ///   - bindsToCertificate: whether its tokens are bound to its certificate, and not by proofs.
    ///   - idTokenAlgorithm: how its ID tokens are to be signed; nil for the profile's own way.
    fileprivate mutating func checkStrict(
        authenticates: Bool, bindsToCertificate: Bool, idTokenAlgorithm: IDTokenAlgorithm?
    ) throws(JSONShapeError) {
        // check: StrictProfileTests.settings
        guard authenticates else {
            throw .invalid(
                pointer: pointer(to: "jwks"),
                expected: "keys, here or in \"jwks_uri\", or a certificate, for a strict client")
        }
        // check: StrictProfileTests.settings
        guard idTokenAlgorithm != .rs256 else {
            throw .invalid(
                pointer: pointer(to: "id_token_signed_response_alg"), expected: "\"ES256\" for a strict client")
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

    fileprivate mutating func stepUpTypes() throws(JSONShapeError) -> [TypeName] {
        try distinct(
            "step_up_types", expecting: "the name of a challenge type", atMost: RelyingParty.maximumStepUpTypes, "types"
        ) { TypeName($0) }
    }

    /// So many different values, each read from a text.
    mutating func distinct<Element: Hashable>(
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
