import Countersign
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// A listener on this machine at which the browser comes back from a sign-in.
///
/// It logs nothing, because the address of a request holds the code. Spec: RFC 8252 §7.3, §8.3.
struct LoopbackListener: Sendable {
    /// The path at which the browser comes back.
    static let path = "/callback"
    /// How many requests may arrive before one is looked at.
    private static let mostAnswers = 64
    private static let page = "You may close this window, and go back to the terminal.\n"

    /// Where browsers came back: the path with its query; for one reader.
    private let answers: AsyncStream<String>
    private let arrive: AsyncStream<String>.Continuation

    init() {
        (answers, arrive) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostAnswers))
    }

    /// The address of a listener on a port; without a port, the one to register.
    static func redirectURI(port: Int?) -> URL? {
        URL(string: "http://127.0.0.1\(port.map { ":\($0)" } ?? "")\(path)")
    }

    /// Listens on a free port until the task is cancelled.
    ///
    /// - Parameter ready: receives the port once the listener accepts connections.
    func run(_ ready: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        router.get("\(Self.path)") { [arrive] request, _ in
            // Another host's name would be that of a page which resolves it to this machine.
            guard request.head.authority?.hasPrefix("127.0.0.1:") == true else { throw HTTPError(.badRequest) }
            let place = request.uri.string
            let page = ByteBuffer(string: Self.page)
            return Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .cacheControl: "no-store", .connection: "close",
                ],
                body: ResponseBody(contentLength: page.readableBytes) { writer in
                    try await writer.write(page)
                    try await writer.finish(nil)
                    // Not before: the command may end as soon as it knows.
                    arrive.yield(place)
                })
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { ready(port) }
            }, logger: Logger(label: "sign-in") { _ in SwiftLogNoOpLogHandler() })
        try await application.run()
    }

    /// The place at which the browser comes back from the sign-in with this `state`; nil if it does not in time.
    ///
    /// Any page that the person has open can send a request here. Only the issuer has been told the state, so that
    /// another request ends nothing.
    func answer(to state: String, within limit: Duration) async throws -> String? {
        try await withThrowingTaskGroup(of: String?.self) { [answers] group in
            group.addTask {
                for await place in answers where Self.state(in: place) == state { return place }
                throw CancellationError()
            }
            group.addTask {
                try await Task.sleep(for: limit)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The `state` in an address; nil if there is none, or more than one.
    static func state(in address: String) -> String? {
        let states = URLComponents(string: address)?.queryItems?.filter { $0.name == "state" } ?? []
        return states.count == 1 ? states.first?.value : nil
    }
}

/// The person's own browser, which they or the system open.
struct TerminalBrowser: BrowserSession {
    /// No browser came back with an answer.
    struct NoAnswer: Error, CustomStringConvertible {
        let description: String
    }

    let listener: LoopbackListener
    /// How long to wait for the browser, in seconds.
    let limit: Int
    /// Whether the system opens the browser.
    let isOpened: Bool

    func open(_ url: URL, returningTo redirectURI: URL) async throws -> URL {
        guard let state = LoopbackListener.state(in: url.absoluteString) else {
            throw NoAnswer(description: "the address to open has no state")
        }
        // Standard output is for who signed in.
        let text = "Open this address in a browser, within \(limit) seconds:\n\(url.absoluteString)\n"
        try FileHandle.standardError.write(contentsOf: Data(text.utf8))
        if isOpened { try Self.show(url) }
        guard let place = try await listener.answer(to: state, within: .seconds(limit)) else {
            throw NoAnswer(description: "nobody came back within \(limit) seconds")
        }
        guard let end = redirectURI.absoluteString.range(of: LoopbackListener.path, options: .backwards),
            let answer = URL(string: redirectURI.absoluteString[..<end.lowerBound] + place)
        else { throw NoAnswer(description: "what came back is no address") }
        return answer
    }

    private static func show(_ url: URL) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        #if os(Linux)
            process.arguments = ["xdg-open", url.absoluteString]
        #else
            process.arguments = ["open", url.absoluteString]
        #endif
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
}
