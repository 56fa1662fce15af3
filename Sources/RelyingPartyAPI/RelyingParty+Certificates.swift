import CountersignWire
import Encodings

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
    var member: (name: String, value: JSONValue) {
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

extension JSONMembers {
    /// By which certificates the client authenticates.
    mutating func certificate(
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
    mutating func bindsToCertificate(
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
}
