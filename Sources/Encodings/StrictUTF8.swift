extension String {
    /// A string made of exactly these bytes, or nil when they are not well-formed UTF-8.
    ///
    /// Nothing is repaired: overlong forms, surrogates and truncated sequences are refused.
    /// Spec: RFC 3629 §3.
    public init?(strictUTF8 bytes: some Collection<UInt8>) {
        // A concrete type avoids several calls for every byte, which a comparison of any collection would cost.
        let bytes = Array(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        // A repair replaces at least one byte, so a string that kept every byte needed no repair.
        guard Array(text.utf8) == bytes else { return nil }
        self = text
    }
}

extension String {
    /// Whether two strings are the same bytes.
    ///
    /// The result is that of the general method, without a call for each byte.
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
    /// `==` on `String` compares canonical equivalence: it can call texts equal that differ in their bytes, and so in
    /// their hashes and signatures. Use this to compare ids, URIs and signed texts.
    public func hasSameBytes(as other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}
