import CountersignCore
import CountersignStorage
import Foundation
import StorageTestSupport
import Synchronization
import TestSupport
import Testing

/// Two nodes on one database, of which the second does something whole while the first stands before one of the
/// statements of its own transaction.
struct Interleaving: Sendable {
    /// Something a node does, and what it tells its caller.
    typealias Operation = @Sendable (Ports) async throws -> String

    /// The first node.
    let world: World
    private let second: World
    private let pause: Pause

    init() async throws {
        let pause = Pause()
        let database = try await PostgresDatabase.make()
        let time = ScriptedTime()
        let folder = try TemporaryFolder()
        world = try await World(.postgresql, in: folder, of: database, time: time, seed: 1) { engine in
            RecordingEngine(engine, beforeStatement: pause.reach)
        }
        second = try await World(.postgresql, in: folder, of: database, time: time, seed: 2)
        self.pause = pause
    }

    /// Has the second operation done before each statement of the first in turn, each time in a scene of its own.
    ///
    /// - Parameters:
    ///   - prepare: sets the scene.
    ///   - judge: is given what both were told.
    /// - Returns: before how many statements.
    func everywhere<Scene: Sendable>(
        _ prepare: (World) async throws -> (scene: Scene, first: Operation, second: Operation),
        judge: (Scene, (first: String, second: String), Comment) async throws -> Void
    ) async throws -> Int {
        var number = 1
        while true {
            let (scene, first, second) = try await prepare(world)
            // The scene may have had keys made that sign tokens.
            try await self.second.store.refreshKeys()
            pause.set(before: number)
            let late = Task { [world] in
                defer { pause.end() }
                return try await first(world.ports)
            }
            guard await pause.isReached() else {
                _ = try await late.value
                return number - 1
            }
            let early = Task {
                // It may have to wait for the first, which then goes on after a while.
                defer { pause.end() }
                return try await second(self.second.ports)
            }
            let told = (first: try await late.value, second: try await early.value)
            try await judge(scene, told, "before statement \(number): \(told)")
            number += 1
        }
    }
}

/// Holds a transaction up before one of its statements, once.
private final class Pause: Sendable {
    /// For how long at most, in seconds: whoever waits for a lock that the transaction holds waits for ever.
    private static let longest = 0.15

    private struct State {
        var place: Int?
        var isReached = false
        var isOver = false
    }

    private let state = Mutex(State())

    func set(before place: Int) {
        state.withLock { $0 = State(place: place) }
    }

    /// Waits, on the thread of the connection, when this is the place.
    func reach(_ number: Int) {
        let isHere = state.withLock { state in
            guard state.place == number else { return false }
            state.place = nil
            state.isReached = true
            return true
        }
        guard isHere else { return }
        let end = ContinuousClock.now + .seconds(Self.longest)
        while !state.withLock(\.isOver), ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// Whoever waits goes on.
    func end() {
        state.withLock { $0.isOver = true }
    }

    /// Waits until the place is reached; false when the transaction ended before.
    func isReached() async -> Bool {
        while true {
            let (isReached, isOver) = state.withLock { ($0.isReached, $0.isOver) }
            if isReached || isOver { return isReached }
            await Task.yield()
        }
    }
}
