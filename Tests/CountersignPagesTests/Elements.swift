import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// A page read as XML, which our pages are but for their first line.
final class Elements: NSObject, XMLParserDelegate {
    struct Element {
        let name: String
        let attributes: [String: String]
        let path: [String]
    }

    private(set) var all: [Element] = []
    private(set) var texts: [String: String] = [:]
    private(set) var error: String?
    private var path: [String] = []

    init(_ html: String) {
        super.init()
        let xml = html.replacing("<!DOCTYPE html>\n", with: "", maxReplacements: 1)
        let parser = XMLParser(data: Data(xml.utf8))
        parser.delegate = self
        if !parser.parse() {
            let problem = parser.parserError.map { "\($0)" } ?? "unknown"
            error = "line \(parser.lineNumber), column \(parser.columnNumber): \(problem)"
        }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        all.append(Element(name: name, attributes: attributes, path: path))
        path.append(name)
    }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
    ) {
        path.removeLast()
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        for name in path { texts[name, default: ""] += string }
    }

    subscript(_ name: String) -> [Element] { all.filter { $0.name == name } }
}
