import CountersignCore
import CountersignWire
import Encodings

/// What the provider says of clients with certificates, where the operator lets them come.
///
/// Spec: RFC 8705 §2, §3.3, §5; RFC 9728 §2.
extension OAuthDoor {
    /// The endpoints that people's browsers open, and that no certificate opens.
    private static let pages: Set<String> = ["authorization_endpoint", "end_session_endpoint"]

    /// Metadata with what there is to say of certificates.
    ///
    /// - Parameter metadata: those of the provider, or of its own API.
    func withCertificates(_ metadata: JSONValue) -> JSONValue {
        guard resources.certificates != .off, var object = metadata.object else { return metadata }
        object["tls_client_certificate_bound_access_tokens"] = true
        for member in object.members where member.name.hasSuffix("_endpoint_auth_methods_supported") {
            object[member.name] = .array((member.value.array ?? []) + resources.certificates.authenticationMethods)
        }
        if let url = ports.certificateURL {
            var aliases = JSONObject()
            for member in object.members where member.name.hasSuffix("_endpoint") && !Self.pages.contains(member.name) {
                let path = member.value.string?.dropFirst("\(ports.issuer)".count) ?? ""
                aliases[member.name] = .string(url.uri(String(path)))
            }
            if !aliases.members.isEmpty { object["mtls_endpoint_aliases"] = .object(aliases) }
        }
        return .object(object)
    }
}

extension CertificateSource {
    /// How clients authenticate by certificates from here: by a name only where somebody has verified who gave it.
    fileprivate var authenticationMethods: [JSONValue] {
        switch self {
        case .off: []
        case .proxy: ["tls_client_auth", "self_signed_tls_client_auth"]
        case .unverified, .tls: ["self_signed_tls_client_auth"]
        }
    }
}
