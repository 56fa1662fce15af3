import BenchmarkSupport

/// The bytes of a page and of what it loads, pictures aside.
struct PageWeight: Sendable {
    let page: Int
    let styles: Int
    let scripts: Int

    var total: Int { page + styles + scripts }

    /// Loads what the page of a reply names.
    init(of reply: PlainReply, at host: String, by volley: Volley) async throws {
        let html = String(decoding: reply.body, as: UTF8.self)
        page = reply.body.count
        styles = try await Self.size(of: html.matches(of: #/rel="stylesheet" href="(/[^"]*)"/#), at: host, volley)
        scripts = try await Self.size(of: html.matches(of: #/<script [^>]*src="(/[^"]*)"/#), at: host, volley)
        guard styles > 0, scripts > 0 else { throw Unexpected(description: "a page that loads nothing: \(html)") }
    }

    private static func size(
        of found: [Regex<(Substring, Substring)>.Match], at host: String, _ volley: Volley
    ) async throws -> Int {
        let requests = found.map { PreparedRequest(String($0.output.1), at: host) }
        return try await volley.fire(requests[...], expecting: 200).compactMap { $0?.reply.body.count }.reduce(0, +)
    }

    /// The sizes for people.
    var text: String {
        "The identifier page has \(page) bytes, its CSS \(styles), its scripts \(scripts)."
    }
}
