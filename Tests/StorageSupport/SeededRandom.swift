import CountersignCore
import Synchronization
import TestSupport

/// A source of random bytes that are the same in every run.
package final class SeededRandom: RandomSource {
    private let generator: Mutex<SeededGenerator>

    package init(seed: UInt64 = 1) {
        generator = Mutex(SeededGenerator(seed: seed))
    }

    package func bytes(_ count: Int) -> [UInt8] {
        generator.withLock { $0.bytes(count) }
    }
}
