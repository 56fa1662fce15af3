public import Foundation

/// Shows a page of the issuer to the person, and brings back where the browser was sent in the end.
///
/// Implement it with what the system has for this: the person's own browser and a listener on this machine, or a
/// system's session for signing in. An embedded web view is no place for it, because the app could read what is typed.
///
/// Spec: RFC 8252 §6, §8.12.
public protocol BrowserSession: Sendable {
    /// Opens a URL, and waits until the browser is sent back to the app.
    ///
    /// - Parameters:
    ///   - url: the URL to open; it holds nothing secret.
    ///   - redirectURI: the address at which the browser comes back, without the result in its query.
    /// - Returns: the whole URL at which the browser came back. It may hold a code: keep it out of logs.
    /// - Throws: `CancellationError` when the person gave up, or any other error when there is no browser or nobody
    ///   came back in time.
    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL
}
