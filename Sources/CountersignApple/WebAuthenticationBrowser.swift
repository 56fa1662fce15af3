#if canImport(AuthenticationServices)
    public import AuthenticationServices
    public import Countersign
    public import Foundation

    /// The system's session for signing in, which shows the issuer's pages in the person's browser.
    ///
    /// The app reads nothing of what the person types there. Spec: RFC 8252 §6, §8.12.
    public struct WebAuthenticationBrowser: BrowserSession {
        /// Why no page was shown.
        public enum Failure: Error, Equatable, Sendable {
            /// The system notices nothing at this address.
            case address
            /// The system is too old for an address by `https`: iOS has it from 17.4 on.
            case system
            /// There is no window to show it over, or the system showed none.
            case notStarted
        }

        /// The window over which the session is shown.
        public typealias Anchor = @MainActor @Sendable () -> ASPresentationAnchor

        private let isPrivate: Bool
        private let anchor: Anchor

        /// A session over a window.
        ///
        /// - Parameters:
        ///   - isPrivate: whether the session shares no cookies with the person's browser: then nobody is signed in there
        ///     yet, and nobody stays signed in.
        ///   - anchor: returns the window.
        public init(isPrivate: Bool = false, over anchor: @escaping Anchor) {
            self.isPrivate = isPrivate
            self.anchor = anchor
        }

        /// See `BrowserSession.open(_:returningTo:)`.
        public func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
            guard let callback = BrowserCallback(redirectURI) else { throw Failure.address }
            let visit = await Visit(anchor)
            return try await withTaskCancellationHandler {
                try await visit.make(url, until: callback, isPrivate: isPrivate)
            } onCancel: {
                Task { await visit.cancel() }
            }
        }

        /// One session, and who shows it.
        @MainActor
        private final class Visit: NSObject, ASWebAuthenticationPresentationContextProviding {
            private let anchor: Anchor
            private var session: ASWebAuthenticationSession?
            private var isCancelled = false

            init(_ anchor: @escaping Anchor) {
                self.anchor = anchor
            }

            func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor {
                anchor()
            }

            func make(_ url: URL, until callback: BrowserCallback, isPrivate: Bool) async throws -> URL {
                guard !isCancelled else { throw CancellationError() }
                // Whoever is first ends it: the system, a session that does not start, or a cancelled task.
                let (ends, continuation) = AsyncThrowingStream.makeStream(of: URL.self)
                // The system calls this on a thread of its own.
                let session = Self.session(url, callback) { @Sendable url, error in
                    if let url { continuation.yield(url) }
                    let isCancelled = (error as? ASWebAuthenticationSessionError)?.code == .canceledLogin
                    continuation.finish(throwing: isCancelled ? CancellationError() : error)
                }
                guard let session else { throw Failure.system }
                session.presentationContextProvider = self
                session.prefersEphemeralWebBrowserSession = isPrivate
                self.session = session
                // A cancelled task ends the wait before ``cancel()`` comes; a session that has ended is not cancelled by it.
                defer {
                    session.cancel()
                    self.session = nil
                }
                if !session.start() { continuation.finish(throwing: Failure.notStarted) }
                for try await url in ends { return url }
                throw CancellationError()
            }

            func cancel() {
                isCancelled = true
                session?.cancel()
            }

            /// The session; nil where the system has none for the callback.
            private static func session(
                _ url: URL, _ callback: BrowserCallback, _ end: @escaping @Sendable (URL?, (any Error)?) -> Void
            ) -> ASWebAuthenticationSession? {
                if #available(iOS 17.4, *) {
                    switch callback {
                    case .scheme(let scheme):
                        return ASWebAuthenticationSession(
                            url: url, callback: .customScheme(scheme), completionHandler: end)
                    case .https(let host, let path):
                        return ASWebAuthenticationSession(
                            url: url, callback: .https(host: host, path: path), completionHandler: end)
                    }
                }
                guard case .scheme(let scheme) = callback else { return nil }
                return ASWebAuthenticationSession(url: url, callbackURLScheme: scheme, completionHandler: end)
            }
        }
    }
#endif
