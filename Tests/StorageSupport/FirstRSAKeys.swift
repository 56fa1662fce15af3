import CountersignCore
package import JOSE
import Synchronization

/// Gives every fixture the same first RSA key, and new ones after it, as a rotation needs.
///
/// To make one takes longer than most of the tests whose clients need one.
package struct FirstRSAKeys: RSAKeySource {
    private static let first = Result { try RSAPrivateKey() }
    private static let begun = Mutex<Set<String>>([])

    private let folder: String

    /// The keys of the fixture with this data folder, also after it was opened again.
    package init(of folder: String) {
        self.folder = folder
    }

    package func makeKey() throws -> RSAPrivateKey {
        let isFirst = Self.begun.withLock { $0.insert(folder).inserted }
        return try isFirst ? Self.first.get() : RSAPrivateKey()
    }
}
