package import CountersignWire
import Foundation
import Synchronization

/// Collects mails and text messages in a folder and in memory instead of sending them.
///
/// Only in development mode. Spec: docs/guides/delivery.md, *Mail and text messages without anybody to send them*.
package final class DevelopmentOutbox: Sendable {
    package struct Entry: Sendable {
        /// The message's id.
        package let id: EventID
        /// The address that it was meant for.
        package let to: String
        /// The subject of a mail; nil for a text message.
        package let subject: String?
        package let text: String
        /// When it would have been sent.
        package let at: Timestamp
    }

    /// The maximum number of messages kept in memory.
    private static let limit = 100

    private let folder: String
    private let kept = Mutex<[Entry]>([])

    /// Creates an outbox; its folder is created with the first message.
    package init(folder: String) {
        self.folder = folder
    }

    /// The messages since the start, newest first.
    package var entries: [Entry] { kept.withLock { $0.reversed() } }

    func take(_ entry: Entry, as name: String, _ bytes: [UInt8]) -> DeliveryResult {
        do {
            // The messages contain codes, so only the owner may read them.
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let path = "\(folder)/\(name)"
            guard
                FileManager.default.createFile(
                    atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            else { return .failed("\(path) cannot be written") }
        } catch {
            return .failed("\(folder) cannot be made")
        }
        kept.withLock { kept in
            // The same message may arrive again, when recording its delivery failed.
            kept.removeAll { $0.id == entry.id }
            kept.append(entry)
            if kept.count > Self.limit { kept.removeFirst() }
        }
        return .delivered
    }
}
