import Foundation

/// Writes databases in the MaxMind DB format, version 2: a search tree, its data, and the metadata at the end.
package struct PlacesWriter {
    /// A value of the data section.
    package indirect enum Value {
        case text(String)
        /// What need not be any value.
        case raw([UInt8])
        /// A number of at most so many bits: 16, 32 or 64.
        case number(UInt64, bits: Int)
        case list([Value])
        case map([(String, Value)])
    }

    private enum Record {
        case empty
        case node(Int)
        case data(Int)
    }

    /// What the file says of its kind.
    package var type = "Test-City"
    /// When it says that it was built, in seconds since 1970.
    package var builtAt: UInt64 = 1_790_000_000
    /// The length of addresses, in bits: 128, where IPv4 addresses are those after 96 zeros, or 32.
    private let depth: Int
    private var nodes: [(Record, Record)] = [(.empty, .empty)]
    private var data: [UInt8] = []

    /// An empty database.
    package init(isForIPv4Alone: Bool = false) { depth = isForIPv4Alone ? 32 : 128 }

    /// Adds a network, such as `203.0.113.0/24`; none may be part of another.
    package mutating func add(_ network: String, _ value: Value) throws {
        let parts = network.split(separator: "/")
        var octets = [UInt8](repeating: 0, count: 16)
        let isIPv4 = !network.contains(":")
        guard parts.count == 2, let count = Int(parts[1]) else { throw Malformed() }
        guard inet_pton(isIPv4 ? AF_INET : AF_INET6, String(parts[0]), &octets) == 1 else { throw Malformed() }
        let zeros = isIPv4 ? depth - 32 : 0
        let bits = [Bool](repeating: false, count: zeros) + (0..<count).map { octets[$0 / 8] & 0x80 >> ($0 % 8) != 0 }
        var node = 0
        for bit in bits.dropLast() {
            if case .node(let next) = bit ? nodes[node].1 : nodes[node].0 {
                node = next
            } else {
                nodes.append((.empty, .empty))
                set(.node(nodes.count - 1), at: node, bits: bit)
                node = nodes.count - 1
            }
        }
        guard let last = bits.last else { throw Malformed() }
        set(.data(data.count), at: node, bits: last)
        data += Self.encoded(value)
    }

    private mutating func set(_ record: Record, at node: Int, bits bit: Bool) {
        if bit { nodes[node].1 = record } else { nodes[node].0 = record }
    }

    /// The file.
    package var file: [UInt8] {
        var file: [UInt8] = []
        for (left, right) in nodes {
            for record in [left, right] {
                let number =
                    switch record {
                    case .empty: nodes.count
                    case .node(let index): index
                    case .data(let offset): nodes.count + 16 + offset
                    }
                file += [UInt8(number >> 16 & 0xFF), UInt8(number >> 8 & 0xFF), UInt8(number & 0xFF)]
            }
        }
        file += [UInt8](repeating: 0, count: 16) + data
        let metadata: Value = .map([
            ("binary_format_major_version", .number(2, bits: 16)),
            ("binary_format_minor_version", .number(0, bits: 16)), ("build_epoch", .number(builtAt, bits: 64)),
            ("database_type", .text(type)), ("description", .map([("en", .text("made by a test"))])),
            ("ip_version", .number(depth == 32 ? 4 : 6, bits: 16)), ("languages", .list([.text("de"), .text("en")])),
            ("node_count", .number(UInt64(nodes.count), bits: 32)), ("record_size", .number(24, bits: 16)),
        ])
        return file + [0xAB, 0xCD, 0xEF] + Array("MaxMind.com".utf8) + Self.encoded(metadata)
    }

    private static func encoded(_ value: Value) -> [UInt8] {
        switch value {
        case .text(let text): head(2, text.utf8.count) + Array(text.utf8)
        case .raw(let octets): octets
        case .number(let number, let bits):
            (bits == 64
                ? [UInt8(octets(of: number).count), 9 - 7] : head(bits == 16 ? 5 : 6, octets(of: number).count))
                + octets(of: number)
        case .list(let values): [UInt8(values.count), 11 - 7] + values.flatMap(encoded)
        case .map(let members):
            head(7, members.count) + members.flatMap { encoded(.text($0.0)) + encoded($0.1) }
        }
    }

    private static func octets(of number: UInt64) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0.drop { $0 == 0 }) }
    }

    private static func head(_ type: UInt8, _ size: Int) -> [UInt8] {
        switch size {
        case ..<29: [type << 5 | UInt8(size)]
        case ..<285: [type << 5 | 29, UInt8(size - 29)]
        default: [type << 5 | 30, UInt8((size - 285) >> 8), UInt8((size - 285) & 0xFF)]
        }
    }

    private struct Malformed: Error {}
}

extension PlacesWriter.Value {
    /// A city in a country, by their names in English and German; nil for a name that is missing.
    package static func place(
        _ city: (en: String?, de: String?)?, _ country: (en: String?, de: String?)?, code: String? = nil
    ) -> PlacesWriter.Value {
        func names(_ names: (en: String?, de: String?)) -> (String, PlacesWriter.Value) {
            let texts = [("de", names.de), ("en", names.en)].compactMap { name, text in text.map { (name, $0) } }
            return ("names", .map(texts.map { ($0, .text($1)) }))
        }
        var parts: [(String, PlacesWriter.Value)] = []
        if let city { parts.append(("city", .map([names(city)]))) }
        var members: [(String, PlacesWriter.Value)] = code.map { [("iso_code", .text($0))] } ?? []
        if let country { members.append(names(country)) }
        if !members.isEmpty { parts.append(("country", .map(members))) }
        return .map(parts)
    }

    /// Cologne, whose names differ in English and German.
    package static let cologne = place(("Cologne", "Köln"), ("Germany", "Deutschland"), code: "DE")
}
