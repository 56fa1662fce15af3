package import CountersignCore
package import CountersignStorage
package import CountersignWire
import Foundation

/// The choice of a server's database.
package enum DatabaseChoice: Sendable {
    /// A SQLite file; nil for the file in the data folder.
    case sqlite(path: String?)
    /// A PostgreSQL database, which several servers may share.
    case postgresql(PostgresSettings)

    /// Parses `sqlite:PATH` or `postgres://…`.
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

/// The operator's settings of a server.
package struct ServerSettings: Sendable {
    /// The folder with the server's files.
    package var dataFolder: String
    /// The address to listen on.
    package var host: String
    /// The port to listen on; 0 for a free one.
    package var port: Int
    /// The deployment's public base URL; nil for the address and port of the listener.
    package var issuer: Issuer?
    package var database = DatabaseChoice.sqlite(path: nil)
    /// Whether callbacks may go to private addresses, which only the server's own network can reach.
    package var allowsPrivateCallbacks = false
    /// Whether a database with an older schema is migrated.
    package var migrates = true
    /// The trusted proxies.
    package var proxies = TrustedProxies()
    /// The base URL at which clients with certificates call; nil for the issuer.
    package var certificateURL: Issuer?
    /// The maximum numbers of connections.
    package var connections = ConnectionLimits()
    /// How many requests the server works on at once while it answers them in time; see ``LoadLimit``.
    var mostLoad = 256
    /// The address of the metrics' listener; nil for none.
    package var metrics: ListenAddress?
    /// The certificate and the key for TLS; nil for plain HTTP.
    package var tls: TLSFiles?
    /// The settings for pushes through APNs; nil for none.
    package var apns: APNsFiles?
    /// The settings for pushes through Firebase Cloud Messaging; nil for none.
    package var fcm: FCMFiles?
    /// The settings for mail; nil for none, or for a folder in development mode.
    package var mail: MailFiles?
    /// The settings for text messages; nil for none, or for a folder in development mode.
    package var texts: TextGatewayFiles?
    /// The settings for captchas; nil for none.
    package var captchas: CaptchaFiles?
    /// The file with the challenge types that every start sets; nil for none.
    package var typeFile: String?
    /// The file with the places of network addresses, in MaxMind DB format; nil for none.
    package var placesDatabase: String?
    /// What the operator's pages are to which the hosted pages lead.
    package var pageLinks = PageLinks()
    /// How long old data is kept.
    package var retention = Retention()
    /// The limits, for each client and for all together.
    package var limits = ClientLimits()
    /// The texts of messages to people.
    package var messages = MessageTexts()
    package var masterKey = MasterKeySource.folder

    /// Creates settings for a server that only this machine can reach.
    package init(dataFolder: String, host: String = "127.0.0.1", port: Int = 8080, issuer: Issuer? = nil) {
        self.dataFolder = dataFolder
        self.host = host
        self.port = port
        self.issuer = issuer
    }

    /// Whether only this machine can reach the listener.
    var listensOnLoopback: Bool { Self.isLoopback(host) }

    static func isLoopback(_ host: String) -> Bool { ["127.0.0.1", "::1", "localhost"].contains(host) }
}

/// The operator's pages to which every hosted page leads; nil for none.
package struct PageLinks: Sendable {
    /// The URL of the help.
    package var help: String?
    /// The URL of the privacy notice.
    package var privacy: String?

    /// No links.
    package init() {}
}

extension ServerSettings {
    /// The captchas that challenge types may need.
    var captchaNames: Set<CaptchaName> { Set((captchas?.addresses ?? []).map(\.name)) }

    /// The problems with the files that the settings name; empty if all files are usable.
    package var unusableFiles: [String] {
        var complaints: [String] = []
        do { _ = try tls?.context() } catch { complaints.append("\(error)") }
        do { _ = try apns?.settings() } catch { complaints.append("\(error)") }
        do { _ = try fcm?.settings() } catch { complaints.append("\(error)") }
        do { _ = try mail?.settings() } catch { complaints.append("\(error)") }
        do { _ = try texts?.gateway() } catch { complaints.append("\(error)") }
        do { _ = try captchas?.providers() } catch { complaints.append("\(error)") }
        if let typeFile {
            do { _ = try TypeFile.types(in: typeFile, with: captchaNames) } catch { complaints.append("\(error)") }
        }
        if let placesDatabase {
            do { _ = try PlacesDatabase(placesDatabase) } catch { complaints.append("\(error)") }
        }
        if let issuer = issuer ?? Issuer("http://localhost") {
            do { _ = try messages.templates(issuer: issuer) } catch { complaints.append("\(error)") }
        }
        if case .file(let path) = masterKey, FileManager.default.contents(atPath: path) == nil {
            complaints.append("\(path) cannot be read. It must hold the master key.")
        }
        return complaints
    }
}
