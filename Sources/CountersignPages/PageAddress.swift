/// Addresses that a page may lead to.
enum PageAddress {
    /// Whether an address is one of http or https, so that no browser runs it as a script.
    static func isOfTheWeb(_ url: String) -> Bool {
        // By bytes: a slash under a combining mark is another `Character`.
        let start = url.utf8.prefix(8).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        return start.elementsEqual("https://".utf8) || start.starts(with: "http://".utf8)
    }

    /// A name as one part of a path.
    ///
    /// Spec: RFC 3986 §2.3.
    static func segment(_ name: String) -> String {
        name.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}
