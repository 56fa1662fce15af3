import Encodings
import Foundation

/// The JSON in what a file held, which somebody has named.
///
/// - Parameters:
///   - bytes: what it held; nil if it could not be read.
///   - file: its name, for the error.
func jsonContent(_ bytes: Data?, of file: String) throws -> JSONValue {
    guard let bytes, let json = try? JSONValue(parsing: Array(bytes)) else {
        throw CommandError("\(file) cannot be read as JSON.")
    }
    return json
}
