public import Encodings
import Foundation

/// The URL to which the browser returns after an approval by a link.
///
/// It is part of the signed challenge, so nobody between device and server can replace it. Spec:
/// docs/protocol/codes-and-links.md, *Approval by a link*.
public struct ReturnURI: Hashable, Sendable, CustomStringConvertible {
    /// How many such URLs a client may have.
    public static let maximumCount = 32
    /// The URL parameter for the return code.
    public static let parameter = "return_code"
    /// What is accepted, in words.
    public static let expected =
        "an https URL (http to loopback in development mode), or one of an app's own scheme, which is a domain's name "
        + "backwards, without the parameter \(parameter)"
    private static let maximumLength = 2000

    /// The URL.
    public let description: String

    /// A URL that was accepted when it was stored.
    public init(stored text: String) {
        description = text
    }

    /// A URL as a request names it, which counts only where it is one that was accepted before.
    package init(named text: String) {
        description = text
    }

    /// Accepts `https`, `http` to a loopback host in development mode, and schemes of apps.
    ///
    /// The URL must have no user, no fragment, and no parameter with the name of the code's parameter. An app's own
    /// scheme is a domain name in reverse order, so it contains a dot. `javascript`, `data`, `file`, `tel` and other
    /// schemes with an effect of their own contain none.
    public init?(_ text: String, isDevelopment: Bool) {
        guard text.utf8.count <= Self.maximumLength, let url = URLComponents(string: text), let scheme = url.scheme,
            url.user == nil, url.password == nil, url.fragment == nil,
            url.queryItems?.contains(where: { $0.name == Self.parameter }) != true,
            // Foundation corrects a text that is not a URI; a line break in it would make two URLs of it in storage.
            url.string?.hasSameBytes(as: text) == true
        else { return nil }
        switch scheme {
        case "https": guard url.host?.isEmpty == false else { return nil }
        case "http": guard isDevelopment, Self.isLoopback(url.host) else { return nil }
        default: guard Self.isAppScheme(scheme) else { return nil }
        }
        description = text
    }

    /// Its host; its scheme if the scheme is an app's own.
    public var place: String {
        let url = URLComponents(string: description)
        return isWeb ? url?.host ?? "" : url?.scheme ?? ""
    }

    /// Whether an app opens the URL.
    ///
    /// - Parameters:
    ///   - schemes: the schemes that the app opens besides `https`.
    ///   - issuer: the server that asks; only a loopback server, which has no TLS, may lead to another loopback place.
    public func isOpened(by schemes: Set<String>, asked issuer: Issuer) -> Bool {
        guard isWeb else { return URLComponents(string: description)?.scheme.map(schemes.contains) ?? false }
        return description.hasPrefix("https:") || "\(issuer)".hasPrefix("http:")
    }

    /// The URL with a return code, which is base64url.
    public func bringing(_ code: Secret<String>) -> Secret<String> {
        let separator = !description.contains("?") ? "?" : description.hasSuffix("?") ? "" : "&"
        return Secret("\(description)\(separator)\(Self.parameter)=\(code.reveal())")
    }

    private var isWeb: Bool { description.hasPrefix("https:") || description.hasPrefix("http:") }

    private static func isLoopback(_ host: String?) -> Bool {
        ["localhost", "127.0.0.1", "[::1]", "::1"].contains(host)
    }

    private static func isAppScheme(_ scheme: String) -> Bool {
        let labels = scheme.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1
            && labels.allSatisfy { label in
                !label.isEmpty
                    && label.utf8.allSatisfy { byte in
                        byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    }
            }
    }
}
