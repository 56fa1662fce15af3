package import CountersignWire
import Encodings

/// Whose things a list shows: an argument of every list, never a filter that somebody may forget.
package enum ListScope: Hashable, Sendable, CustomStringConvertible {
    /// What a client may see.
    case client(ClientID)
    /// Everything, for operators.
    case all

    /// As cursors are bound to it.
    package var description: String {
        switch self {
        case .client(let client): "\(client)"
        case .all: "all"
        }
    }
}

/// A part of a list, and where the next one begins.
package struct Page<Element: Equatable & Sendable>: Equatable, Sendable {
    /// What is on it; there may be nothing where what a filter looks for is rare.
    package let elements: [Element]
    /// Where the next page begins; nil after the last one.
    package let cursor: String?
}

/// A list as one caller goes through it.
///
/// A page costs the same however far in it is: it begins behind the last entry of the one before, found by an index.
/// What a filter leaves over is not searched for to the end, so that nobody has a whole table read by one request.
struct Listing: Sendable {
    /// How many entries a page has at most.
    static let pageSize = 100
    /// How many are looked at for a page at most.
    static let examined = 1000

    /// What cursors are bound to: the list, its caller and its filters.
    let name: String
    let cursor: String?
    let isFiltered: Bool
    let ports: Ports

    init(
        _ list: String, _ scope: ListScope, filters: [String: (any CustomStringConvertible)?], cursor: String?,
        _ ports: Ports
    ) {
        let set = filters.compactMap { name, value in value.map { "\(name)=\(Hex.encode(Array("\($0)".utf8)))" } }
        name = ([list, "\(scope)"] + set.sorted()).joined(separator: " ")
        isFiltered = !set.isEmpty
        self.cursor = cursor
        self.ports = ports
    }

    /// Reads a page in one transaction, from the place where the previous one ended; nil for the first page.
    func read<Place: Sendable, Element>(
        after parse: (String) -> Place?, _ body: @escaping @Sendable (Place?, any Stores) throws -> Page<Element>
    ) async throws -> ListOutcome<Element> {
        let place = cursor.map { ports.hasher.place(in: $0, of: name).flatMap(parse) }
        if case .some(nil) = place { return .cursorRefused }
        return .page(try await ports.store.read { try body(place.flatMap(\.self), $0) })
    }

    /// How many candidates to read for a page.
    var limit: Int { isFiltered ? Self.examined : Self.pageSize + 1 }

    /// A page of what candidates amount to; nil leaves one out.
    func page<Candidate, Element>(
        of candidates: [Candidate], place: (Candidate) -> String, _ element: (Candidate) throws -> Element?
    ) rethrows -> Page<Element> {
        var elements: [Element] = []
        for (index, candidate) in candidates.enumerated() {
            if let element = try element(candidate) { elements.append(element) }
            let isLast = index == candidates.count - 1
            guard elements.count == Self.pageSize || isLast else { continue }
            let isMore = !isLast || candidates.count == limit
            return Page(elements: elements, cursor: isMore ? ports.hasher.cursor(place(candidate), of: name) : nil)
        }
        return Page(elements: elements, cursor: nil)
    }
}

/// The result of reading a page of a list.
package enum ListOutcome<Element: Equatable & Sendable>: Equatable, Sendable {
    /// The page.
    case page(Page<Element>)
    /// The cursor is not from an earlier page of the same list, with the same filters, for the same caller.
    case cursorRefused
}
