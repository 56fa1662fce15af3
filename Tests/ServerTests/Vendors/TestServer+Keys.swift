import Encodings
import NIOHTTP1
import ServerTestSupport
import Testing

extension TestServer {
    /// Waits until the server has read the keys that were made for a vendor.
    ///
    /// - Parameters:
    ///   - types: the types of the keys, as in a JWK's `kty`.
    ///   - path: where the keys are published.
    func awaitKeys(_ types: Set<String>, at path: String) async throws {
        for _ in 0..<200 {
            let set = try await send(.GET, path, isContract: false).success()
            let read = set["keys"]?.array?.compactMap { $0["kty"]?.string } ?? []
            if types.isSubset(of: read) { return }
            try await Task.sleep(for: .milliseconds(25))
        }
        Issue.record("there are no keys of \(types.sorted())")
    }
}
