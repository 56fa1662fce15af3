/// The files that the pages load: stylesheets and scripts, each named by its content, so that it can be kept for good.
package enum PageAssets {
    /// The headers' policy for every page that names no other: nothing but our own files, and forms to our own host.
    package static let contentSecurityPolicy = policy(formAction: "'self'")

    /// The policy of the page whose script has a puzzle solved beside it.
    static let workingPolicy = policy(formAction: "'self'", workers: "'self'")

    /// A script.
    package enum Script: String, CaseIterable, Sendable {
        /// Shows what only a script can do, and counts the time down.
        case clock
        /// Waits for the outcome on the phone.
        case wait
        /// Sends the answer on to the client.
        case onward
        /// Uses and creates passkeys.
        case passkey
        /// Has a puzzle solved, and goes on.
        case work
        /// Solves a puzzle, beside the page.
        case solve
    }

    /// A file to serve.
    package struct Asset: Sendable {
        /// The path, which begins with `/assets/`.
        package let path: String
        /// The media type.
        package let contentType: String
        /// The content.
        package let bytes: [UInt8]
    }

    /// Every file to serve, for as long as a cache likes: a changed file has another path.
    package static let all: [Asset] =
        [(stylesheetPath, stylesheet), (accountStylesheetPath, accountStylesheet)].map { path, text in
            Asset(path: path, contentType: "text/css; charset=utf-8", bytes: Array(text.utf8))
        }
        + Script.allCases.map { script in
            Asset(
                path: path(of: script), contentType: "text/javascript; charset=utf-8",
                bytes: Array(source(of: script).utf8))
        }

    /// The path of the stylesheet.
    static let stylesheetPath = "/assets/pages-\(mark(stylesheet)).css"

    /// The path of the stylesheet that the pages of the account load after it.
    static let accountStylesheetPath = "/assets/account-\(mark(accountStylesheet)).css"

    /// The path of a script.
    static func path(of script: Script) -> String { "/assets/\(script.rawValue)-\(mark(source(of: script))).js" }

    /// The policy with what forms may lead to; nil for anything.
    ///
    /// Browsers hold every redirect after a form against `form-action`, the client's own included. Without a
    /// `worker-src` every page could start a worker, since `script-src` would count.
    static func policy(formAction: String?, workers: String = "'none'") -> String {
        let directives: [String?] = [
            "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self' data:", "connect-src 'self'",
            "worker-src \(workers)", formAction.map { "form-action \($0)" }, "base-uri 'none'",
            "frame-ancestors 'none'",
        ]
        return directives.compactMap(\.self).joined(separator: "; ")
    }

    /// What tells one content from another: FNV-1a with 64 bits.
    ///
    /// The files are our own, so that nobody looks for a collision.
    static func mark(_ text: String) -> String {
        let hash = text.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
