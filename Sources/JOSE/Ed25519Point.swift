/// Checks of an encoded point on Ed25519 before it is used as a key.
enum Ed25519Point {
    /// The y coordinates of the points whose order divides 8, least significant byte first.
    ///
    /// Anybody can make signatures for a key of such a point. Computed from the curve's equation; spec: RFC 8032 §5.1.
    private static let smallOrder: [[UInt8]] = [
        [UInt8](repeating: 0, count: 32),
        [1] + [UInt8](repeating: 0, count: 31),
        [0xEC] + [UInt8](repeating: 0xFF, count: 30) + [0x7F],
        [
            0x26, 0xE8, 0x95, 0x8F, 0xC2, 0xB2, 0x27, 0xB0, 0x45, 0xC3, 0xF4, 0x89, 0xF2, 0xEF, 0x98, 0xF0,
            0xD5, 0xDF, 0xAC, 0x05, 0xD3, 0xC6, 0x33, 0x39, 0xB1, 0x38, 0x02, 0x88, 0x6D, 0x53, 0xFC, 0x05,
        ],
        [
            0xC7, 0x17, 0x6A, 0x70, 0x3D, 0x4D, 0xD8, 0x4F, 0xBA, 0x3C, 0x0B, 0x76, 0x0D, 0x10, 0x67, 0x0F,
            0x2A, 0x20, 0x53, 0xFA, 0x2C, 0x39, 0xCC, 0xC6, 0x4E, 0xC7, 0xFD, 0x77, 0x92, 0xAC, 0x03, 0x7A,
        ],
    ]

    private static func y(_ encoding: [UInt8]) -> [UInt8] {
        encoding.dropLast() + [(encoding.last ?? 0) & 0x7F]
    }

    /// Whether anybody could forge signatures for a key of this point.
    static func isWeak(_ encoding: [UInt8]) -> Bool {
        smallOrder.contains(y(encoding))
    }

    /// Whether the coordinate is below 2^255 − 19, so that the point has only this encoding.
    ///
    /// Spec: RFC 8032 §5.1.3, step 1.
    static func isReduced(_ encoding: [UInt8]) -> Bool {
        let y = y(encoding)
        return y[0] < 0xED || y[31] != 0x7F || y[1..<31].contains { $0 != 0xFF }
    }
}
