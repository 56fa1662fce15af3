import Countersign
import Foundation

/// The folder in which this device keeps its keys and tokens, and how it talks to servers.
enum DeviceFolder {
    /// The folder: the given one, else that of the environment, else one in the current folder.
    static func url(_ home: String?) -> URL {
        URL(filePath: home ?? ProcessInfo.processInfo.environment["COUNTERSIGN_DEVICE_HOME"] ?? "countersign-device")
    }

    /// The vault in a folder.
    static func vault(in folder: URL) throws -> FileVault {
        do { return try FileVault(at: folder.appending(path: "vault")) } catch {
            throw CommandError("\(folder.path) cannot be used: \(error)")
        }
    }

    /// The transport, which trusts the same authorities as all commands.
    static var transport: TellingTransport {
        TellingTransport(sender: NamedAuthorityTransport() ?? URLSessionTransport())
    }
}
