import CountersignCore
import CountersignWire
import Foundation
import ServerTestSupport
import TestSupport
import Testing

@testable import CountersignServer

// Spec: docs/decisions/0083-places.md.
@Suite("The database of places", .timeLimit(.minutes(15)))
struct PlacesTests {
    /// A database with places in all forms that there are.
    static func sample() throws -> PlacesWriter {
        var writer = PlacesWriter()
        let nowhere = PlacesWriter.Value.place(("Nowhere", nil), nil)
        try writer.add("203.0.113.0/24", .cologne)
        try writer.add("198.51.100.0/25", .place(nil, ("Portugal", nil), code: "PT"))
        try writer.add("198.51.100.128/26", .map([]))
        try writer.add("198.51.100.192/27", .place(nil, nil, code: "FR"))
        try writer.add("198.51.100.224/28", .text("Berlin"))
        try writer.add("2001:db8:1::/48", .place((nil, "Lissabon"), ("Portugal", "Portugal"), code: "PT"))
        for network in ["10.0.0.0/8", "127.0.0.0/8", "192.168.0.0/16", "fe80::/16", "fd00::/8"] {
            try writer.add(network, nowhere)
        }
        return writer
    }

    /// A folder with a database, and what a server has of it.
    private struct Opened {
        let folder = try? TemporaryFolder()
        let log = LogBook()
        let path: String
        let places: PlacesFile

        init(_ file: [UInt8]) throws {
            let folder = try #require(folder)
            path = try folder.write("places.mmdb", file)
            places = try PlacesFile(path, copiedTo: folder.path("copy"), logger: log.logger)
        }

        /// Puts another file in the place of this one, as programs do that update such files.
        func replace(by file: [UInt8]) throws {
            let draft = try #require(folder).write("draft", file)
            #expect(rename(draft, path) == 0)
        }
    }

    @Test(
        "City and country of an address, in the language of the page",
        arguments: [
            ("203.0.113.7", "Cologne, Germany", "Köln, Deutschland"), ("203.0.114.7", nil, nil),
            ("::ffff:203.0.113.7", "Cologne, Germany", "Köln, Deutschland"),
            ("198.51.100.7", "Portugal", "Portugal"), ("198.51.100.130", nil, nil), ("198.51.100.193", "FR", "FR"),
            ("2001:db8:1::7", "Lissabon, Portugal", "Lissabon, Portugal"), ("2001:db8:2::7", nil, nil),
            ("203.0.113.7, Berlin", nil, nil), ("", nil, nil),
        ])
    func names(_ address: String, _ english: String?, _ german: String?) throws {
        let opened = try Opened(Self.sample().file)
        let place = opened.places.place(of: address)
        #expect(place?.text(in: .english) == english)
        #expect(place?.text(in: LanguageTag("de")) == german)
        #expect(opened.log.entries.isEmpty)
    }

    // Spec: RFC 1122 §3.2.1.3, RFC 1918 §3, RFC 6598 §7, RFC 3927 §2.1, RFC 4193 §3.1, RFC 4291 §2.5.3 and §2.5.6.
    @Test(
        "A private address has no place, whatever the database says",
        arguments: [
            "0.0.0.1", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.1.1", "172.31.0.1", "192.168.1.1", "::", "::1",
            "fd12::1", "fc00::1", "fe80::1", "::ffff:10.1.2.3", "::2", "::10.1.2.3", "64:ff9b::a01:203",
            "2002:a01:203::1",
        ])
    func privateAddresses(_ address: String) throws {
        let opened = try Opened(Self.sample().file)
        #expect(try #require(IPAddress(address)).isPrivate)
        #expect(opened.places.place(of: address) == nil)
    }

    @Test(
        "A public address is none of them",
        arguments: ["11.0.0.1", "172.32.0.1", "100.128.0.1", "2001:db8::1", "::1:0:0"])
    func publicAddresses(_ address: String) throws {
        #expect(try #require(IPAddress(address)).isPrivate == false)
    }

    @Test("A database of IPv4 addresses alone knows no other")
    func versionFour() throws {
        var writer = PlacesWriter(isForIPv4Alone: true)
        try writer.add("203.0.113.0/24", .cologne)
        let opened = try Opened(writer.file)
        #expect(opened.places.place(of: "203.0.113.7")?.countryCode == "DE")
        #expect(opened.places.place(of: "2001:db8:1::7") == nil)
        #expect(opened.log.entries.isEmpty)
    }

    @Test("Names that could deceive are not shown, and what else there is stays")
    func deceptive() throws {
        let texts: [PlacesWriter.Value] = [
            .text("Ber\nlin"), .text("Ber\u{202E}nil"), .text(String(repeating: "a", count: 300)),
            .text("203.0.113.9"), .raw([2 << 5 | 3, 0xFF, 0xFE, 0x41]), .number(5, bits: 16), .list([.text("Berlin")]),
            .text(""),
        ]
        for text in texts {
            var writer = PlacesWriter()
            try writer.add(
                "203.0.113.0/24",
                .map([
                    ("city", .map([("names", .map([("en", text)]))])),
                    ("country", .map([("names", .map([("en", .text("Germany"))]))])),
                ]))
            let opened = try Opened(writer.file)
            #expect(opened.places.place(of: "203.0.113.7")?.text(in: nil) == "Germany", "\(text)")
            #expect(opened.log.entries.isEmpty)
        }
    }

    @Test(
        "A file that cannot be used is refused at the start, with its name and what to do",
        arguments: ["missing", "folder", "pipe", "empty", "text", "cut by one", "cut in half", "two bytes"])
    func unusable(_ harm: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("places.mmdb")
        let file = try Self.sample().file
        var what = "is not a whole file in MaxMind DB format"
        switch harm {
        case "missing": what = "cannot be read"
        case "folder":
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            what = "cannot be read"
        case "pipe":
            #expect(mkfifo(path, 0o600) == 0)
            what = "cannot be read"
        case "empty": _ = try folder.write("places.mmdb", [])
        case "text": _ = try folder.write("places.mmdb", "Berlin\n".utf8)
        case "cut by one": _ = try folder.write("places.mmdb", file.dropLast())
        case "cut in half": _ = try folder.write("places.mmdb", file.prefix(file.count / 2))
        default: _ = try folder.write("places.mmdb", file.prefix(2))
        }
        let refusals = [
            #expect(throws: StartError.self) { try PlacesDatabase(path) },
            #expect(throws: StartError.self) {
                try PlacesFile(path, copiedTo: folder.path("copy"), logger: LogBook().logger)
            },
        ]
        for refusal in refusals {
            let text = try #require(refusal).description
            #expect(text.hasPrefix("\(path) \(what)") && text.contains("places_database"), "\(text)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path("copy")))
    }

    @Test("Where a copy cannot be made, addresses stand alone until it can; the log says so once")
    func noCopy() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("places.mmdb", Self.sample().file)
        let copy = folder.path("missing/copy")
        let log = LogBook()
        let places = try PlacesFile(path, copiedTo: copy, logger: log.logger, resting: .milliseconds(1))
        let told = [
            """
            error places not read error=\(path) cannot be copied to \(copy). Make room there, or mend the rights of the \
            folder; until then addresses stand alone, or keep the places that they had.
            """
        ]
        #expect(log.entries == told && places.place(of: "203.0.113.7") == nil)
        try await withThrowingTaskGroup { group in
            group.addTask { try await places.watch() }
            // Two attempts more.
            try await Task.sleep(for: .seconds(5))
            #expect(log.entries == told)
            try FileManager.default.createDirectory(
                atPath: folder.path("missing"), withIntermediateDirectories: false)
            while places.place(of: "203.0.113.7") == nil { try await Task.sleep(for: .milliseconds(20)) }
            group.cancelAll()
        }
        #expect(log.entries.count == 2 && log.entries[1].hasPrefix("notice places read"))
    }

    @Test("A file that no database of places can be is not copied")
    func tooLarge() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("places.mmdb", [])
        // It takes no room on the disk.
        #expect(truncate(path, 1 << 30 + 1) == 0)
        #expect(
            throws: StartError("\(path) is larger than 1 GiB. places_database must name a file in MaxMind DB format.")
        ) {
            try PlacesFile(path, copiedTo: folder.path("copy"), logger: LogBook().logger)
        }
    }

    @Test("A file with any byte changed is refused or read, and never ends the process")
    func changedBytes() throws {
        let folder = try TemporaryFolder()
        let file = try Self.sample().file
        let addresses = ["203.0.113.7", "198.51.100.7", "198.51.100.230", "2001:db8:1::7", "2001:db8:2::7", "9.9.9.9"]
            .compactMap { IPAddress($0) }
        var read = 0
        var generator = SeededGenerator.announced(by: "a changed database of places")
        for index in file.indices {
            for change in [0xFF, 0x80, 0x01, UInt8.random(in: 1...255, using: &generator)] as [UInt8] {
                var changed = file
                changed[index] ^= change
                let path = try folder.write("changed.mmdb", changed)
                guard let database = try? PlacesDatabase(path) else { continue }
                for address in addresses { _ = try? database.place(of: address) }
                read += 1
            }
        }
        #expect(read > 0)
    }

    @Test("Damage inside is logged once, and other addresses keep their places")
    func damage() throws {
        var writer = try Self.sample()
        // A text that is longer than the file.
        try writer.add("192.0.2.0/24", .map([("city", .raw([2 << 5 | 31, 0xFF, 0xFF, 0xFF]))]))
        let opened = try Opened(writer.file)
        for _ in 0..<3 { #expect(opened.places.place(of: "192.0.2.1") == nil) }
        #expect(opened.places.place(of: "203.0.113.7")?.countryCode == "DE")
        #expect(
            opened.log.entries == [
                "error the database of places is damaged: where it is, addresses stand alone file=\(opened.path)"
            ])
    }

    @Test("A new file is read without a restart; a bad one leaves the earlier in use, and the log says why")
    func reload() async throws {
        let opened = try Opened(Self.sample().file)
        func city() -> String? { opened.places.place(of: "203.0.113.7")?.text(in: nil) }
        var moved = PlacesWriter()
        try moved.add("203.0.113.0/24", .place(("Lisbon", nil), nil))
        try await withThrowingTaskGroup { group in
            group.addTask { try await opened.places.watch() }
            try opened.replace(by: moved.file)
            while city() != "Lisbon" { try await Task.sleep(for: .milliseconds(20)) }
            #expect(opened.log.entries == ["notice places read file=\(opened.path) type=Test-City"])
            // Shortened where it is, as by a full disk: what is in use is a copy.
            try FileHandle(forWritingTo: URL(filePath: opened.path)).truncate(atOffset: 100)
            while opened.log.entries.count < 2 {
                #expect(city() == "Lisbon")
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(
                opened.log.entries[1].hasPrefix("error places not changed error=\(opened.path) is not a whole file"))
            #expect(city() == "Lisbon")
            try FileManager.default.removeItem(atPath: opened.path)
            while opened.log.entries.count < 3 { try await Task.sleep(for: .milliseconds(20)) }
            #expect(opened.log.entries[2].contains("cannot be read") && city() == "Lisbon")
            try opened.replace(by: Self.sample().file)
            while city() != "Cologne, Germany" { try await Task.sleep(for: .milliseconds(20)) }
            group.cancelAll()
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: try #require(opened.folder).url.path)
        #expect(left == ["places.mmdb"])
    }

    @Test(
        "mmdblookup finds the same names in the file",
        .enabled(if: Program.path(of: "mmdblookup") != nil, "mmdblookup is not installed"))
    func peer() async throws {
        let opened = try Opened(Self.sample().file)
        let program = try #require(Program.path(of: "mmdblookup"))
        for (address, path, text) in [
            ("203.0.113.7", ["city", "names", "de"], "Köln"), ("203.0.113.7", ["country", "iso_code"], "DE"),
            ("2001:db8:1::7", ["city", "names", "de"], "Lissabon"),
        ] {
            let result = try await RunningProgram.run(
                program, ["--file", opened.path, "--ip", address] + path, environment: ["LC_ALL": "C.UTF-8"])
            #expect(result.status == 0 && result.output.contains("\"\(text)\" <utf8_string>"), "\(result)")
        }
    }
}
