import Crypto

/// Reads bytes from front to back; a read beyond the end throws ``OpenPGPError/truncated``.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) {
        rest = Array(bytes)[...]
    }

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }
    var count: Int { rest.count }

    mutating func byte() throws(OpenPGPError) -> UInt8 {
        guard let byte = rest.popFirst() else { throw .truncated }
        return byte
    }

    mutating func uint16() throws(OpenPGPError) -> UInt16 {
        UInt16(try byte()) << 8 | UInt16(try byte())
    }

    mutating func uint32() throws(OpenPGPError) -> UInt32 {
        UInt32(try uint16()) << 16 | UInt32(try uint16())
    }

    mutating func bytes(_ count: Int) throws(OpenPGPError) -> ArraySlice<UInt8> {
        guard count <= rest.count else { throw .truncated }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    mutating func remaining() -> ArraySlice<UInt8> {
        defer { rest = rest.suffix(0) }
        return rest
    }

    /// A multiprecision integer without leading zero bytes, exactly as long as its bit count says.
    ///
    /// Spec: RFC 9580 §3.2.
    mutating func mpi(atMost limit: Int, in tag: PacketTag) throws(OpenPGPError) -> ArraySlice<UInt8> {
        let bits = Int(try uint16())
        guard bits <= limit else { throw .malformedPacket(tag) }
        let value = try bytes((bits + 7) / 8)
        let used = value.first.map { $0.bitWidth - $0.leadingZeroBitCount + (value.count - 1) * 8 } ?? 0
        guard used == bits else { throw .malformedPacket(tag) }
        return value
    }

    /// A multiprecision integer of at most 256 bits, in the 32 bytes that fields of P-256 have.
    mutating func scalar(in tag: PacketTag) throws(OpenPGPError) -> [UInt8] {
        let digits = try mpi(atMost: 256, in: tag)
        return [UInt8](repeating: 0, count: 32 - digits.count) + digits
    }
}

extension [UInt8] {
    /// A number of cryptographically secure random bytes.
    static func random(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }

    mutating func append(uint16 value: some BinaryInteger) {
        append(UInt8(truncatingIfNeeded: value >> 8))
        append(UInt8(truncatingIfNeeded: value))
    }

    mutating func append(uint32 value: UInt32) {
        append(uint16: value >> 16)
        append(uint16: value & 0xFFFF)
    }

    /// Appends a multiprecision integer without its leading zero bytes.
    ///
    /// Spec: RFC 9580 §3.2.
    mutating func append(mpi value: some Collection<UInt8>) {
        let digits = value.drop(while: { $0 == 0 })
        let bits = digits.first.map { $0.bitWidth - $0.leadingZeroBitCount + (digits.count - 1) * 8 } ?? 0
        append(uint16: bits)
        append(contentsOf: digits)
    }
}

extension Sequence<UInt8> {
    /// The sum of the bytes modulo 65536, the checksum of session keys and secret keys.
    ///
    /// Spec: RFC 9580 §5.1, §5.5.3.
    var checksum: Int { reduce(0) { ($0 + Int($1)) & 0xFFFF } }
}
