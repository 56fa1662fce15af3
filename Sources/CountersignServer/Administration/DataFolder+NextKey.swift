import CountersignStorage
import Encodings
import Foundation

/// The next master key of a folder, until it replaces the current one.
extension DataFolder {
    private var nextKey: String { masterKey + ".next" }

    /// The next key: the one that an interrupted rotation has left, or else a new one.
    func prepareNextKey() throws -> MasterKey {
        if let text = try read(nextKey) { return try Self.masterKey(text, from: nextKey) }
        _ = try place(Base64.encode(SystemRandom().bytes(32)) + "\n", as: nextKey, replacing: false)
        return try Self.masterKey(try read(nextKey) ?? "", from: nextKey)
    }

    /// Replaces the current key by the next one, and keeps the current one under its id, because earlier backups need
    /// it.
    ///
    /// - Returns: the file with the earlier key.
    func installNextKey(insteadOf current: MasterKey) throws -> String {
        let kept = "\(masterKey).\(current.id)"
        guard link(masterKey, kept) == 0 || errno == EEXIST else { throw StartError("\(kept) cannot be written.") }
        try syncNames()
        guard rename(nextKey, masterKey) == 0 else { throw StartError("\(masterKey) cannot be written.") }
        try syncNames()
        return kept
    }
}
