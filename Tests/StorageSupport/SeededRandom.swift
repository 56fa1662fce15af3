import CountersignCore
import Synchronization

/// The same bytes in every run: SplitMix64 from a seed.
package final class SeededRandom: RandomSource {
    private let state: Mutex<UInt64>

    /// A generator that starts at a seed.
    package init(seed: UInt64 = 1) {
        state = Mutex(seed)
    }

    /// The next bytes.
    package func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state &+= 0x9E37_79B9_7F4A_7C15
                var mixed = state
                mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
                return UInt8(truncatingIfNeeded: mixed ^ (mixed >> 31))
            }
        }
    }
}
