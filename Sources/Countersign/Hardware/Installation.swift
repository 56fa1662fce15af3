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

/// The mark of an installation, which is a file of the app and an item of the store.
///
/// Deleting the app deletes the file alone.
public struct Installation: Sendable {
    private static let item = "installation"
    private let marker: URL
    private let reinstallation: Reinstallation

    /// The installation of the app whose file this is.
    ///
    /// - Parameters:
    ///   - marker: a file that is deleted with the app. The app's extensions must share it, or name none.
    ///   - reinstallation: what becomes of the items of an earlier installation.
    public init(marker: URL, after reinstallation: Reinstallation) {
        self.marker = marker
        self.reinstallation = reinstallation
    }

    /// Compares the marks, makes those that are missing, and deletes the items of an earlier installation.
    func arrive(at items: any ItemStore) throws -> Arrival {
        let inStore = try items.item(Self.item)
        let inFile = try mark()
        let arrival: Arrival
        switch (inStore, inFile) {
        case (nil, nil): arrival = .first
        case (nil, .some): arrival = .restored
        case (let store?, let file?) where store == file: return .known
        case (.some, _): arrival = .reinstalled
        }
        if arrival == .reinstalled, case .wipes = reinstallation { try items.wipe() }
        // An extension may arrive at the same moment: the file is made once, and both take what it says.
        try items.write(try inFile ?? makeMark(), as: Self.item)
        return arrival
    }

    /// What the file says; nil if there is none.
    private func mark() throws -> [UInt8]? {
        // One that is there and cannot be read now is no missing one: nothing may be deleted for it.
        FileManager.default.fileExists(atPath: marker.path) ? Array(try Data(contentsOf: marker)) : nil
    }

    /// Makes the file, unless another process was faster, and returns what it says.
    private func makeMark() throws -> [UInt8] {
        let files = FileManager.default
        let folder = marker.deletingLastPathComponent()
        try files.createDirectory(at: folder, withIntermediateDirectories: true)
        var generator = SystemRandomNumberGenerator()
        let made = Hex.encode((0..<16).map { _ in generator.next() as UInt8 })
        let draft = folder.appending(path: ".\(made)")
        try Data(made.utf8).write(to: draft)
        defer { try? files.removeItem(at: draft) }
        // A link is made whole, or not at all where there is a file.
        do {
            try files.linkItem(at: draft, to: marker)
        } catch {
            guard files.fileExists(atPath: marker.path) else { throw error }
        }
        return try mark() ?? []
    }
}

extension ItemStore {
    /// Deletes every item.
    func wipe() throws {
        // Keys first: records without keys are worth nothing.
        for name in try names() where name.contains("/key-") { try remove(name) }
        for name in try names() { try remove(name) }
    }
}
