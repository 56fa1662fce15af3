import Foundation

/// A reproducible random generator: SplitMix64 by Steele, Lea and Flood.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The seed, which repeats the run.
    package let seed: UInt64
    private var state: UInt64

    /// Creates a generator from a seed.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// Creates the generator of one of several concurrent workers, independent of the other workers.
    package init(seed: UInt64, of worker: Int) {
        var first = SeededGenerator(seed: seed &+ UInt64(worker) &* 0xA076_1D64_78BD_642F)
        self.init(seed: first.next())
    }

    /// Creates a generator from the seed in `COUNTERSIGN_SEED`, or from a new one.
    ///
    /// Prints the seed before anything else happens, because a crash would leave no other trace of it.
    package static func announced(by test: String) -> SeededGenerator {
        let given = ProcessInfo.processInfo.environment["COUNTERSIGN_SEED"].flatMap { UInt64($0) }
        let generator = SeededGenerator(seed: given ?? UInt64.random(in: 0...(.max)))
        FileHandle.standardError.write(Data("\(test): COUNTERSIGN_SEED=\(generator.seed)\n".utf8))
        return generator
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// Whether an event with this probability, in percent, happens now.
    package mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }

    /// The bytes with one to three random changes: bits flipped, bytes replaced, removed, repeated, cut off or
    /// inserted.
    package mutating func mutated(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &self) { mutate(&bytes) }
        return bytes
    }

    private mutating func mutate(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else {
            bytes = self.bytes(Int.random(in: 0...4, using: &self))
            return
        }
        let index = Int.random(in: 0..<bytes.count, using: &self)
        let range = index..<Swift.min(bytes.count, index + Int.random(in: 1...8, using: &self))
        switch Int.random(in: 0..<8, using: &self) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &self)
        case 1: bytes[index] = UInt8.random(in: 0...255, using: &self)
        case 2: bytes[index] = [0, 1, 0x7F, 0x80, 0xC0, 0xFE, 0xFF].randomElement(using: &self) ?? 0
        case 3: bytes.removeSubrange(range)
        case 4: bytes.insert(contentsOf: Array(bytes[range]), at: index)
        case 5: bytes.removeSubrange(index...)
        case 6: bytes.insert(contentsOf: self.bytes(range.count), at: index)
        default: bytes.swapAt(index, Int.random(in: 0..<bytes.count, using: &self))
        }
    }
}
