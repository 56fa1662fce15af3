package import Encodings

/// Where the master key comes from.
package enum MasterKeySource: Sendable {
    /// The environment, or else a file in the data folder, which the first start creates.
    case folder
    /// The key itself, in base64.
    case text(Secret<String>)
    /// A file with the key.
    case file(String)
    /// The output of a command.
    case command(String)
}
