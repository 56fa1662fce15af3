package import CountersignWire
package import Encodings

/// What a client wants of a sign-in, after the checks of the door that it came through.
package struct Wanted: Hashable, Sendable {
    /// How the result comes back to the client.
    package enum ResponseMode: String, Sendable {
        /// In the query of the redirect URI.
        case query
        /// By a form that the browser posts. Spec: OAuth 2.0 Form Post Response Mode §2.
        case formPost = "form_post"
    }

    /// The doors.
    package enum Door: Hashable, Sendable {
        /// A browser, which brings the client a code.
        case browser
        /// A device that has asked, and fetches its tokens by itself.
        ///
        /// Spec: RFC 8628 §3.1.
        case device(AskingDevice)
        /// The client's server, which has named the person, and fetches its tokens or is told of them.
        ///
        /// Spec: CIBA Core 1.0 §7.
        case backchannel(AskingServer)
    }

    /// The client.
    package var client: ClientID
    /// The redirect URI, as the request named it.
    package var redirectURI: String
    /// How the result comes back.
    package var responseMode = ResponseMode.query
    /// The scopes of ours that are given.
    package var scopes: [String]
    /// What the client wants at APIs.
    package var resources: [ResourceAccess] = []
    /// What the person shall authorize in detail; nil for nothing.
    ///
    /// Spec: RFC 9396 §2.
    package var details: AuthorizationDetails?
    /// Returned to the client with the result; nil for nothing.
    package var clientState: String?
    /// Repeated in the ID token; nil for nothing.
    package var nonce: String?
    /// The SHA-256 of the code verifier, in base64url; nil without PKCE.
    ///
    /// Spec: RFC 7636 §4.2.
    package var codeChallenge: String?
    /// The thumbprint of the key that must redeem the code; nil for any or none.
    ///
    /// Spec: RFC 9449 §10 (`dpop_jkt`).
    package var keyThumbprint: KeyThumbprint?
    /// How old the authentication may be; nil for any age.
    package var maximumAge: Seconds?
    /// Whether the person must authenticate anew.
    package var isFresh = false
    /// Whether the person shall be asked what they allow, even if they have allowed it before.
    ///
    /// Spec: OpenID Connect Core 1.0 §3.1.2.1 (`prompt=consent`).
    package var asksConsent = false
    /// How strong the authentication shall be at least; nil for any strength.
    package var strength: Authentication.Strength?
    /// Whether a weaker authentication is worth nothing to the client.
    ///
    /// Spec: OpenID Connect Core 1.0 §5.5.1.1.
    package var isStrengthEssential = false
    /// Whom the client expects; nil for anybody.
    package var hint: UserReference?
    /// What the person has typed of who they are; nil before.
    package var identifier: SignInName?
    /// The languages that the client asks for, as in `ui_locales`; nil for none.
    package var languages: String?
    /// Whether the browser has said that it keeps passkeys, and opens them by a screen lock.
    ///
    /// Its script says so, so that a browser without scripts never does.
    package var keepsPasskeys = false

    /// The one use of the request that the client has pushed; nil where it has pushed none.
    package var pushed: PushedRequest.Use?
    /// Whether the client was strict when this was checked, so that all rules of the profile were kept; never for a
    /// device, since a strict client signs nobody in on one.
    package var isStrict = false
    /// The kind of address that the person must have proved, where an app has asked that was written for Cotter; nil
    /// where our own call has.
    ///
    /// Its result has Cotter's form, and its code is good at Cotter's call alone.
    package var cotter: PersonalAddress.Kind?
    /// Through which door it came, which is how its result leaves.
    package var door = Door.browser

    /// From where the person was asked last; nil before, and where nothing is known.
    package var askedFrom: ContextLine?
    /// In which language the person was asked last; nil for the operator's default.
    package var askedIn: LanguageTag?
    /// The browser in which the person was asked last, by a name that is the same at all clients; nil before, and where
    /// no browser has asked.
    package var askedBy: String?

    /// A wish of these parts; what is left out is as usual.
    package init(client: ClientID, redirectURI: String, scopes: [String]) {
        self.client = client
        self.redirectURI = redirectURI
        self.scopes = scopes
    }
}

extension Wanted {
    /// The device that has asked; nil for other doors.
    package var device: AskingDevice? {
        get { if case .device(let device) = door { device } else { nil } }
        set { door = newValue.map { .device($0) } ?? .browser }
    }

    /// The client's server that has asked; nil for other doors.
    package var backchannel: AskingServer? { if case .backchannel(let server) = door { server } else { nil } }

    /// Whether a client gets what comes of a sign-in, by how it uses the provider now.
    func isServed(by party: RelyingParty) -> Bool {
        guard party.takes(begunStrict: isStrict) else { return false }
        switch door {
        case .browser: return true
        case .device: return party.deviceGrant != .off
        // What was to be brought is not fetched. Spec: CIBA Core 1.0 §10.3.1.
        case .backchannel(let server): return party.backchannel.map { $0.delivery.isPush || !server.isPush } ?? false
        }
    }
}

/// The form in which it travels with a page and in which a row holds it, sealed.
extension Wanted {
    package var json: JSONValue {
        .members([
            "client": .string("\(client)"), "redirect_uri": .string(redirectURI),
            "response_mode": .string(responseMode.rawValue), "scopes": .array(scopes.map(JSONValue.string)),
            "resources": resources.isEmpty ? nil : ResourceAccess.json(resources),
            "details": details?.kept,
            "state": clientState.map(JSONValue.string), "nonce": nonce.map(JSONValue.string),
            "code_challenge": codeChallenge.map(JSONValue.string),
            "cnf": keyThumbprint.map(SignTokens.confirmation(of:)),
            "max_age": maximumAge.map { .integer($0.value) }, "fresh": .bool(isFresh),
            "consent": asksConsent ? true : nil,
            "strength": strength.map { .string($0.rawValue) }, "essential": isStrengthEssential ? true : nil,
            "hint": hint.map { .string($0.text) }, "languages": languages.map(JSONValue.string),
            "identifier": identifier.map { .string($0.text) },
            "keeps_passkeys": keepsPasskeys ? true : nil, "pushed": pushed?.json,
            "strict": isStrict ? true : nil, "cotter": cotter.map { .string($0.rawValue) }, "device": device?.json,
            "backchannel": backchannel?.json,
            "asked_from": askedFrom?.json,
            "asked_in": askedIn.map { .string("\($0)") }, "asked_by": askedBy.map(JSONValue.string),
        ])
    }

    /// Reads the form; nil if it is malformed.
    package init?(_ json: JSONValue) {
        guard let client = json["client"]?.string.flatMap({ ClientID($0) }), let uri = json["redirect_uri"]?.string,
            let mode = json["response_mode"]?.string.flatMap({ ResponseMode(rawValue: $0) }),
            let scopes = json["scopes"]?.array?.map(\.string),
            let resources = json["resources"].map({ ResourceAccess.list($0) }) ?? [], let isFresh = json["fresh"]?.bool
        else { return nil }
        self.init(client: client, redirectURI: uri, scopes: scopes.compactMap(\.self))
        self.resources = resources
        // What cannot be read must not become a sign-in without it.
        if let json = json["details"] {
            guard let kept = AuthorizationDetails(kept: json) else { return nil }
            details = kept
        }
        responseMode = mode
        clientState = json["state"]?.string
        nonce = json["nonce"]?.string
        codeChallenge = json["code_challenge"]?.string
        keyThumbprint = json["cnf"].flatMap { KeyThumbprint(in: $0) }
        maximumAge = json["max_age"]?.integer.map { Seconds($0) }
        self.isFresh = isFresh
        asksConsent = json["consent"]?.bool ?? false
        strength = json["strength"]?.string.flatMap { Authentication.Strength(rawValue: $0) }
        isStrengthEssential = json["essential"]?.bool ?? false
        hint = json["hint"]?.string.flatMap { UserReference($0) }
        languages = json["languages"]?.string
        identifier = json["identifier"]?.string.flatMap { SignInName($0) }
        keepsPasskeys = json["keeps_passkeys"]?.bool ?? false
        pushed = json["pushed"].flatMap { PushedRequest.Use($0) }
        isStrict = json["strict"]?.bool ?? false
        // What cannot be read must not become our own.
        if let json = json["cotter"] {
            guard let kind = json.string.flatMap({ PersonalAddress.Kind(rawValue: $0) }) else { return nil }
            cotter = kind
        }
        // Whose device or server cannot be read must not become a browser's.
        if let json = json["device"] {
            guard let asking = AskingDevice(json) else { return nil }
            door = .device(asking)
        } else if let json = json["backchannel"] {
            guard let asking = AskingServer(json) else { return nil }
            door = .backchannel(asking)
        }
        askedBy = json["asked_by"]?.string
        askedIn = json["asked_in"]?.string.flatMap { LanguageTag($0) }
        askedFrom = json["asked_from"].flatMap { ContextLine($0, in: askedIn) }
    }
}

/// The form in which rows hold it, sealed.
extension ContextLine {
    package var json: JSONValue {
        .members([
            "address": address.map(JSONValue.string), "agent": userAgent.map(JSONValue.string), "place": place?.json,
        ])
    }

    /// Reads the form; nil if it says nothing.
    ///
    /// - Parameters:
    ///   - json: the form.
    ///   - language: the language of the line; nil for English.
    package init?(_ json: JSONValue, in language: LanguageTag? = nil) {
        guard let line = ContextLine(address: json["address"]?.string, userAgent: json["agent"]?.string) else {
            return nil
        }
        self = line.placed(at: json["place"].flatMap { Place($0) }, in: language)
    }
}

extension Place {
    fileprivate var json: JSONValue {
        .members(["city": city?.json, "country": country?.json, "code": countryCode.map(JSONValue.string)])
    }

    fileprivate init?(_ json: JSONValue) {
        self.init(
            city: json["city"].flatMap { Name($0) }, country: json["country"].flatMap { Name($0) },
            countryCode: json["code"]?.string)
    }
}

extension Place.Name {
    fileprivate var json: JSONValue {
        var members = JSONObject()
        for language in Place.languages { members[language.description] = texts[language].map(JSONValue.string) }
        return .object(members)
    }

    fileprivate init?(_ json: JSONValue) {
        let texts = Place.languages.compactMap { language in
            json[language.description]?.string.map { (language, $0) }
        }
        self.init(Dictionary(texts) { first, _ in first })
    }
}
