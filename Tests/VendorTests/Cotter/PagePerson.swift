import Countersign
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport
import Synchronization
import Testing

/// A person who signs in on the server's page, by a phone that they trust; the browser has no scripts.
final class PagePerson: BrowserSession {
    private let world: CotterWorld
    private let phone: Authenticator
    private let isWilling: Bool
    private let cookies = Mutex<[String: String]>([:])
    private let opened = Mutex<[URL]>([])

    init(_ world: CotterWorld, phone: Authenticator, isWilling: Bool = true) {
        self.world = world
        self.phone = phone
        self.isWilling = isWilling
    }

    /// The pages that were opened, in order.
    var pages: [URL] { opened.withLock { $0 } }

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        opened.withLock { $0.append(url) }
        guard isWilling else { throw CancellationError() }
        let first = try await send(.GET, "\(url.path())?\(url.query() ?? "")")
        let second = try await submit(first, to: "/signin/choose", "identifier=\(CotterWorld.address)")
        let place = try #require(
            try await submit(second, to: "/signin/ask", "way=device").headers["location"], "\(second)")
        let page = Self.text(try await send(.GET, place))
        let number = try #require(page.firstMatch(of: #/aria-label="([0-9 ,]+)"/#)).output.1.filter(\.isNumber)
        _ = try await phone.asked().approve(with: .confirmation, number: String(number))
        let done = try await send(.GET, "\(place)/done")
        let onward = Self.text(done).firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#)
        let back = try #require(done.headers["location"] ?? onward.map { String($0.output.1) }, "\(done)")
        return try #require(URL(string: back.replacing("&amp;", with: "&")))
    }

    private func submit(_ page: Reply, to path: String, _ field: String) async throws -> Reply {
        let sealed = try #require(Self.text(page).firstMatch(of: #/name="request" value="([^"]*)"/#), "\(page)")
        return try await send(.POST, path, form: "request=\(sealed.output.1)&\(field)")
    }

    private func send(_ method: HTTPMethod, _ path: String, form: String? = nil) async throws -> Reply {
        var headers = form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")]
        let cookie = cookies.withLock { $0.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        if !cookie.isEmpty { headers.append(("Cookie", cookie)) }
        let reply = try await world.server.send(
            method, path, headers: headers, body: form.map { Array($0.utf8) }, isContract: false)
        if let set = reply.headers["set-cookie"] {
            let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
        }
        return reply
    }

    private static func text(_ reply: Reply) -> String { String(decoding: reply.body, as: UTF8.self) }
}
