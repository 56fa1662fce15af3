/// Finds the name that somebody probably meant.
enum NearName {
    /// The nearest of some names; nil if none is near.
    static func of(_ name: String, among names: [String]) -> String? {
        let near = names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        guard let near, near.distance <= max(2, name.count / 3) else { return nil }
        return near.name
    }

    /// The number of letters to insert, delete, replace or swap with their neighbour.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var before: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var cost = min(
                    last[column + 1] + 1, current[column] + 1, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                current.append(cost)
            }
            (before, last) = (last, current)
        }
        return last[right.count]
    }
}
