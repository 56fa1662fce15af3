import CQREncode

/// A QR code (ISO/IEC 18004) as a picture, by libqrencode.
package struct QRPicture: Sendable {
    /// How many modules stay light around it, which readers need.
    private static let quietZone = 4

    /// Rows of modules, the quiet zone among them; `true` is dark.
    private let rows: [[Bool]]

    /// A text is too long for a code, or there is no memory for one.
    package struct Unencodable: Error {}

    /// Makes the code of a text, such that a reader makes up for a seventh of it.
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
                // The lowest bit is the colour, the others say what a module is for.
                return modules[(row - Self.quietZone) * width + column - Self.quietZone] & 1 == 1
            }
        }
    }

    /// The picture for a page: dark on light, whatever the page's own colours.
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

    /// The picture for a terminal: two modules in a character, on a ground of its own.
    package var blocks: String {
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
            return "\u{1B}[30;107m\(line.joined())\u{1B}[0m"
        }.joined(separator: "\n")
    }
}
