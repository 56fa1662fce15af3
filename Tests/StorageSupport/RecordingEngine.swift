package import CountersignCore
package import CountersignStorage
package import CountersignWire
import Synchronization
import TestSupport

/// An engine that records every statement that runs on another engine.
package final class RecordingEngine: SQLEngine {
    /// A statement that ran.
    package struct Run: Sendable {
        package let statement: SQLStatement
        /// Its arguments.
        package let arguments: [SQLValue]
        /// How many rows it brought back or changed; nil where it failed, or nobody needs to know.
        package let rows: Int?
    }

    private let engine: any SQLEngine
    /// How many statements ran, in how many transactions.
    package struct Cost: Hashable, Sendable {
        package var statements = 0
        package var reads = 0
        package var writes = 0

        /// No statement in no transaction.
        package init() {}
    }

    private let counted = Mutex(Cost())
    private let ran = Mutex<[Run]>([])

    private let beforeWrite: @Sendable (Int) async throws -> Void
    private let beforeStatement: @Sendable (Int) -> Void
    private let beforeCommit: @Sendable (any SQLConnection) throws -> Void
    private let writes = Mutex(0)

    /// Creates a recorder for an engine.
    ///
    /// - Parameters:
    ///   - engine: the engine.
    ///   - beforeWrite: runs before each write, with the write's number, which begins with 1; it can simulate
    ///     concurrent writes.
    ///   - beforeStatement: runs before each statement of a write, with the statement's number within the write, which
    ///     begins with 1.
    ///   - beforeCommit: runs after all statements of a write.
    package init(
        _ engine: any SQLEngine, beforeWrite: @escaping @Sendable (Int) async throws -> Void = { _ in },
        beforeStatement: @escaping @Sendable (Int) -> Void = { _ in },
        beforeCommit: @escaping @Sendable (any SQLConnection) throws -> Void = { _ in }
    ) {
        self.beforeCommit = beforeCommit
        self.engine = engine
        self.beforeWrite = beforeWrite
        self.beforeStatement = beforeStatement
    }

    /// The statements that ran since the last call, each once, in the order of their texts.
    package func take() -> [Run] {
        Dictionary(takeAll().map { ($0.statement.text, $0) }) { $1 }
            .values.sorted { $0.statement.text < $1.statement.text }
    }

    /// All statements that ran since the last call, in their order, each as text with the lengths of the texts and
    /// bytes that it was given.
    ///
    /// - Parameter withRows: whether each also says how many rows it brought back or changed. An operation learns from
    ///   nothing else what there is, so that it also computes the same, hashes among it, where these are the same.
    package func takeTexts(withRows: Bool = false) -> [String] {
        takeAll().map { run in
            let lengths = run.arguments.map { argument in
                switch argument {
                case .blob(let bytes): "\(bytes.count)"
                case .text(let text): "\(text.utf8.count)"
                default: "-"
                }
            }
            let text = "\(run.statement.text) \(lengths.joined(separator: " "))"
            return withRows ? "\(text): \(run.rows.map { "\($0)" } ?? "-")" : text
        }
    }

    private func takeAll() -> [Run] {
        ran.withLock { ran in
            defer { ran = [] }
            return ran
        }
    }

    /// What ran since the last call.
    package func takeCost() -> Cost {
        counted.withLock { cost in
            defer { cost = Cost() }
            return cost
        }
    }

    package var dialect: SQLDialect { engine.dialect }

    package var changes: any ChangeNotifier { engine.changes }

    package var commitCount: CommitCount { engine.commitCount }

    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> Result
    ) async throws -> Result {
        counted.withLock { $0.reads += 1 }
        return try await engine.read { try body(RecordingConnection($0, of: self)) }
    }

    package func write<Result: Sendable>(
        _ body: @escaping @Sendable (any SQLConnection) throws -> (Result, changes: [ChangeTopic])
    ) async throws -> Result {
        let number = writes.withLock { writes in
            writes += 1
            return writes
        }
        counted.withLock { $0.writes += 1 }
        try await beforeWrite(number)
        return try await engine.write { [beforeStatement, beforeCommit] connection in
            let result = try body(RecordingConnection(connection, of: self, before: beforeStatement))
            try beforeCommit(connection)
            return result
        }
    }

    package func exclusively<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
        try await engine.exclusively(body)
    }

    package func takesTurn(at work: String, for turn: Seconds) async throws -> Bool {
        try await engine.takesTurn(at: work, for: turn)
    }

    fileprivate func record(_ run: Run) {
        counted.withLock { $0.statements += 1 }
        ran.withLock { $0.append(run) }
    }
}

extension World {
    /// A world on the engine that was chosen, with what records its statements.
    package static func recorded() async throws -> (world: World, recorder: RecordingEngine) {
        var recorder: RecordingEngine?
        let world = try await World(.chosen, in: try TemporaryFolder(), time: ScriptedTime(), seed: 1) { engine in
            let recording = RecordingEngine(engine)
            recorder = recording
            return recording
        }
        guard let recorder else { throw Broken("recorder") }
        return (world, recorder)
    }
}

private final class RecordingConnection: SQLConnection {
    private let connection: any SQLConnection
    private let engine: RecordingEngine
    private let before: (Int) -> Void
    private var number = 0

    init(_ connection: any SQLConnection, of engine: RecordingEngine, before: @escaping (Int) -> Void = { _ in }) {
        self.connection = connection
        self.engine = engine
        self.before = before
    }

    func rows(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> [SQLRow] {
        try noting(statement, arguments) {
            let rows = try connection.rows(statement, arguments)
            return (rows, rows.count)
        }
    }

    func execute(_ statement: SQLStatement, _ arguments: [SQLValue]) throws -> Int {
        try noting(statement, arguments) {
            let changed = try connection.execute(statement, arguments)
            return (changed, changed)
        }
    }

    func send(_ statement: SQLStatement, _ arguments: [SQLValue]) throws {
        try noting(statement, arguments) {
            try connection.send(statement, arguments)
            return ((), nil)
        }
    }

    var hasNumber: Bool { connection.hasNumber }

    private func noting<Result>(
        _ statement: SQLStatement, _ arguments: [SQLValue], _ body: () throws -> (Result, rows: Int?)
    ) throws -> Result {
        number += 1
        before(number)
        var rows: Int?
        defer { engine.record(RecordingEngine.Run(statement: statement, arguments: arguments, rows: rows)) }
        let (result, count) = try body()
        rows = count
        return result
    }
}
