import Foundation
import Synchronization

/// One of the programs that come with PostgreSQL, such as `pg_dump`.
struct PostgresProgram {
    private let name: String
    private let path: String
    private let environment: [String: String]

    /// A program on the search path that is made for servers of a version.
    ///
    /// - Parameters:
    ///   - name: the program.
    ///   - connection: what it connects as, and to.
    init(_ name: String, for connection: PostgresConnection) throws(BackupFailure) {
        let needed = connection.serverVersion / 10_000
        let install = "Install PostgreSQL's client programs, of version \(needed) or newer (Debian: postgresql-client)."
        let inherited = ProcessInfo.processInfo.environment
        let folders = (inherited["PATH"] ?? "").split(separator: ":").map(String.init)
        let places = folders.map { "\($0)/\(name)" }
        guard let path = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw BackupFailure(description: "\(name) is not on the search path. \(install)")
        }
        self.name = name
        self.path = path
        // What the connection was made with counts, not what it was made of; and no secret of the server's own.
        environment = inherited.filter { !$0.key.hasPrefix("PG") && !$0.key.hasPrefix("COUNTERSIGN_") }
            .merging(connection.environment) { $1 }
        var version = ""
        try run(["--version"]) { version += String(decoding: $0, as: UTF8.self) }
        guard let major = version.firstMatch(of: #/PostgreSQL\) ([0-9]+)/#).flatMap({ Int($0.output.1) }) else {
            throw BackupFailure(description: "\(path) does not say its version. \(install)")
        }
        guard major >= needed else {
            throw BackupFailure(
                description: "\(path) is of version \(major), and the server of version \(needed). \(install)")
        }
    }

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - arguments: what it is given; nothing secret, because everybody sees it.
    ///   - output: the descriptor of a file that it writes to.
    func run(_ arguments: [String], output: Int32) throws(BackupFailure) {
        let process = process(arguments)
        process.standardOutput = FileHandle(fileDescriptor: output, closeOnDealloc: false)
        try finish(process) {}
    }

    /// Runs it to its end, and reads what it prints as it comes.
    func run(_ arguments: [String], read: (Data) -> Void = { _ in }) throws(BackupFailure) {
        let process = process(arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        try finish(process) {
            while case let data = nextData(of: pipe.fileHandleForReading), !data.isEmpty { read(data) }
        }
    }

    private func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private func finish(_ process: Process, _ meanwhile: () -> Void) throws(BackupFailure) {
        // Not a pipe, which fills up when nobody reads it.
        let complaints = FileManager.default.temporaryDirectory.appending(path: "countersign-\(UUID()).log")
        let file = open(complaints.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BackupFailure(description: "\(complaints.path) cannot be written.") }
        defer { close(file) }
        unlink(complaints.path)
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: false)
        process.standardError = handle
        Interruption.begin()
        do {
            try process.run()
        } catch {
            _ = Interruption.end()
            throw BackupFailure(description: "\(path) cannot be run: \(error.localizedDescription)")
        }
        Interruption.watch(process.processIdentifier)
        meanwhile()
        process.waitUntilExit()
        guard !Interruption.end() else { throw BackupFailure(description: "It was interrupted.") }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            try? handle.seek(toOffset: 0)
            let text = String(decoding: allData(of: handle), as: UTF8.self)
            let lines = text.split(whereSeparator: \.isNewline).prefix(5).joined(separator: "; ")
            throw BackupFailure(
                description: "\(name) failed (\(process.terminationStatus)): \(lines.isEmpty ? "no words" : lines)")
        }
    }
}

/// Ends a program in the place of this process, when that is asked to end: then what is half done can be taken back.
///
/// A process does one such thing at a time.
private enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let program = Atomic<Int32>(0)
    private static let happened = Atomic<Bool>(false)

    /// From now on signals do not end this process.
    static func begin() {
        // Made before a handler needs them, which may wait for nothing.
        program.store(0, ordering: .sequentiallyConsistent)
        happened.store(false, ordering: .sequentiallyConsistent)
        for number in signals {
            // A handler, and not to ignore them: a program that is run would ignore them, too.
            _ = signal(number) { _ in
                Interruption.happened.store(true, ordering: .sequentiallyConsistent)
                Interruption.pass()
            }
        }
    }

    /// Lets a program be ended that was started since.
    static func watch(_ id: Int32) {
        program.store(id, ordering: .sequentiallyConsistent)
        if happened.load(ordering: .sequentiallyConsistent) { pass() }
    }

    private static func pass() {
        let id = program.load(ordering: .sequentiallyConsistent)
        // Others may be blocked in it, as they are on the thread that started it.
        if id > 0 { kill(id, SIGKILL) }
    }

    /// Signals end this process again.
    ///
    /// - Returns: whether one came.
    static func end() -> Bool {
        for number in signals { _ = signal(number, SIG_DFL) }
        program.store(0, ordering: .sequentiallyConsistent)
        return happened.load(ordering: .sequentiallyConsistent)
    }
}
