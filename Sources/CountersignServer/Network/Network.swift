/// A network: the addresses that begin with the same bits.
package struct Network: Hashable, Sendable {
    private let address: IPAddress
    private let length: Int

    /// Reads an address, or a network such as `10.0.0.0/8`, or nil; bits behind the length must be zero.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = IPAddress(parts[0]) else { return nil }
        let longest = address.bytes.count * 8
        var length = longest
        if parts.count == 2 {
            guard let number = Int(parts[1]), (0...longest).contains(number), parts[1] == "\(number)" else {
                return nil
            }
            length = number
        }
        self.address = address
        self.length = length
        // 10.0.0.1/8 is a slip: nobody can tell which of the two was meant.
        guard (length..<longest).allSatisfy({ !Self.bit($0, of: address.bytes) }) else { return nil }
    }

    /// Whether an address is in it.
    func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count
            && (0..<length).allSatisfy { Self.bit($0, of: other.bytes) == Self.bit($0, of: address.bytes) }
    }

    private static func bit(_ index: Int, of bytes: [UInt8]) -> Bool {
        bytes[index / 8] & (0x80 >> UInt8(index % 8)) != 0
    }
}
