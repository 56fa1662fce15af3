/// The characters that Unicode assigns, in one version that server and devices share.
///
/// The Swift library of each system knows another version. With that, a text could be refused on one side and shown on the
/// other; and what one system has no name for, another may show as anything. `scripts/make-unicode-table` makes the table.
package enum AssignedCharacters {
    /// Whether a character is assigned, and not left to private use.
    package static func contains(_ scalar: Unicode.Scalar) -> Bool {
        // The number of bounds that are not above it: odd means between a beginning and its end.
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] <= scalar.value { low = middle + 1 } else { high = middle }
        }
        return low % 2 == 1
    }
}
