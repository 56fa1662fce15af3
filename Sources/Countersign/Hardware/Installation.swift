import Encodings
public import Foundation

/// How the app came to the items that the system's store holds.
///
/// The store outlives the app: after a new installation, the keys of the earlier one are still there.
public enum Arrival: String, CaseIterable, Sendable {
    /// There was nothing.
    case first
    /// The same installation made the items.
    case known
    /// An earlier installation of the app made the items.
    case reinstalled
    /// The app's files were restored on a device whose store is empty: its keys stayed on the other device.
    case restored
}

/// What becomes of the items of an earlier installation.
public enum Reinstallation: Sendable {
    /// They are deleted: the device enrolls anew.
    case wipes
    /// They are kept: the device stays enrolled.
    case keeps
}

/// The mark of an installation, which is in files of the app and an item of the store.
///
/// Deleting the app deletes the files alone.
public struct Installation: Sendable {
    static let item = "installation"
    private let markers: [URL]
    private let reinstallation: Reinstallation
    private let isExtension: Bool

    /// The installation of the app whose file this is.
    ///
    /// - Parameters:
    ///   - marker: a file that is deleted with the app. All apps that share the store share it, too.
    ///   - own: the same of this app alone; it tells that the app is the same where it shares the other file only since
    ///     an update.
    ///   - reinstallation: what becomes of the items of an earlier installation.
    ///   - isExtension: whether this is an extension of the app. It may be started before the app, or while the app
    ///     enrolls anew: it makes no mark and deletes nothing.
    public init(
        marker: URL, own: URL? = nil, after reinstallation: Reinstallation, isExtension: Bool = false
    ) {
        markers = [marker] + (own.map { [$0] } ?? [])
        self.reinstallation = reinstallation
        self.isExtension = isExtension
    }

    /// The name under which a system's store keeps the items of an app, or of all that share them.
    ///
    /// Without a group, systems look in all groups of an app: items of its own need a name of their own there.
    ///
    /// - Parameters:
    ///   - group: the group of those who share the items; nil for the app alone.
    ///   - app: the app's identifier.
    public static func store(sharedBy group: String?, of app: String) -> String {
        group == nil ? "countersign.\(app)" : "countersign"
    }

    /// Compares the marks, makes those that are missing, and deletes the items of an earlier installation.
    func arrive(at items: any ItemStore) throws -> Arrival {
        let inStore = try items.item(Self.item)
        let inFiles = try markers.compactMap { try mark(in: $0) }
        let arrival: Arrival
        if let inStore {
            arrival = inFiles.contains(inStore) ? .known : .reinstalled
        } else {
            arrival = inFiles.isEmpty ? .first : .restored
        }
        guard !isExtension else { return arrival }
        if arrival == .reinstalled, case .wipes = reinstallation { try items.wipe() }
        let known = arrival == .known ? inStore : inFiles.first
        // Another process may arrive at the same moment: each file is made once, and all take what it says.
        let made = try known ?? make(Self.newMark(), in: markers[0])
        for marker in markers where try mark(in: marker) == nil { _ = try make(made, in: marker) }
        if arrival != .known { try items.write(made, as: Self.item) }
        return arrival
    }

    /// What a file says; nil if there is none.
    private func mark(in marker: URL) throws -> [UInt8]? {
        // One that is there and cannot be read now is no missing one: nothing may be deleted for it.
        FileManager.default.fileExists(atPath: marker.path) ? Array(try Data(contentsOf: marker)) : nil
    }

    private static func newMark() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return Array(Hex.encode((0..<16).map { _ in generator.next() as UInt8 }).utf8)
    }

    /// Makes a file, unless another process was faster, and returns what it says.
    private func make(_ mark: [UInt8], in marker: URL) throws -> [UInt8] {
        let files = FileManager.default
        let folder = marker.deletingLastPathComponent()
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        let draft = folder.appending(path: ".\(String(decoding: Self.newMark(), as: UTF8.self))")
        // It is read on a locked device, as the store is, also where the app's other files are locked with the device.
        try Data(mark).write(to: draft, options: .completeFileProtectionUntilFirstUserAuthentication)
        defer { try? files.removeItem(at: draft) }
        // A link is made whole, or not at all where there is a file.
        do {
            try files.linkItem(at: draft, to: marker)
        } catch {
            guard files.fileExists(atPath: marker.path) else { throw error }
        }
        return try self.mark(in: marker) ?? []
    }
}

extension ItemStore {
    /// Deletes every item but one.
    func wipe(keeping kept: String? = nil) throws {
        // Keys first: records without keys are worth nothing.
        for name in try names() where name.contains("/key-") { try remove(name) }
        for name in try names() where name != kept { try remove(name) }
    }
}
