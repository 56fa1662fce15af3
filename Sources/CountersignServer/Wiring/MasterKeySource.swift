package import Encodings

/// Where the master key comes from.
package enum MasterKeySource: Sendable {
    /// The environment, else a file in the data folder, which is made at the first start.
    case folder
    /// A text that was read before.
    case text(Secret<String>)
    /// A file.
    case file(String)
    /// What a command prints.
    case command(String)
}
