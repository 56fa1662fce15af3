/// A version of a system, such as 17.4.
struct Version: Comparable, CustomStringConvertible {
    let numbers: [Int]

    init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: ".").map { Int($0) }
        guard !numbers.isEmpty, !numbers.contains(nil) else { return nil }
        self.numbers = numbers.compactMap(\.self)
    }

    var description: String { numbers.map(String.init).joined(separator: ".") }

    static func < (one: Version, other: Version) -> Bool {
        for index in 0..<max(one.numbers.count, other.numbers.count) {
            let (mine, theirs) = (one.number(index), other.number(index))
            if mine != theirs { return mine < theirs }
        }
        return false
    }

    static func == (one: Version, other: Version) -> Bool { !(one < other) && !(other < one) }

    private func number(_ index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }
}
