/// A small generator whose numbers a seed repeats: SplitMix64, by Steele, Lea and Flood.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// A generator for one of many who work beside each other: each has its own numbers, whatever the others do.
    init(seed: UInt64, of worker: Int) {
        var first = SeededGenerator(seed: seed &+ UInt64(worker) &* 0xA076_1D64_78BD_642F)
        state = first.next()
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Whether something that happens this many times in a hundred happens now.
    mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
