import CountersignWire
import Crypto
import OpenPGP
import Testing

@testable import CountersignCore

@Suite("The challenges that were sealed last")
struct SealedChallengesTests {
    private static func name(_ text: String, by key: SigningKeyPair) -> SealedChallenges.Name {
        SealedChallenges.Name(of: Array(text.utf8), signer: key.publicKey.fingerprint)
    }

    private static let (key, nextKey) = (
        SigningKeyPair(P256.Signing.PrivateKey(), createdAt: 1), SigningKeyPair(P256.Signing.PrivateKey(), createdAt: 2)
    )

    @Test("A message is found for the same content and signer alone")
    func names() {
        let kept = SealedChallenges()
        kept.keep([1], as: Self.name("a", by: Self.key))
        #expect(kept.find(Self.name("a", by: Self.key)) == [1])
        #expect(kept.find(Self.name("b", by: Self.key)) == nil)
        #expect(kept.find(Self.name("a", by: Self.nextKey)) == nil)
    }

    @Test("What is not used goes first, and never more is kept than fits")
    func bound() {
        let kept = SealedChallenges(capacity: 100)
        let names = (0..<40).map { Self.name("\($0)", by: Self.key) }
        let used = Self.name("used", by: Self.key)
        kept.keep([UInt8](repeating: 1, count: 10), as: used)
        for name in names {
            kept.keep([UInt8](repeating: 2, count: 10), as: name)
            #expect(kept.find(used) != nil)
        }
        let left = names.filter { kept.find($0) != nil }
        #expect(left.count <= 9 && left.last == names.last)
        #expect(kept.find(names[0]) == nil)
        // One that is larger than the whole room is given up at once, and the next one finds room.
        kept.keep([UInt8](repeating: 3, count: 200), as: Self.name("large", by: Self.key))
        kept.keep([4], as: Self.name("small", by: Self.key))
        kept.keep([5], as: Self.name("smaller", by: Self.key))
        #expect(kept.find(Self.name("smaller", by: Self.key)) == [5])
    }
}
