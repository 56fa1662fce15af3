import CQREncode

/// A QR code (ISO/IEC 18004) as a picture, encoded by libqrencode.
package struct QRPicture: Sendable {
    /// The width of the light border that readers need, in modules.
    private static let quietZone = 4

    /// The rows of modules, including the border; `true` is dark.
    private let rows: [[Bool]]

    /// The text is too long for a code, or there is not enough memory.
    package struct Unencodable: Error {}

    /// Encodes a text with error correction for 15 % of the code.
    package init(of text: String) throws(Unencodable) {
        guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else { throw Unencodable() }
        defer { QRcode_free(code) }
        let width = Int(code.pointee.width)
        guard let modules = code.pointee.data else { throw Unencodable() }
        let sides = 0..<(width + 2 * Self.quietZone)
        let inside = Self.quietZone..<(Self.quietZone + width)
        rows = sides.map { row in
            sides.map { column in
                guard inside.contains(row), inside.contains(column) else { return false }
                // The lowest bit is the colour; the other bits tell the purpose of the module.
                return modules[(row - Self.quietZone) * width + column - Self.quietZone] & 1 == 1
            }
        }
    }

    /// The picture for a web page: dark on light, whatever colours the page has.
    package var svg: String {
        let size = rows.count
        let path = rows.enumerated().map { number, row in
            row.indices.filter { row[$0] }.map { "M\($0) \(number)h1v1h-1z" }.joined()
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
            <rect width="\(size)" height="\(size)" fill="#fff"/><path d="\(path.joined())" fill="#000"/></svg>

            """
    }

    /// The picture for a terminal: two modules in each character.
    ///
    /// - Parameter isColoured: whether it is dark on light whatever colours the terminal has; else it has those of text,
    ///   which most readers read, too, where they are light on dark.
    package func blocks(inColours isColoured: Bool) -> String {
        stride(from: 0, to: rows.count, by: 2).map { top in
            let line = rows[top].indices.map { column -> String in
                let isLowerDark = top + 1 < rows.count && rows[top + 1][column]
                return switch (rows[top][column], isLowerDark) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return isColoured ? "\u{1B}[30;107m\(line.joined())\u{1B}[0m" : line.joined()
        }.joined(separator: "\n")
    }
}
