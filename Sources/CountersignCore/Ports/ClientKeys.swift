package import CountersignWire
package import Encodings

/// What came of fetching the keys that a client publishes.
package enum FetchedKeys: Equatable, Sendable {
    /// The document.
    case document(JSONValue)
    /// Why there is none, without anything that came.
    case failed(String)
}

/// Fetches the keys that clients publish.
///
/// Spec: OpenID Connect Dynamic Client Registration 1.0 §2 (`jwks_uri`).
package protocol ClientKeys: Sendable {
    /// Fetches the document at a URI.
    ///
    /// It goes on when the task is cancelled: others wait for it as well.
    func fetch(_ uri: KeysURI) async -> FetchedKeys

    /// Called by each task before it waits for a fetch, its own or that of another task.
    func willWait()
}

extension ClientKeys {
    package func willWait() {}
}

/// Fetches no keys.
package struct NoClientKeys: ClientKeys {
    package init() {}

    package func fetch(_ uri: KeysURI) async -> FetchedKeys { .failed("keys are not fetched here") }
}
