extension String {
    /// A string made of exactly these bytes, or nil when they are not well-formed UTF-8.
    ///
    /// Nothing is repaired: overlong forms, surrogates and truncated sequences are refused.
    /// Spec: RFC 3629 §3.
    public init?(strictUTF8 bytes: some Collection<UInt8>) {
        // One concrete type: a comparison of any collection would cost several calls for every byte.
        let bytes = Array(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        // Repairing replaces at least one byte, so a string that kept every byte needed no repair.
        guard Array(text.utf8) == bytes else { return nil }
        self = text
    }
}

extension String {
    /// Whether two strings are the same bytes.
    ///
    /// As for any other text, without a call for each byte.
    public func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let equal = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in left.elementsEqual(right) }
        }
        return (equal ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}

extension StringProtocol {
    /// Whether two strings are the same bytes.
    ///
    /// `==` on `String` compares canonical equivalence: texts that differ in bytes, and so in their hashes and
    /// signatures, can be equal to it. Ids, URIs and signed texts are compared with this instead.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
