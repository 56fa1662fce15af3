import Encodings
package import Foundation
import NIOHTTP1
import Synchronization
import Testing

/// A browser without scripts, whose person signs in by the number on the page.
package final class PageVisitor: Sendable {
    private let server: TestServer
    private let cookies = Mutex<[String: String]>([:])

    package init(_ server: TestServer) {
        self.server = server
    }

    /// Signs in, and returns where the browser is sent in the end.
    ///
    /// - Parameters:
    ///   - url: the authorization request: a whole URL, or path and query.
    ///   - address: how the person names themself.
    ///   - approve: approves on a device what waits there, with the number.
    package func signIn(
        _ url: URL, as address: String = "customer-1@example.com", _ approve: (String) async throws -> Void
    ) async throws -> URL {
        let asked = try await ask(url, as: address)
        try await approve(asked.number)
        return try onward(from: try await send(.GET, "\(asked.place)/done"))
    }

    /// Asks the person's devices, and returns the path of the page that waits, and its number.
    package func ask(
        _ url: URL, as address: String = "customer-1@example.com"
    ) async throws -> (place: String, number: String) {
        let first = try await send(.GET, "\(url.path())?\(url.query() ?? "")")
        let second = try await submit(first, to: "/signin/choose", "identifier=\(address)")
        let asked = try await submit(second, to: "/signin/ask", "way=device")
        let place = try #require(asked.headers["location"], "\(second)")
        let page = Self.text(try await send(.GET, place))
        let number = try #require(page.firstMatch(of: #/aria-label="([0-9 ,]+)"/#)).output.1.filter(\.isNumber)
        return (place, String(number))
    }

    /// Gives up on the page that waits, and returns where the browser is sent.
    package func cancel(at place: String) async throws -> URL {
        try onward(from: try await submit(try await send(.GET, place), to: "/signin/cancel", "way=none"))
    }

    private func onward(from page: Reply) throws -> URL {
        let onward = Self.text(page).firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#)
        let back = try #require(page.headers["location"] ?? onward.map { String($0.output.1) }, "\(page)")
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
        let reply = try await server.send(
            method, path, headers: headers, body: form.map { Array($0.utf8) }, isContract: false)
        if let set = reply.headers["set-cookie"] {
            let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            cookies.withLock { $0[String(pair[0])] = String(pair[1]) }
        }
        return reply
    }

    private static func text(_ reply: Reply) -> String { String(decoding: reply.body, as: UTF8.self) }
}
