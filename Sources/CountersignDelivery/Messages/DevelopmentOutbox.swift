package import CountersignWire
import Foundation
import Synchronization

/// Takes mails and text messages where there is nobody else to take them: into a folder, and to be looked at.
///
/// In development mode alone. Spec: design 8, *Development mode*.
package final class DevelopmentOutbox: Sendable {
    /// A message that was taken.
    package struct Entry: Sendable {
        /// Its id.
        package let id: EventID
        /// Where it should have gone.
        package let to: String
        /// The subject of a mail; nil of a text message.
        package let subject: String?
        /// What it says.
        package let text: String
        /// When.
        package let at: Timestamp
    }

    /// How many are kept to be looked at.
    private static let limit = 100

    private let folder: String
    private let kept = Mutex<[Entry]>([])

    /// A folder that is made with the first message.
    package init(folder: String) {
        self.folder = folder
    }

    /// What was taken since the start, the newest first.
    package var entries: [Entry] { kept.withLock { $0.reversed() } }

    func take(_ entry: Entry, as name: String, _ bytes: [UInt8]) -> DeliveryResult {
        do {
            // Codes are in it: they are their owner's alone.
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
            // It may come again: whoever notes that it was taken can fail.
            kept.removeAll { $0.id == entry.id }
            kept.append(entry)
            if kept.count > Self.limit { kept.removeFirst() }
        }
        return .delivered
    }
}
