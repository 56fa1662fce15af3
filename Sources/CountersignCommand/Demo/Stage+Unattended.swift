import AsyncHTTPClient
import Countersign
import CountersignWire
import Encodings
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import OpenPGP

extension Stage {
    /// Does what a person would do: a browser presses the button, a phone types the number, the page changes.
    func playUnattended(out: String) async throws {
        try await withShop(port: 0) { url in
            let browser = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: .init(redirectConfiguration: .disallow))
            do {
                try await play(url, in: browser, out: out)
                try await playSignIns(url, in: browser)
                try await browser.shutdown()
            } catch {
                try await browser.shutdown()
                throw error
            }
        }
    }

    private func play(_ url: String, in browser: HTTPClient, out: String) async throws {
        let page = String(decoding: try await Self.fetch("\(url)/", in: browser), as: UTF8.self)
        guard page.contains("Pay EUR 1,250.00 to ACME GmbH") else {
            throw CommandError("The shop's page has no button.")
        }
        step("Browser opened the shop at \(url)")
        let payment = try JSONValue(parsing: try await Self.fetch("\(url)/payments", method: .POST, in: browser))
        guard let id = payment["id"]?.string, let number = payment["number"]?.string else {
            throw CommandError("The shop did not show a number.")
        }
        step("Browser pressed the button; the page shows the number \(number)")
        async let outcome = Self.outcome("\(url)/payments/\(id)/events", in: browser)
        try await answer(number)
        guard try await outcome == "approved" else { throw CommandError("The page did not turn to approved.") }
        step("The page turned to \"approved\" without a reload")
        try await keepReceipt("\(url)/payments/\(id)", in: browser, out: out)
    }

    func answer(_ number: String) async throws {
        var challenges = authenticator.challenges().makeAsyncIterator()
        guard let pending = await challenges.next() else { throw CommandError("The phone was asked nothing.") }
        step("Phone received \(pending.id) from \(pending.clientName)")
        let question = try await pending.open()
        say(TerminalPhone.render(question))
        try await question.approve(with: .confirmation, number: number)
        step("Phone signed and sent the approval with the number \(number)")
    }

    private func keepReceipt(_ url: String, in browser: HTTPClient, out: String) async throws {
        let receipt = try await Self.fetch("\(url)/receipt.asc", in: browser)
        let certificate = try await Self.fetch("\(url)/certificate.asc", in: browser)
        let files = try ReceiptFiles(folder: out, receipt: receipt, certificate: certificate)
        _ = try VerifiedReceipt(
            message: String(decoding: receipt, as: UTF8.self),
            certificate: try Certificate(armored: String(decoding: certificate, as: UTF8.self)),
            now: UnixSeconds(clamping: Int64(Date().timeIntervalSince1970)))
        step("Receipt verified and kept: \(files.receipt), \(files.certificate)")
        say("\nCheck it with nothing of ours:\n")
        for command in files.commands { say("  \(command)") }
    }

    private static func fetch(
        _ url: String, method: HTTPMethod = .GET, in browser: HTTPClient
    ) async throws -> [UInt8] {
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers.add(
            name: "user-agent", value: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
        let response = try await browser.execute(request, timeout: .seconds(30))
        guard response.status == .ok else { throw CommandError("\(url) answered \(response.status).") }
        return Array(try await response.body.collect(upTo: 1 << 20).readableBytesView)
    }

    /// The final state of the page, from the events that the page itself receives.
    private static func outcome(_ url: String, in browser: HTTPClient) async throws -> String {
        let response = try await browser.execute(HTTPClientRequest(url: url), timeout: .seconds(120))
        var text = ""
        for try await part in response.body {
            text += String(buffer: part)
            for line in text.split(separator: "\n") where line.hasPrefix("data: ") {
                let state = try? JSONValue(parsing: Array(line.dropFirst(6).utf8))["state"]?.string
                if let state, state != "pending" { return state }
            }
        }
        throw CommandError("The page's events ended early.")
    }
}
