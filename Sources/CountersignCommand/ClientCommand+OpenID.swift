import ArgumentParser
import CountersignServer
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1

/// The command `countersign client openid`.
extension ClientCommand {
    struct OpenID: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "openid", abstract: "Clients that sign people in by OpenID Connect.",
            subcommands: [Set.self, Show.self, Remove.self, Look.self])
    }
}

extension ClientCommand.OpenID {
    static func path(_ id: String) -> String { "/v1/admin/clients/\(Remote.escaped(id))/openid" }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Let a client sign people in, or change how it does; what is not named is as at first.")

        @Argument(help: "The client's id.")
        var id: String

        @Option(
            help: """
                What it is: web (keeps a secret), native (an app), spa (a page without a server), compatible (an app that \
                returns by a scheme without a dot) or strict (a server that follows FAPI 2.0, with keys or a certificate).
                """)
        var profile: String

        @Option(help: "Where a browser may return to after a sign-in; may be repeated. An API needs none.")
        var redirectURI: [String] = []

        @Option(help: "Where a browser may return to after a sign-out; may be repeated.")
        var signedOutURI: [String] = []

        @Option(help: "Where the client's server is told that a session has ended, by a logout token.")
        var backchannelLogoutURI: String?

        @Flag(help: "Say that the client needs the session's name in logout tokens; ours always have it.")
        var backchannelLogoutSessionRequired = false

        @Option(help: "The challenge type by which devices are asked. (default: confirm)")
        var type: String?

        @Option(
            help: """
                A challenge type by which devices are asked where the client wants a stronger sign-in than the usual type \
                gives; may be repeated, and the first one that does is taken.
                """)
        var stepUpType: [String] = []

        @Option(help: "From which browsers a person's devices are asked: known (signed in before) or all.")
        var askedBrowsers: String?

        @Option(
            help: """
                By what people sign in: passkey, device, qr, email or text; may be repeated. At least one of passkey, \
                qr and email, since not everybody can copy digits. (default: device and qr)
                """)
        var way: [String] = []

        @Option(
            help: """
                Who may become a user of the client: closed (whom it makes itself), known (whoever is a user already), \
                or open (whoever signs in).
                """)
        var registration: String?

        @Option(help: "A calling code, such as +49, to which text messages may go; may be repeated.")
        var callingCode: [String] = []

        @Option(
            help: "A file with the client's public keys, a JWK Set: it authenticates by them and not by its secret.")
        var jwks: String?

        @Option(help: "The https URL at which the client publishes these keys, instead of a file.")
        var jwksURI: String?

        @Option(
            help: """
                Authenticate the client by a certificate with this subject, as in CN=shop,O=Example,C=DE (RFC 4514), that \
                a proxy has verified.
                """)
        var tlsClientAuthSubjectDN: String?

        @Option(
            name: .customLong("tls-client-auth-san-dns"),
            help: "The same by this domain name among the certificate's alternative names.")
        var certificateDomain: String?

        @Option(name: .customLong("tls-client-auth-san-uri"), help: "The same by this URI.")
        var certificateURI: String?

        @Option(name: .customLong("tls-client-auth-san-ip"), help: "The same by this network address.")
        var certificateAddress: String?

        @Option(name: .customLong("tls-client-auth-san-email"), help: "The same by this mail address.")
        var certificateMail: String?

        @Option(
            help: "A file with a certificate of the client's own (PEM), by which it authenticates; may be repeated.")
        var selfSignedCertificate: [String] = []

        @Flag(help: "Bind all tokens to the certificate of the client's connection (RFC 8705).")
        var certificateBoundAccessTokens = false

        @Option(help: "How ID tokens are signed: RS256 or ES256. (default: RS256 for web, ES256 for the others)")
        var idTokenAlg: String?

        @Option(help: "How many seconds old a sign-in may be where the client's request does not say it.")
        var defaultMaxAge: Int64?

        @Option(help: "For how many seconds a replaced refresh token may come once more, 0 to 300. (default: 30)")
        var refreshGrace: Int64?

        @Flag(help: "Replace a web application's refresh tokens at each use, too.")
        var rotateRefreshTokens = false

        @Flag(help: "Bind all tokens to a key of the client's: it gets none without a DPoP proof.")
        var dpopBoundAccessTokens = false

        @Option(help: "The client is an API, and this URI is the audience of the tokens that other clients get for it.")
        var resource: String?

        @Option(help: "A scope of the API that the client is; may be repeated.")
        var resourceScope: [String] = []

        @Option(
            help: """
                The URI of an API that the client may have tokens for, byte for byte, which may be registered later; may \
                be repeated.
                """)
        var mayUse: [String] = []

        @Flag(name: .customLong("require-par"), help: "Take only sign-ins whose request the client has pushed (PAR).")
        var requiresPushedRequests = false

        @Flag(help: "Take only sign-ins whose request the client has signed, which needs keys of its own.")
        var requireSignedRequests = false

        @Flag(help: "Let a web application do without PKCE and a nonce.")
        var pkceOptional = false

        @Flag(help: "Let devices sign people in by a code that is typed on a page (RFC 8628).")
        var deviceGrant = false

        @Flag(help: "With --device-grant: a device may also name the person, whose trusted devices are then asked.")
        var deviceLoginHint = false

        @Option(
            help: """
                A file with what the client may have people authorize in detail (RFC 9396): a JSON array of types, with the \
                line for each member.
                """)
        var authorizationDetails: String?

        @Option(
            name: .customLong("backchannel"),
            help: "Let the client's server have people's devices asked (CIBA), by the mode poll, ping or push.")
        var backchannelMode: String?

        @Option(help: "With --backchannel ping or push: where the client's server is told of decisions.")
        var backchannelNotificationURI: String?

        @Flag(help: "With --backchannel: the client shows the number that it gets, to be typed on the device.")
        var backchannelNumberEntry = false

        @Option(
            help: """
                With --backchannel, in the place of --backchannel-number-entry: the challenge type by which devices are \
                asked, which has no number to type.
                """)
        var backchannelType: String?

        @Option(help: "With --backchannel: the client signs its requests by this algorithm, such as ES256.")
        var backchannelSigningAlg: String?

        @Flag(help: "With --backchannel: each request brings a code that the person has set on their account page.")
        var backchannelUserCode = false

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let details = try authorizationDetails.map {
                try jsonContent(FileManager.default.contents(atPath: $0), of: $0)
            }
            let keys = try jwks.map { try jsonContent(FileManager.default.contents(atPath: $0), of: $0) }
            let thumbprints = try selfSignedCertificate.map { JSONValue.string(try TLSFiles.thumbprint(inFile: $0)) }
            let certificates = JSONObject([
                "tls_client_auth_subject_dn": tlsClientAuthSubjectDN.map(JSONValue.string),
                "tls_client_auth_san_dns": certificateDomain.map(JSONValue.string),
                "tls_client_auth_san_uri": certificateURI.map(JSONValue.string),
                "tls_client_auth_san_ip": certificateAddress.map(JSONValue.string),
                "tls_client_auth_san_email": certificateMail.map(JSONValue.string),
                "self_signed_tls_client_auth_thumbprints": thumbprints.isEmpty ? nil : .array(thumbprints),
                "tls_client_certificate_bound_access_tokens": certificateBoundAccessTokens ? true : nil,
            ])
            var body = JSONObject([
                "jwks": keys, "jwks_uri": jwksURI.map(JSONValue.string), "profile": .string(profile),
                "redirect_uris": .array(redirectURI.map(JSONValue.string)),
                "post_logout_redirect_uris": signedOutURI.isEmpty
                    ? nil : .array(signedOutURI.map(JSONValue.string)),
                "backchannel_logout_uri": backchannelLogoutURI.map(JSONValue.string),
                "backchannel_logout_session_required": backchannelLogoutSessionRequired ? true : nil,
                "type": type.map(JSONValue.string),
                "step_up_types": stepUpType.isEmpty ? nil : .array(stepUpType.map(JSONValue.string)),
                "asked_browsers": askedBrowsers.map(JSONValue.string),
                "pkce_optional": pkceOptional ? true : nil,
                "ways": way.isEmpty ? nil : .array(way.map(JSONValue.string)),
                "registration": registration.map(JSONValue.string),
                "calling_codes": callingCode.isEmpty ? nil : .array(callingCode.map(JSONValue.string)),
                "id_token_signed_response_alg": idTokenAlg.map(JSONValue.string),
                "default_max_age": defaultMaxAge.map(JSONValue.integer),
                "refresh_grace": refreshGrace.map(JSONValue.integer),
                "rotate_refresh_tokens": rotateRefreshTokens ? true : nil,
                "dpop_bound_access_tokens": dpopBoundAccessTokens ? true : nil,
                "resource": resource.map {
                    ["identifier": .string($0), "scopes": .array(resourceScope.map(JSONValue.string))]
                },
                "resources": mayUse.isEmpty ? nil : .array(mayUse.map(JSONValue.string)),
                "require_pushed_authorization_requests": requiresPushedRequests ? true : nil,
                "require_signed_request_object": requireSignedRequests ? true : nil,
                "device_grant": deviceGrant ? true : nil, "device_login_hint": deviceLoginHint ? true : nil,
                "authorization_details_types": details,
            ])
            for member in certificates.members { body[member.name] = member.value }
            for member in backchannel.members { body[member.name] = member.value }
            let set: JSONValue
            do {
                set = try await remote.withRemote { [id, body] in
                    try await $0.call(.PUT, ClientCommand.OpenID.path(id), .object(body))
                }
            } catch let problem as ProblemDetails {
                throw Self.namingFlags(in: problem)
            }
            output.print(set, ClientCommand.OpenID.text(of: set))
        }

        private var backchannel: JSONObject {
            JSONObject([
                "backchannel_token_delivery_mode": backchannelMode.map(JSONValue.string),
                "backchannel_client_notification_endpoint": backchannelNotificationURI.map(JSONValue.string),
                "backchannel_number_entry": backchannelNumberEntry ? true : nil,
                "backchannel_type": backchannelType.map(JSONValue.string),
                "backchannel_authentication_request_signing_alg": backchannelSigningAlg.map(JSONValue.string),
                "backchannel_user_code_parameter": backchannelUserCode ? true : nil,
            ])
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show how a client signs people in.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions
        @OptionGroup var output: OutputOptions

        mutating func run() async throws {
            let shown = try await remote.withRemote { [id] in
                try await $0.call(.GET, ClientCommand.OpenID.path(id))
            }
            output.print(shown, ClientCommand.OpenID.text(of: shown))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "End that a client signs people in, and all tokens that it has.")

        @Argument(help: "The client's id.")
        var id: String

        @OptionGroup var remote: RemoteOptions

        mutating func run() async throws {
            _ = try await remote.withRemote { [id] in
                try await $0.call(.DELETE, ClientCommand.OpenID.path(id))
            }
            say("Client \(id) signs nobody in any more.")
        }
    }

    private static func text(of settings: JSONValue) -> String {
        func field(_ name: String) -> String { settings[name]?.field ?? "" }
        func list(_ name: String) -> String {
            (settings[name]?.array ?? []).map { $0.field ?? "" }.joined(separator: ", ")
        }
        let places = settings["redirect_uris"]?.array?.map { "returns to \($0.field ?? "")" } ?? []
        let resource = settings["resource"].map { resource in
            let scopes = (resource["scopes"]?.array ?? []).map { $0.field ?? "" }.joined(separator: ", ")
            return "is the API \(resource["identifier"]?.field ?? "") with \(scopes)"
        }
        let afterwards =
            settings["post_logout_redirect_uris"]?.array?.map { "after a sign-out to \($0.field ?? "")" } ?? []
        var lines = ["\(field("client")): \(field("profile"))"] + places + afterwards
        if settings["backchannel_logout_uri"] != nil {
            lines.append("is told of the end of a session at \(field("backchannel_logout_uri"))")
        }
        lines.append("asks by \(field("type")), from \(field("asked_browsers")) browsers")
        if !list("step_up_types").isEmpty { lines.append("asks more strongly by \(list("step_up_types"))") }
        lines.append("signs in by \(list("ways")), registration \(field("registration"))")
        if settings["jwks"] != nil { lines.append("authenticates by its keys") }
        if settings["jwks_uri"] != nil { lines.append("authenticates by its keys at \(field("jwks_uri"))") }
        for name in [
            "tls_client_auth_subject_dn", "tls_client_auth_san_dns", "tls_client_auth_san_uri",
            "tls_client_auth_san_ip", "tls_client_auth_san_email",
        ] where settings[name] != nil {
            lines.append("authenticates by a certificate for \(field(name))")
        }
        if !list("self_signed_tls_client_auth_thumbprints").isEmpty {
            lines.append("authenticates by certificate \(list("self_signed_tls_client_auth_thumbprints"))")
        }
        if settings["tls_client_certificate_bound_access_tokens"] != nil {
            lines.append("has all tokens bound to its certificate")
        }
        if settings["id_token_signed_response_alg"] != nil {
            lines.append("gets ID tokens signed by \(field("id_token_signed_response_alg"))")
        }
        if settings["default_max_age"] != nil { lines.append("asks anew after \(field("default_max_age")) seconds") }
        if settings["refresh_grace"] != nil {
            lines.append("takes a replaced refresh token for \(field("refresh_grace")) seconds")
        }
        if settings["rotate_refresh_tokens"] != nil { lines.append("has refresh tokens replaced at each use") }
        if settings["require_pushed_authorization_requests"] != nil { lines.append("must push its requests") }
        if settings["require_signed_request_object"] != nil { lines.append("must sign its requests") }
        if settings["dpop_bound_access_tokens"] != nil { lines.append("has all tokens bound to a key") }
        if settings["device_grant"] != nil {
            lines.append(
                "signs people in on devices by a code"
                    + (settings["device_login_hint"] == nil ? "" : ", or by asking whom the device names"))
        }
        let details = (settings["authorization_details_types"]?.array ?? []).map { $0["type"]?.field ?? "" }
        if !details.isEmpty { lines.append("has people authorize \(details.joined(separator: ", "))") }
        if settings["backchannel_token_delivery_mode"] != nil {
            let type = settings["backchannel_type"] == nil ? "with a number" : "by \(field("backchannel_type"))"
            lines.append("asks from its server \(type), by the mode \(field("backchannel_token_delivery_mode"))")
        }
        if settings["backchannel_client_notification_endpoint"] != nil {
            lines.append("is told of decisions at \(field("backchannel_client_notification_endpoint"))")
        }
        if settings["backchannel_user_code_parameter"] != nil {
            lines.append("brings a code of the person with each of these requests")
        }
        if settings["backchannel_authentication_request_signing_alg"] != nil {
            lines.append("signs these requests by \(field("backchannel_authentication_request_signing_alg"))")
        }
        if let resource { lines.append(resource) }
        if !list("resources").isEmpty { lines.append("may have tokens for \(list("resources"))") }
        if !list("calling_codes").isEmpty { lines.append("sends text messages to \(list("calling_codes"))") }
        return lines.joined(separator: "\n")
    }
}
