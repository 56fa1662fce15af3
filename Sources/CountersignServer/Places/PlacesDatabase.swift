import CMaxMindDB
import CountersignWire
import Foundation
import Synchronization

/// A database of places in the MaxMind DB format, read by libmaxminddb.
///
/// The library reads the file in memory that is mapped to it. A file that somebody shortens meanwhile would end the
/// process (SIGBUS), so a server maps a copy of its own, which no other process can reach.
final class PlacesDatabase: Sendable {
    /// The database has contradicted itself at an address.
    struct Damage: Error {}

    /// A file could not be copied; it may be good, and so may the next attempt.
    struct NotCopied: Error, CustomStringConvertible {
        let description: String
    }

    /// The greatest size of a file, in octets, several times that of the largest ones that are sold.
    private static let largestFile: Int64 = 1 << 30
    /// What is left free of the disk at least, in octets: the database may be on the same one.
    private static let reserve: UInt64 = 256 << 20
    /// The greatest size of a name, in octets.
    private static let longestName = 256

    /// The address of the library's state, since a pointer is not sendable.
    ///
    /// Nothing changes the state between opening and closing, so many threads may read by it at once.
    private let address: UInt
    /// What the file says of its kind, such as `GeoLite2-City`.
    let type: String
    /// When it was built, in seconds since 1970.
    let builtAt: Int
    /// Whether the log says that it is damaged.
    let isDamageTold = Atomic(false)

    /// Opens a file where it is, for a short time.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - name: how an error names it; nil for its path.
    /// - Throws: ``StartError`` that names the file and what to do.
    init(_ path: String, named name: String? = nil) throws(StartError) {
        let name = name ?? path
        // Opening a pipe would wait for its other end.
        guard let state = FileState(path: path), state.isRegular, access(path, R_OK) == 0 else {
            throw Self.unreadable(name)
        }
        let database = UnsafeMutablePointer<MMDB_s>.allocate(capacity: 1)
        database.initialize(to: MMDB_s())
        let status = MMDB_open(path, UInt32(MMDB_MODE_MMAP), database)
        guard status == MMDB_SUCCESS else {
            database.deallocate()
            throw StartError(
                """
                \(name) is not a whole file in MaxMind DB format. Get it again and put it there by renaming, or leave \
                places_database out.
                """)
        }
        address = UInt(bitPattern: database)
        type = database.pointee.metadata.database_type.map { String(String(cString: $0).prefix(64)) } ?? ""
        builtAt = Int(clamping: database.pointee.metadata.build_epoch)
    }

    deinit {
        guard let database = UnsafeMutablePointer<MMDB_s>(bitPattern: address) else { return }
        MMDB_close(database)
        database.deallocate()
    }

    /// Copies a file, and opens the copy, which has no name any more when this returns.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - copy: a path for the copy, which only this process uses.
    /// - Throws: ``NotCopied``, or ``StartError`` that names the file and what to do.
    static func copying(_ path: String, to copy: String) throws -> PlacesDatabase {
        guard let state = FileState(path: path), state.isRegular, let source = FileHandle(forReadingAtPath: path) else {
            throw unreadable(path)
        }
        guard state.size <= largestFile else {
            throw StartError("\(path) is larger than 1 GiB. places_database must name a file in MaxMind DB format.")
        }
        // One may be left by a process that was killed.
        unlink(copy)
        defer { unlink(copy) }
        do {
            guard free(beside: copy) >= UInt64(state.size) + reserve else { throw CocoaError(.fileWriteOutOfSpace) }
            let file = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
            let target = FileHandle(fileDescriptor: file, closeOnDealloc: true)
            var left = Int(state.size)
            while let bytes = try source.read(upToCount: min(left, 1 << 20)), !bytes.isEmpty {
                try target.write(contentsOf: bytes)
                left -= bytes.count
            }
            try target.close()
        } catch {
            throw NotCopied(
                description: """
                    \(path) cannot be copied to \(copy). Make room there, or mend the rights of the folder; until then \
                    addresses stand alone, or keep the places that they had.
                    """)
        }
        return try PlacesDatabase(copy, named: path)
    }

    /// How much room a file's disk has, in octets; none where that cannot be told.
    private static func free(beside path: String) -> UInt64 {
        var status = statvfs()
        guard statvfs(URL(filePath: path).deletingLastPathComponent().path, &status) == 0 else { return 0 }
        return UInt64(status.f_bavail) * UInt64(status.f_frsize)
    }

    private static func unreadable(_ path: String) -> StartError {
        StartError("\(path) cannot be read. places_database must name a file in MaxMind DB format.")
    }

    /// The place of an address; nil where the database has none that can be shown.
    func place(of address: IPAddress) throws(Damage) -> Place? {
        guard let database = UnsafePointer<MMDB_s>(bitPattern: self.address) else { return nil }
        var error: Int32 = 0
        let found = address.withSocketAddress { MMDB_lookup_sockaddr(database, $0, &error) }
        if error == MMDB_IPV6_LOOKUP_IN_IPV4_DATABASE_ERROR { return nil }
        guard error == MMDB_SUCCESS else { throw Damage() }
        guard found.found_entry else { return nil }
        return Place(
            city: try name(of: "city", in: found.entry), country: try name(of: "country", in: found.entry),
            countryCode: try text("country", "iso_code", in: found.entry))
    }

    private func name(of part: String, in entry: MMDB_entry_s) throws(Damage) -> Place.Name? {
        var texts: [LanguageTag: String] = [:]
        for language in Place.languages {
            texts[language] = try text(part, "names", language.description, in: entry)
        }
        return Place.Name(texts)
    }

    private func text(
        _ first: String, _ second: String, _ third: String? = nil, in entry: MMDB_entry_s
    ) throws(Damage) -> String? {
        var text: UnsafePointer<CChar>?
        var length = 0
        guard maxminddb_text(entry, first, second, third, &text, &length) == MMDB_SUCCESS else { throw Damage() }
        guard let text, (1...Self.longestName).contains(length) else { return nil }
        return String(bytes: UnsafeRawBufferPointer(start: text, count: length), encoding: .utf8)
    }
}

extension IPAddress {
    /// Calls a function with the address in C's form.
    fileprivate func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        func call<Address>(_ address: Address) -> Result {
            withUnsafePointer(to: address) { $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body) }
        }
        if bytes.count == 4 {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return call(address)
        }
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
        return call(address)
    }
}
