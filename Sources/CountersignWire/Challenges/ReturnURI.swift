public import Encodings
import Foundation

/// Where a device goes back to that has opened a link.
///
/// It stands in the signed challenge: who sits between device and server cannot choose another. Spec: design 3.7.
public struct ReturnURI: Hashable, Sendable, CustomStringConvertible {
    /// How many a client may have.
    public static let maximumCount = 32
    /// The parameter that the code travels in.
    public static let parameter = "return_code"
    /// What is accepted, in words.
    public static let expected =
        "an https URL (http to loopback in development mode), or one of an app's own scheme, which is a domain's name "
        + "backwards, without the parameter \(parameter)"
    private static let maximumLength = 2000

    /// The URL.
    public let description: String

    /// A URL that was accepted before.
    public init(stored text: String) {
        description = text
    }

    /// Accepts `https`, `http` to a loopback host in development mode, and schemes of apps; no user, no fragment, no
    /// parameter of the code's name.
    ///
    /// A scheme of an app's own is a domain's name backwards, so that it has a dot: `javascript`, `data`, `file`, `tel`
    /// and whatever else does something when it is opened have none.
    public init?(_ text: String, isDevelopment: Bool) {
        guard text.utf8.count <= Self.maximumLength, let url = URLComponents(string: text), let scheme = url.scheme,
            url.user == nil, url.password == nil, url.fragment == nil,
            url.queryItems?.contains(where: { $0.name == Self.parameter }) != true,
            // Foundation mends what is not a URI; a line break in it would make two of it where it is stored.
            url.string?.hasSameBytes(as: text) == true
        else { return nil }
        switch scheme {
        case "https": guard url.host?.isEmpty == false else { return nil }
        case "http": guard isDevelopment, Self.isLoopback(url.host) else { return nil }
        default: guard Self.isAppScheme(scheme) else { return nil }
        }
        description = text
    }

    /// Its host; its scheme, where that is an app's own.
    public var place: String {
        let url = URLComponents(string: description)
        return isWeb ? url?.host ?? "" : url?.scheme ?? ""
    }

    /// Whether an app opens it, which has named the schemes that it opens besides `https`.
    ///
    /// - Parameters:
    ///   - schemes: those the app was set up with.
    ///   - issuer: who asks; one without TLS, which is a loopback one, may lead to another such place.
    public func isOpened(by schemes: Set<String>, asked issuer: Issuer) -> Bool {
        guard isWeb else { return URLComponents(string: description)?.scheme.map(schemes.contains) ?? false }
        return description.hasPrefix("https:") || "\(issuer)".hasPrefix("http:")
    }

    /// The URL with a code, which is base64url.
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
