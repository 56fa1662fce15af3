import Foundation
import Synchronization

/// One of PostgreSQL's client programs, such as `pg_dump`.
struct PostgresProgram {
    private let name: String
    private let path: String
    private let environment: [String: String]

    /// Finds a program on the search path, and checks that it is not older than the server.
    ///
    /// - Parameters:
    ///   - name: the name of the program.
    ///   - connection: the connection whose server and user the program will use.
    /// - Throws: ``BackupFailure`` when there is none, or when it is too old.
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
        // The environment follows from the connection itself, not from the variables that it was made from, and
        // contains no secret of the server.
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

    /// Runs the program to its end.
    ///
    /// - Parameters:
    ///   - arguments: its arguments, which must not be secret, because every user can see them.
    ///   - output: the file descriptor for its output.
    /// - Throws: ``BackupFailure``.
    func run(_ arguments: [String], output: Int32) throws(BackupFailure) {
        let process = process(arguments)
        process.standardOutput = FileHandle(fileDescriptor: output, closeOnDealloc: false)
        try finish(process) {}
    }

    /// Runs the program to its end, and passes on its output as it arrives.
    ///
    /// - Parameters:
    ///   - arguments: its arguments, which must not be secret, because every user can see them.
    ///   - silence: after how many seconds without output the program is killed; nil for never.
    ///   - read: takes the output.
    /// - Throws: ``BackupFailure``.
    func run(
        _ arguments: [String], silentFor silence: Int32? = nil, read: (Data) -> Void = { _ in }
    ) throws(BackupFailure) {
        let process = process(arguments)
        let pipe = Pipe()
        process.standardOutput = pipe
        var isKilled = false
        do {
            try finish(process) {
                let output = pipe.fileHandleForReading
                while true {
                    if let silence, !hasData(output, within: silence) {
                        isKilled = true
                        kill(process.processIdentifier, SIGKILL)
                        return
                    }
                    let data = nextData(of: output)
                    guard !data.isEmpty else { return }
                    read(data)
                }
            }
        } catch {
            guard isKilled, let silence else { throw error }
            throw BackupFailure(description: "\(name) wrote nothing for \(silence) seconds, and was ended.")
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
        // A file and not a pipe, because nobody reads until the program ends and a pipe would fill up.
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

/// While a program runs, passes a request to end this process on to the program, so that unfinished files can be
/// removed.
///
/// Only one program may run at a time.
private enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]
    private static let program = Atomic<Int32>(0)
    private static let happened = Atomic<Bool>(false)

    /// From now on, signals do not end this process.
    static func begin() {
        // Initialises the values before any signal handler uses them, because a handler must not block.
        program.store(0, ordering: .sequentiallyConsistent)
        happened.store(false, ordering: .sequentiallyConsistent)
        for number in signals {
            // A handler instead of SIG_IGN, because a child process would inherit SIG_IGN.
            _ = signal(number) { _ in
                Interruption.happened.store(true, ordering: .sequentiallyConsistent)
                Interruption.pass()
            }
        }
    }

    /// Sets the program to end on a signal; ends it at once when a signal has already come.
    static func watch(_ id: Int32) {
        program.store(id, ordering: .sequentiallyConsistent)
        if happened.load(ordering: .sequentiallyConsistent) { pass() }
    }

    private static func pass() {
        let id = program.load(ordering: .sequentiallyConsistent)
        // Other signals may be blocked in the program, as they are on the thread that started it; SIGKILL cannot be.
        if id > 0 { kill(id, SIGKILL) }
    }

    /// From now on, signals end this process again.
    ///
    /// - Returns: whether a signal came.
    static func end() -> Bool {
        for number in signals { _ = signal(number, SIG_DFL) }
        program.store(0, ordering: .sequentiallyConsistent)
        return happened.load(ordering: .sequentiallyConsistent)
    }
}
