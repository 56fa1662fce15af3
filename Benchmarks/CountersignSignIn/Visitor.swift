import AsyncHTTPClient
import BenchmarkSupport
import Countersign
import CountersignWire
import Foundation
import NIOCore
import NIOHTTP1

/// A browser of a person with a phone, behind a proxy that says from where it comes.
///
/// Each person has a network of their own: the server takes 60 sign-ins a minute from one.
struct Visitor: Sendable {
    private let http: HTTPClient
    private let url: String
    private let address: String
    private var cookies: [String: String] = [:]

    init(number: Int, by portal: PortalConnection) {
        (http, url) = (portal.http, portal.deployment.url)
        address = "10.\(number >> 16 & 255).\(number >> 8 & 255).\(number & 255)"
    }

    /// The header fields of its requests.
    var fields: [(String, String)] {
        let all = cookies.map { "\($0.key)=\($0.value)" }.sorted().joined(separator: "; ")
        return [("X-Forwarded-For", address)] + (all.isEmpty ? [] : [("Cookie", all)])
    }

    /// Signs the person in by the number that the page shows, typed on the phone.
    ///
    /// - Parameters:
    ///   - path: the client's request, which names the person.
    ///   - phone: the person's phone.
    mutating func signIn(by path: String, with phone: Authenticator) async throws {
        let choice = try await send(.GET, path, expecting: .ok)
        let sealed = try choice.found(#/name="request" value="([^"]*)"/#)
        let asked = try await send(
            .POST, "/signin/ask", form: [("request", sealed), ("way", "device")], expecting: .seeOther)
        let page = try await send(.GET, asked.location, expecting: .ok)
        let number = try page.found(#/aria-label="([0-9 ,]+)"/#).filter(\.isNumber)
        var challenges = phone.challenges().makeAsyncIterator()
        guard let pending = await challenges.next() else { throw Unexpected(description: "the phone is not enrolled") }
        _ = try await pending.open().approve(with: .confirmation, number: number)
        _ = try await send(.GET, "\(asked.location)/done", expecting: .ok)
        guard cookies.keys.contains(where: { $0.contains("session") }) else {
            throw Unexpected(description: "no session: \(cookies.keys.sorted())")
        }
    }

    private struct Answer {
        let location: String
        let text: String

        func found(_ pattern: Regex<(Substring, Substring)>) throws -> String {
            guard let match = text.firstMatch(of: pattern) else { throw Unexpected(description: "a page: \(text)") }
            return String(match.output.1)
        }
    }

    private mutating func send(
        _ method: HTTPMethod, _ path: String, form: [(String, String)]? = nil, expecting status: HTTPResponseStatus
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: url + path)
        request.method = method
        for (name, value) in fields { request.headers.add(name: name, value: value) }
        if let form {
            request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            request.body = .bytes(ByteBuffer(string: FormText.encoded(form)))
        }
        let response = try await http.execute(request, timeout: .seconds(60))
        let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
        guard response.status == status else {
            throw Unexpected(description: "\(path): \(response.status) instead of \(status): \(text)")
        }
        for field in response.headers["set-cookie"] {
            let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { cookies[pair[0]] = pair[1] }
        }
        return Answer(location: response.headers.first(name: "location") ?? "", text: text)
    }
}
