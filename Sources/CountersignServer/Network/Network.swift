/// A network: the addresses that begin with the same bits.
package struct Network: Hashable, Sendable {
    private let address: IPAddress
    private let length: Int

    /// Parses an address, or a network such as `10.0.0.0/8`; nil if a bit after the prefix is set.
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
        // 10.0.0.1/8 is a mistake: the operator may mean the address or the network.
        guard (length..<longest).allSatisfy({ !Self.bit($0, of: address.bytes) }) else { return nil }
    }

    func contains(_ other: IPAddress) -> Bool {
        other.bytes.count == address.bytes.count
            && (0..<length).allSatisfy { Self.bit($0, of: other.bytes) == Self.bit($0, of: address.bytes) }
    }

    private static func bit(_ index: Int, of bytes: [UInt8]) -> Bool {
        bytes[index / 8] & (0x80 >> UInt8(index % 8)) != 0
    }
}
