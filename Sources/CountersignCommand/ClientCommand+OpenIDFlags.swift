import CountersignWire
import Encodings

/// By which flags `countersign client openid set` sets what a client's settings have.
extension ClientCommand.OpenID.Set {
    /// The flags, by what they set, where their names differ by more than hyphens; and `jwks`, which has none to be known
    /// by.
    static let flags = [
        "authorization_details_types": "authorization-details",
        "backchannel_authentication_request_signing_alg": "backchannel-signing-alg",
        "backchannel_client_notification_endpoint": "backchannel-notification-uri",
        "backchannel_token_delivery_mode": "backchannel",
        "backchannel_user_code_parameter": "backchannel-user-code",
        "calling_codes": "calling-code",
        "id_token_signed_response_alg": "id-token-alg",
        "jwks": "jwks",
        "post_logout_redirect_uris": "signed-out-uri",
        "redirect_uris": "redirect-uri",
        "require_pushed_authorization_requests": "require-par",
        "require_signed_request_object": "require-signed-requests",
        "resource/identifier": "resource",
        "resource/scopes": "resource-scope",
        "resources": "may-use",
        "self_signed_tls_client_auth_thumbprints": "self-signed-certificate",
        "step_up_types": "step-up-type",
        "tls_client_certificate_bound_access_tokens": "certificate-bound-access-tokens",
        "ways": "way",
    ]

    private static func flag(for member: String) -> String {
        "--" + (flags[member] ?? member.replacing("_", with: "-"))
    }

    /// A refusal that names what was typed, in the place of what was sent; a script still reads that in `pointer`.
    static func namingFlags(in problem: ProblemDetails) -> ProblemDetails {
        guard let pointer = problem["pointer"]?.string, let detail = problem.detail, detail.hasPrefix("\(pointer) "),
            var members = problem.members.object
        else { return problem }
        let path = pointer.split(separator: "/").map(String.init)
        let count = flags[path.prefix(2).joined(separator: "/")] == nil ? 1 : 2
        // Within a file; which of several values it was says the index, and nobody has typed that.
        let place = path.dropFirst(count).joined(separator: "/")
        let subject = flag(for: path.prefix(count).joined(separator: "/"))
        let rest = String(detail.dropFirst(pointer.count)).replacing(#/"([a-z_]+)"/#) { match -> String in
            let name = String(match.output.1)
            // In quotes stand values, too, such as "ping".
            return flags[name] != nil || name.contains("_") ? flag(for: name) : String(match.output.0)
        }
        members["detail"] = .string(subject + (place.isEmpty || Int(place) != nil ? "" : " at /\(place)") + rest)
        return ProblemDetails(.object(members)) ?? problem
    }
}
