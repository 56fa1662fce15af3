import CountersignCore
import Testing

@Suite("A bounded map")
struct BoundedMapTests {
    private static let limit = 1000

    @Test("Holds the latest values, and never more than its limit")
    func latest() {
        let map = BoundedMap<Int, Int>(limit: Self.limit)
        for key in 0..<Self.limit * 10 {
            map.keep(-key, as: key)
            #expect(map.count <= Self.limit)
        }
        for key in Self.limit * 10 - Self.limit / 2..<Self.limit * 10 { #expect(map[key] == -key) }
        #expect(map[0] == nil)
    }

    @Test("Keeps a value that is used again and again, however many others come")
    func used() {
        let map = BoundedMap<Int, Int>(limit: Self.limit)
        map.keep(1, as: -1)
        for key in 0..<Self.limit * 10 {
            map.keep(0, as: key)
            #expect(map[-1] == 1)
        }
    }

    @Test("Makes a value once, wherever it lies")
    func made() {
        let map = BoundedMap<Int, Int>(limit: Self.limit)
        #expect(map.value(of: -1, orKeep: { 1 }) == 1)
        #expect(map.value(of: -1, orKeep: { 2 }) == 1)
        for key in 0..<Self.limit / 2 { map.keep(0, as: key) }
        #expect(map.value(of: -1, orKeep: { 3 }) == 1)
    }

    @Test("Forgets a value wherever it lies, and keeps the newest of a key")
    func forgets() {
        let map = BoundedMap<Int, Int>(limit: Self.limit)
        map.keep(1, as: -1)
        for key in 0..<Self.limit / 2 { map.keep(0, as: key) }
        map.keep(2, as: -1)
        #expect(map[-1] == 2)
        map.forget(-1)
        #expect(map[-1] == nil)
    }
}
