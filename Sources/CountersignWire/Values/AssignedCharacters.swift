/// The characters that one version of Unicode assigns, which server and devices share.
///
/// The Swift library of each system knows another version. If the library decided, a text could be refused on one side
/// and shown on the other; and a character that one system does not know may look like anything on another.
/// `scripts/make-unicode-table` makes the table.
package enum AssignedCharacters {
    /// Whether a character is assigned, and not for private use.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        // Counts the bounds up to the character: an odd number means that it is inside a range.
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] <= scalar.value { low = middle + 1 } else { high = middle }
        }
        return low % 2 == 1
    }
}
