/// Searches for many secrets at once, in a time that depends only on the length of the searched data.
package struct SecretSearch: Sendable {
    private struct Needle: Sendable {
        let bytes: [UInt8]
        let name: String
    }

    /// How many bytes of a form are looked up.
    private static let window = 8

    /// The forms by their first eight bytes.
    private var needles: [UInt64: [Needle]] = [:]
    /// Which hashes of eight bytes begin a form; this excludes most positions.
    private var isStart = [Bool](repeating: false, count: 1 << 16)

    /// Creates a search for these secrets.
    package init(_ secrets: some Sequence<SecretForms>) {
        for secret in secrets {
            for form in secret.forms {
                let key = form.prefix(Self.window).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                needles[key, default: []].append(Needle(bytes: form, name: secret.name))
                isStart[Self.hash(key)] = true
            }
        }
    }

    private static func hash(_ key: UInt64) -> Int {
        Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 48)
    }

    /// The names of the secrets that the bytes contain in any form, each once.
    package func names(in bytes: [UInt8]) -> Set<String> {
        var names: Set<String> = []
        guard bytes.count >= Self.window, !needles.isEmpty else { return names }
        bytes.withUnsafeBufferPointer { bytes in
            isStart.withUnsafeBufferPointer { isStart in
                var key: UInt64 = 0
                var index = 0
                // A loop without calls, because tests are built without optimisation.
                while index < bytes.count {
                    key = key << 8 | UInt64(bytes[index])
                    index += 1
                    if index < Self.window { continue }
                    if isStart[Int(truncatingIfNeeded: (key &* 0x9E37_79B9_7F4A_7C15) >> 48)] {
                        let start = index - Self.window
                        for needle in needles[key] ?? []
                        where !names.contains(needle.name) && bytes[start...].starts(with: needle.bytes) {
                            names.insert(needle.name)
                        }
                    }
                }
            }
        }
        return names
    }

    /// The names of the secrets that a text contains.
    package func names(in text: String) -> Set<String> { names(in: Array(text.utf8)) }
}
