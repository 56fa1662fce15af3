import CPostgreSQL
import Encodings

/// Where a PostgreSQL database is, as libpq reads it.
///
/// It may name several hosts, and hold a password: it is shown without.
package struct PostgresAddress: Sendable, CustomStringConvertible {
    /// The text is no address; what is wrong stays untold, because libpq repeats parts of the text and with them a
    /// password.
    package struct Malformed: Error {}

    /// The whole address.
    let text: Secret<String>
    /// Hosts, ports and database, without user and password.
    package let description: String

    /// Reads `postgres://…` or `postgresql://…`.
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
