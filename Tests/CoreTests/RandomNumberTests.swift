import CountersignWire
import Synchronization
import Testing

@testable import CountersignCore

/// Bytes written down beforehand; asking for more than there are fails the test.
final class ScriptedRandom: RandomSource {
    private let left: Mutex<[UInt8]>

    init(_ words: [UInt32]) {
        left = Mutex(words.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) } })
    }

    var isExhausted: Bool { left.withLock { $0.isEmpty } }

    func bytes(_ count: Int) -> [UInt8] {
        left.withLock { left in
            guard left.count >= count else {
                Issue.record("more random bytes were drawn than the script has")
                return [UInt8](repeating: 0, count: count)
            }
            defer { left.removeFirst(count) }
            return Array(left.prefix(count))
        }
    }
}

@Suite("Random numbers below a bound")
struct RandomNumberTests {
    @Test(
        "Words are read most significant byte first and reduced by the bound",
        arguments: [
            (0, 0), (1, 1), (999_999, 999_999), (1_000_000, 0), (0x0102_0304, 909_060), (4_293_999_999, 999_999),
        ] as [(UInt32, UInt32)])
    func reduces(_ word: UInt32, _ expected: UInt32) {
        let random = ScriptedRandom([word])
        #expect(random.number(below: 1_000_000) == expected)
        #expect(random.isExhausted)
    }

    @Test("Words that would make small numbers likelier are drawn again, from the first of them to the last")
    func rejects() {
        let random = ScriptedRandom([4_294_000_000, .max, 4_294_967_000, 4_293_999_999])
        #expect(random.number(below: 1_000_000) == 999_999)
        #expect(random.isExhausted)
    }

    @Test(
        "What is accepted is a multiple of the bound, so every number is equally likely", arguments: [1, 2, 3, 10, 256])
    func uniform(_ bound: UInt32) {
        // The last accepted word gives the highest number, the next one is drawn again.
        let accepted = UInt32.max - UInt32.max % bound
        #expect(accepted % bound == 0)
        #expect(ScriptedRandom([accepted - 1]).number(below: bound) == bound - 1)
        let random = ScriptedRandom([accepted, 0])
        #expect(random.number(below: bound) == 0)
        #expect(random.isExhausted)
    }

    @Test("The numbers a person types keep their leading zeros")
    func zeros() {
        #expect(EntryNumber(value: ScriptedRandom([4_000_042]).number(below: 1_000_000)).digits == "000042")
    }
}
