import CPostgreSQL
import Encodings

/// The address of a PostgreSQL database, parsed by libpq.
///
/// It may name several hosts and contain a password; its description contains no password.
package struct PostgresAddress: Sendable, CustomStringConvertible {
    /// The text is not an address.
    ///
    /// It has no details, because libpq's message repeats parts of the text, and they may contain the password.
    package struct Malformed: Error {}

    let text: Secret<String>
    /// The hosts, ports and database, without user and password.
    package let description: String

    /// Parses `postgres://…` or `postgresql://…`.
    ///
    /// See PostgreSQL, *34.1.1. Connection Strings*.
    package init(_ text: String) throws(Malformed) {
        guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") else { throw Malformed() }
        guard let options = PQconninfoParse(text, nil) else { throw Malformed() }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        self.text = Secret(text)
        let hosts = (values["host"] ?? values["hostaddr"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let ports = (values["port"] ?? "").split(separator: ",", omittingEmptySubsequences: false)
        let places = hosts.enumerated().map { index, host in
            let port = ports.count == 1 ? ports[0] : index < ports.count ? ports[index] : ""
            return port.isEmpty ? "\(host)" : "\(host):\(port)"
        }
        description = places.joined(separator: ",") + "/" + (values["dbname"] ?? "")
    }
}
