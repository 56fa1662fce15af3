import ArgumentParser
import CountersignWire
import Encodings
import NIOHTTP1

/// The command `countersign admin events`.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Print the audit, oldest first; with filters, what meets all of them.",
        discussion: """
            Acts with an operator's token on a server that runs. To hand events on to a log collector again and again, \
            keep the cursor: `--cursor-file` begins where the last run ended.
            """)

    /// The format of printed events.
    enum Format: String, ExpressibleByArgument, CaseIterable {
        /// A line for people.
        case text
        /// A JSON object a line.
        case jsonl
        /// The Common Event Format.
        case cef
    }

    @Option(help: "Of one kind, such as challenge.approved.")
    var kind: String?

    @Option(help: "Of one client, by its id.")
    var client: String?

    @Option(help: "Of one user, by their id.")
    var user: String?

    @Option(help: "Of one device, by its enrollment's id.")
    var enrollment: String?

    @Option(help: "Of one challenge, by its id.")
    var challenge: String?

    @Option(help: "From this time on, such as 2026-11-23T00:00:00.000Z.")
    var since: String?

    @Option(help: "Before this time.")
    var until: String?

    @Option(help: "How they are printed: text, jsonl or cef.")
    var format = Format.text

    @Option(help: "A file with the place to begin at, which is put there in the end.")
    var cursorFile: String?

    @OptionGroup var remote: RemoteOptions

    mutating func run() async throws {
        let query = Remote.query([
            ("kind", kind), ("client", client), ("user", user), ("enrollment", enrollment), ("challenge", challenge),
            ("since", since), ("until", until),
        ])
        let place = try cursorFile.map { try CursorFile(path: $0) }
        let format = format
        try await remote.withRemote { remote in
            var cursor = place?.cursor
            while true {
                let parts = query + (cursor.map { ["cursor=\(Remote.escaped($0))"] } ?? [])
                let page = try await remote.call(.GET, "/v1/admin/events?\(parts.joined(separator: "&"))")
                let events = page["events"]?.array ?? []
                for event in events { say(Self.line(of: event, format)) }
                guard let next = page["cursor"]?.string else { return }
                // The printed events are done, even if the next page cannot be fetched.
                try place?.put(next)
                guard !events.isEmpty, next != cursor else { return }
                cursor = next
            }
        }
    }

    private static func line(of event: JSONValue, _ format: Format) -> String {
        switch format {
        case .jsonl: return ShownText.json(event)
        case .cef: return CommonEventFormat.line(of: event)
        case .text:
            let ids = ["user", "enrollment", "challenge", "client"].compactMap { event[$0]?.field }
            let detail = event["detail"]?.object?.members.isEmpty == false ? event["detail"]?.text : nil
            let parts = [event["at"]?.field, event["kind"]?.field] + ids.map(Optional.some) + [detail]
            return parts.compactMap { $0 }.joined(separator: "  ")
        }
    }
}
