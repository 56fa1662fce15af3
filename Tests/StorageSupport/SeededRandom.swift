import CountersignCore
import Synchronization
import TestSupport

/// The same bytes in every run.
package final class SeededRandom: RandomSource {
    private let generator: Mutex<SeededGenerator>

    /// A generator that starts at a seed.
    package init(seed: UInt64 = 1) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    /// The next bytes.
    package func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { $0.bytes(count) }
    }
}
