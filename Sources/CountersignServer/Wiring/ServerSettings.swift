package import CountersignCore
package import CountersignStorage
package import CountersignWire
import Foundation

/// Which database a server works on.
package enum DatabaseChoice: Sendable {
    /// A SQLite file; in the data folder unless it is named.
    case sqlite(path: String?)
    /// A PostgreSQL database, which several servers may share.
    case postgresql(PostgresSettings)

    /// Reads `sqlite:PATH` or `postgres://…`, or nil.
    package init?(_ text: String) {
        if let path = text.wholeMatch(of: /sqlite:(?:\/\/)?(.+)/)?.output.1 {
            self = .sqlite(path: String(path))
        } else if let address = try? PostgresAddress(text) {
            self = .postgresql(PostgresSettings(address: address))
        } else {
            return nil
        }
    }
}

/// What an operator decides about a server.
package struct ServerSettings: Sendable {
    /// The folder that holds everything.
    package var dataFolder: String
    /// The address to listen on.
    package var host: String
    /// The port to listen on; 0 for a free one.
    package var port: Int
    /// The deployment's public base URL; nil for the address and port it listens on.
    package var issuer: Issuer?
    /// The database.
    package var database = DatabaseChoice.sqlite(path: nil)
    /// Whether callbacks may go to addresses that only the server's own network can reach.
    package var allowsPrivateCallbacks = false
    /// Whether a database of an older program is brought to this one's schema.
    package var migrates = true
    /// Who is believed when it says whom a request is from.
    package var proxies = TrustedProxies()
    /// How many connections callers may have at a time.
    package var connections = ConnectionLimits()
    /// Where the metrics are told; nil for nowhere.
    package var metrics: ListenAddress?
    /// What the server speaks TLS with; nil for plain HTTP.
    package var tls: TLSFiles?
    /// How pushes are sent to Apple's devices; nil for not at all.
    package var apns: APNsFiles?
    /// How pushes are sent by Firebase Cloud Messaging; nil for not at all.
    package var fcm: FCMFiles?
    /// How mail is sent; nil for not at all, or into a folder in development mode.
    package var mail: MailFiles?
    /// How text messages are sent; nil for not at all, or into a folder in development mode.
    package var texts: TextGatewayFiles?
    /// The file with challenge types that are set at each start; nil for none.
    package var typeFile: String?
    /// For how long what is over is kept.
    package var retention = Retention()
    /// How much each client may bring about.
    package var limits = ClientLimits()
    /// What messages to people say.
    package var messages = MessageTexts()
    /// Where the master key comes from.
    package var masterKey = MasterKeySource.folder

    /// Settings that run on this machine alone.
    package init(dataFolder: String, host: String = "127.0.0.1", port: Int = 8080, issuer: Issuer? = nil) {
        self.dataFolder = dataFolder
        self.host = host
        self.port = port
        self.issuer = issuer
    }

    /// Whether the listener can be reached from this machine alone.
    var listensOnLoopback: Bool { Self.isLoopback(host) }

    /// Whether an address or a name stands for this machine.
    static func isLoopback(_ host: String) -> Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
}

extension ServerSettings {
    /// What is wrong with the files that the settings name; empty when they can be used.
    package var unusableFiles: [String] {
        var complaints: [String] = []
        do { _ = try tls?.context() } catch { complaints.append("\(error)") }
        do { _ = try apns?.settings() } catch { complaints.append("\(error)") }
        do { _ = try fcm?.settings() } catch { complaints.append("\(error)") }
        do { _ = try mail?.settings() } catch { complaints.append("\(error)") }
        do { _ = try texts?.gateway() } catch { complaints.append("\(error)") }
        if let typeFile { do { _ = try TypeFile.types(in: typeFile) } catch { complaints.append("\(error)") } }
        if let issuer = issuer ?? Issuer("http://localhost") {
            do { _ = try messages.templates(issuer: issuer) } catch { complaints.append("\(error)") }
        }
        if case .file(let path) = masterKey, FileManager.default.contents(atPath: path) == nil {
            complaints.append("\(path) cannot be read. It must hold the master key.")
        }
        return complaints
    }
}
