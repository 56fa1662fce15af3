/// Base 64 with padding, canonical in both directions: each sequence of bytes has exactly one text.
///
/// Spec: RFC 4648 §4 and §3.5 (pad bits are zero), §3.3 (no other characters).
public enum Base64 {
    static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let values = sextets(of: alphabet)

    /// The bytes in base 64, padded with `=`.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: sextetText(Array(bytes), alphabet: alphabet, padded: true), as: UTF8.self)
    }

    /// The bytes of a padded, canonical base 64 text, or nil.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        decode(utf8: Array(text.utf8)[...])
    }

    /// The bytes of a padded, canonical base 64 text given as ASCII, or nil.
    public static func decode(utf8 text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        var body = text
        if body.last == UInt8(ascii: "=") { body = body.dropLast() }
        if body.last == UInt8(ascii: "=") { body = body.dropLast() }
        // The padding must be exactly as long as the last group needs: "AAA" takes one, "AA" two; "A" is impossible.
        guard (body.count + 3) / 4 * 4 == text.count else { return nil }
        return sextetBytes(body, values: values)
    }
}

/// Base 64 in the alphabet safe for URLs and file names, without padding, canonical in both directions.
///
/// Spec: RFC 4648 §5 and §3.5; RFC 7515 §2 (no padding).
public enum Base64URL {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let values = sextets(of: alphabet)

    /// The bytes in base64url without padding.
    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: sextetText(Array(bytes), alphabet: alphabet, padded: false), as: UTF8.self)
    }

    /// The bytes of an unpadded, canonical base64url text, or nil.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        sextetBytes(Array(text.utf8)[...], values: values)
    }
}

private let noSextet: UInt8 = 0xFF

private func sextets(of alphabet: [UInt8]) -> [UInt8] {
    var values = [UInt8](repeating: noSextet, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    return values
}

private func sextetText(_ bytes: [UInt8], alphabet: [UInt8], padded: Bool) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var pending: UInt32 = 0
    var pendingBits = 0
    for byte in bytes {
        pending = pending << 8 | UInt32(byte)
        pendingBits += 8
        while pendingBits >= 6 {
            pendingBits -= 6
            text.append(alphabet[Int(pending >> UInt32(pendingBits) & 63)])
        }
    }
    if pendingBits > 0 {
        text.append(alphabet[Int(pending << UInt32(6 - pendingBits) & 63)])
        while padded, !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
    }
    return text
}

private func sextetBytes(_ text: ArraySlice<UInt8>, values: [UInt8]) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var pending: UInt32 = 0
    var pendingBits = 0
    for character in text {
        let sextet = values[Int(character)]
        guard sextet != noSextet else { return nil }
        pending = pending << 6 | UInt32(sextet)
        pendingBits += 6
        if pendingBits >= 8 {
            pendingBits -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> UInt32(pendingBits)))
        }
    }
    // The remaining bits are pad bits; if they were not zero, the same bytes would have a second spelling.
    guard pending & (1 << UInt32(pendingBits) - 1) == 0 else { return nil }
    return bytes
}
