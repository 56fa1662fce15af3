import CountersignStorage
import Encodings
import Foundation

/// The next master key of a folder, until it takes the place of the one in use.
extension DataFolder {
    private var nextKey: String { masterKey + ".next" }

    /// The key that is to be the next: the one an earlier rotation was cut off with, else a new one.
    func prepareNextKey() throws -> MasterKey {
        if let text = try read(nextKey) { return try Self.masterKey(text, from: nextKey) }
        _ = try place(Base64.encode(SystemRandom().bytes(32)) + "\n", as: nextKey, replacing: false)
        return try Self.masterKey(try read(nextKey) ?? "", from: nextKey)
    }

    /// Puts the next key in the place of the one in use, which is kept under its id: backups made before need it.
    ///
    /// - Returns: the file in which the earlier one is kept.
    func installNextKey(insteadOf current: MasterKey) throws -> String {
        let kept = "\(masterKey).\(current.id)"
        guard link(masterKey, kept) == 0 || errno == EEXIST else { throw StartError("\(kept) cannot be written.") }
        try syncNames()
        guard rename(nextKey, masterKey) == 0 else { throw StartError("\(masterKey) cannot be written.") }
        try syncNames()
        return kept
    }
}
