import Encodings
import Synchronization
import TestSupport

/// The secrets that commands printed for whoever asked for them; nobody else may see them.
final class Made: Sendable {
    private let found = Mutex<[SecretForms]>([])

    /// Remembers what an object holds.
    func note(_ object: JSONValue) {
        for name in ["client_secret", "callback_secret", "ticket", "qr"] {
            guard let text = object[name]?.string else { continue }
            found.withLock { $0.append(SecretForms(name, text: text)) }
        }
    }

    /// All of them.
    var secrets: [SecretForms] { found.withLock { $0 } }
}
