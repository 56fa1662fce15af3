import AsyncHTTPClient
import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

extension Stage {
    /// The ways to sign in that the demo shows, as the forms name them.
    private enum Way: String, CaseIterable {
        case device
        case qr
        case email

        /// What the customer has signed in by.
        var means: String {
            switch self {
            case .device: "a number typed on the phone"
            case .qr: "the code on the page"
            case .email: "the code from the mail"
            }
        }
    }

    /// Does what a person would do at "Sign in", in each way once.
    func playSignIns(_ shop: String, in client: HTTPClient) async throws {
        for way in Way.allCases {
            let browser = DemoBrowser(client)
            var page = try await browser.open("\(shop)/sign-in")
            // A code needs no name: whoever scans it signs in.
            if way != .qr {
                page = try await browser.submit(page, to: "\(issuer)/signin/choose", ["identifier": Self.email])
            }
            page = try await browser.submit(page, to: "\(issuer)/signin/ask", ["way": way.rawValue])
            let place = page.url
            switch way {
            case .device:
                step("Browser chose to sign in on the phone; the page shows the number \(try page.number)")
                try await answer(try page.number)
            case .qr:
                _ = try await browser.open("\(place)/code")
                step("Browser chose to sign in by a code, and shows it")
                try await answerShownCode()
            case .email:
                let code = try await mailedCode(in: browser)
                step("Browser chose to sign in by mail, which brought the code \(code)")
                page = try await browser.submit(page, to: "\(place)/enter", ["code": code])
            }
            page = try await browser.open("\(place)/done")
            page = try await browser.open(try page.onward)
            guard page.text.contains(Self.email) else { throw CommandError("The shop does not know who signed in.") }
            step("The shop knows \(Self.email), signed in by \(way.means)")
        }
    }

    /// The phone scans the code that a page shows, and approves.
    private func answerShownCode() async throws {
        var codes = shownCodes.makeAsyncIterator()
        guard let code = await codes.next(), let enrollment = await authenticator.enrollments.first else {
            throw CommandError("There is no code to scan.")
        }
        let question = try await enrollment.claim(code)
        step("Phone scanned the code: \(question.id) from \(question.client.name)")
        say(TerminalPhone.render(question))
        try await question.approve(with: .confirmation)
        step("Phone signed and sent the approval")
    }

    /// The code in the newest mail, which development mode keeps instead of sending it.
    private func mailedCode(in browser: DemoBrowser) async throws -> String {
        for _ in 0..<200 {
            let outbox = try JSONValue(parsing: Array(try await browser.open("\(issuer)/dev/outbox").text.utf8))
            if let text = outbox["messages"]?.array?.first?["text"]?.string,
                let code = text.firstMatch(of: #/[0-9]{6}/#)
            {
                return String(code.output)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw CommandError("No mail came.")
    }
}

/// A browser without scripts: it keeps cookies, follows redirects, and sends the forms of the sign-in pages.
private actor DemoBrowser {
    /// What the browser shows.
    struct Page: Sendable {
        let url: String
        let text: String

        /// The number that the page shows.
        var number: String {
            get throws {
                guard let label = text.firstMatch(of: #/aria-label="([0-9 ,]+)"/#) else {
                    throw CommandError("The page shows no number.")
                }
                return String(label.output.1.filter(\.isNumber))
            }
        }

        /// Where the page goes on by itself.
        var onward: String {
            get throws {
                guard let url = text.firstMatch(of: #/http-equiv="refresh" content="0;url=([^"]*)"/#) else {
                    throw CommandError("The sign-in did not end at \(self.url).")
                }
                return String(url.output.1.replacing("&amp;", with: "&"))
            }
        }
    }

    private let client: HTTPClient
    private var cookies: [String: String] = [:]

    init(_ client: HTTPClient) { self.client = client }

    func open(_ url: String) async throws -> Page { try await send(url, form: nil) }

    /// Sends a form with the request that each sign-in page carries.
    func submit(_ page: Page, to url: String, _ fields: [String: String]) async throws -> Page {
        guard let sealed = page.text.firstMatch(of: #/name="request" value="([^"]*)"/#) else {
            throw CommandError("\(page.url) is no sign-in page.")
        }
        let form = [("request", String(sealed.output.1))] + fields.map { ($0.key, $0.value) }
        return try await send(url, form: FormText.encoded(form))
    }

    private func send(_ url: String, form: String?) async throws -> Page {
        var (url, form) = (url, form)
        for _ in 0..<5 {
            var request = HTTPClientRequest(url: url)
            request.headers.add(name: "cookie", value: cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
            if let form {
                request.method = .POST
                request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
                request.body = .bytes(ByteBuffer(string: form))
            }
            let response = try await client.execute(request, timeout: .seconds(30))
            for set in response.headers["set-cookie"] {
                let pair = set.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
                if pair.count == 2 { cookies[pair[0]] = pair[1] }
            }
            guard let place = response.headers.first(name: "location") else {
                guard response.status == .ok else { throw CommandError("\(url) answered \(response.status).") }
                return Page(url: url, text: String(buffer: try await response.body.collect(upTo: 1 << 20)))
            }
            let next = URL(string: place, relativeTo: URL(string: url))?.absoluteString
            (url, form) = (next ?? place, nil)
        }
        throw CommandError("\(url) leads nowhere.")
    }
}
