package import CountersignCore

extension MessageDigest: ExpressibleByArrayLiteral {
    package init(arrayLiteral bytes: UInt8...) {
        self.init(stored: bytes)
    }
}
