import CountersignDelivery
import CountersignStorage
import CountersignWire
import Foundation
import NIOSSL

/// Checks everything that a server needs, whether the server runs or not; it changes nothing.
package enum Doctor {
    private static let day = 86_400

    /// Runs all checks for a server with these settings.
    package static func examine(_ settings: ServerSettings) async -> [DiagnosticResult] {
        let now = SystemTime().now
        var findings = files(of: settings) + [disk(settings.dataFolder)]
        findings += await database(settings, now: now)
        if let tls = settings.tls { findings.append(certificate(tls, now: Int(now.seconds))) }
        if let path = settings.placesDatabase { findings.append(places(path, now: Int(now.seconds))) }
        if let files = settings.mail { findings.append(await mail(files)) }
        findings += await Reachability.examine(settings, now: now)
        return findings
    }

    /// Checks who can read the data folder and the files in it.
    static func files(of settings: ServerSettings) -> [DiagnosticResult] {
        let folder = DataFolder(existing: settings)
        guard let mode = mode(of: folder.path) else {
            return [
                .warning("folder", "\(folder.path) is not there.", "The first start makes it, or name it with --data.")
            ]
        }
        var findings: [DiagnosticResult] = []
        if mode & 0o077 != 0 {
            findings.append(
                .fault("folder", "Others may enter \(folder.path).", "chmod 700 \(folder.path)"))
        }
        for file in [folder.masterKey, folder.database, folder.bootstrapToken] {
            guard let mode = Self.mode(of: file), mode & 0o077 != 0 else { continue }
            findings.append(.fault("folder", "Others may read \(file).", "chmod 600 \(file)"))
        }
        if let key = settings.tls?.key, let mode = Self.mode(of: key), mode & 0o007 != 0 {
            findings.append(.fault("folder", "Everybody may read \(key).", "chmod o= \(key)"))
        }
        return findings.isEmpty ? [.fine("folder", "\(folder.path) is its owner's alone.")] : findings
    }

    private static func mode(of path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    private static func disk(_ path: String) -> DiagnosticResult {
        var status = statvfs()
        // A folder that does not exist yet has the space of its nearest existing parent.
        var folder = URL(filePath: path).standardizedFileURL
        while statvfs(folder.path, &status) != 0 {
            guard folder.path != "/" else { return .fault("disk", "Its space cannot be told.", "Look at \(path).") }
            folder.deleteLastPathComponent()
        }
        let free = (UInt64(status.f_bavail) * UInt64(status.f_frsize)) >> 20
        return space(free: free)
    }

    /// Checks the free space, in megabytes.
    static func space(free: UInt64) -> DiagnosticResult {
        switch free {
        case ..<200: .fault("disk", "\(free) MB are free.", "Make room: a server that cannot write refuses everything.")
        case ..<2000: .warning("disk", "\(free) MB are free.", "Make room before there is none.")
        default: .fine("disk", "\(free) MB are free.")
        }
    }

    /// Checks the database: whether it opens, and its schema, keys, clock and outbox.
    private static func database(_ settings: ServerSettings, now: Timestamp) async -> [DiagnosticResult] {
        let folder = DataFolder(existing: settings)
        var findings: [DiagnosticResult] = []
        switch settings.database {
        case .sqlite:
            guard FileManager.default.fileExists(atPath: folder.database) else {
                return [.warning("database", "There is none yet.", "The first start makes it.")]
            }
        case .postgresql(let server):
            do {
                let status = try await PostgresStatus.read(server.address)
                findings += judge(status, connections: server.connections)
                guard status.isMade else {
                    return findings + [.warning("database", "It is empty.", "The first start makes what it needs.")]
                }
            } catch {
                return [
                    .fault(
                        "database", "\(server.address) cannot be used: \(error.reason)",
                        "Nothing works without it: look at its server, the address, the password and the certificates.")
                ]
            }
        }
        do {
            let (store, masterKey) = try await Administration.open(folder, settings)
            findings.append(.fine("database", "It opens, with schema \(try await store.schemaVersion())."))
            findings.append(rotation(try await store.masterKeys(), masterKey.id))
            if store.isResealing {
                findings.append(.fine("sealing", "Servers seal everything again under a new key."))
            }
            findings.append(clock(newest: try await store.newestEvent(), now: now))
            let status = try await store.outboxStatus()
            findings.append(outbox(status.count, oldest: status.oldest, now: now))
            return findings
        } catch {
            let cure = "Nothing works without it; if it is lost, restore the backup."
            return findings + [.fault("database", "\(error)", cure)]
        }
    }

    /// Checks which master keys open the database.
    static func rotation(_ keys: [MasterKeyID], _ own: MasterKeyID) -> DiagnosticResult {
        guard keys.count > 1 else { return .fine("master key", "\(own) opens the database, and no other does.") }
        let list = keys.map { "\($0)" }.joined(separator: " and ")
        return .warning(
            "master key", "\(list) open the database: a rotation is not finished.",
            "Give every server the key \(keys.last.map { "\($0)" } ?? ""), then run `countersign admin key finish`.")
    }

    /// Checks the clock here against the time of the newest event.
    static func clock(newest: Timestamp?, now: Timestamp) -> DiagnosticResult {
        guard let newest, newest > now.adding(5) else { return .fine("clock", "It is \(now).") }
        return .fault(
            "clock", "It is \(now) here, and the newest event is of \(newest).",
            "Set the clock right, by NTP: devices' requests are judged by it.")
    }

    /// Checks how long the oldest message in the outbox has waited.
    static func outbox(_ count: Int, oldest: Timestamp?, now: Timestamp) -> DiagnosticResult {
        let age = oldest.map { (now.milliseconds - $0.milliseconds) / 1000 } ?? 0
        guard age > 600 else { return .fine("outbox", "\(count) messages wait.") }
        return .warning(
            "outbox", "\(count) messages wait, the oldest for \(age / 60) minutes.",
            "See the log for \"delivery failed\": a receiver does not answer, or cannot be reached.")
    }

    /// Checks the mail server by logging in; no mail is sent.
    private static func mail(_ files: MailFiles) async -> DiagnosticResult {
        let server = "\(files.server.host):\(files.server.port ?? files.server.security.port)"
        var complaint: String?
        do {
            let sender = SMTPSender(try files.settings())
            complaint = await sender.complaint()
            try await sender.shutdown()
        } catch {
            complaint = "\(error)"
        }
        guard let complaint else { return .fine("mail", "\(server) lets this server in.") }
        return .fault(
            "mail", "\(server) cannot be used: \(complaint).",
            "Look at its name, port and certificate, and at smtp.security, the name and the password.")
    }

    /// Checks a certificate at a time, in seconds since 1970.
    static func certificate(_ files: TLSFiles, now: Int) -> DiagnosticResult {
        do {
            _ = try files.context()
            guard let own = try files.chain().first else { throw StartError("\(files.certificate) is empty.") }
            let (start, end) = (Int(own.notValidBefore), Int(own.notValidAfter))
            let days = (end - now) / day
            if now < start { return .fault("certificate", "It is not valid yet.", "Set the clock right, or wait.") }
            if now >= end { return .fault("certificate", "It has expired.", "Renew it; it is read again by itself.") }
            guard days < 14 else { return .fine("certificate", "It is valid for \(days) days.") }
            return .warning("certificate", "It expires in \(days) days.", "Renew it; it is read again by itself.")
        } catch {
            return .fault("certificate", "\(error)", "Put a certificate and its key there, both in PEM.")
        }
    }

    /// Checks the database of places at a time, in seconds since 1970: whether it can be used, its kind and its age.
    static func places(_ path: String, now: Int) -> DiagnosticResult {
        do {
            let database = try PlacesDatabase(path)
            let (type, days) = (database.type, (now - database.builtAt) / day)
            guard ["city", "country", "enterprise"].contains(where: type.lowercased().contains) else {
                return .warning(
                    "places", "\(path) is of the type \(type): it may name no cities and countries.",
                    "Name a database of cities or countries with places_database.")
            }
            guard days <= 60 else {
                return .warning(
                    "places", "\(path) (\(type)) is \(days) days old.",
                    "Update it, because addresses move; it is read again by itself.")
            }
            return .fine("places", "\(path) (\(type)) is \(max(0, days)) days old.")
        } catch {
            return .fault("places", error.description, "A server that runs uses what it has; it does not start again.")
        }
    }
}
