/// Lets few tests at once have what is dear: a server, a process.
///
/// Tests run side by side, as many as there are; hundreds of servers at once would need more files than a process may
/// open.
package actor Turnstile {
    @TaskLocal private static var isInside = false
    private static let shared = Turnstile(places: 8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(places: Int) {
        free = places
    }

    /// Does something when there is a place, which it keeps to its end; at once when it is done from within another.
    package static func pass<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async rethrows -> Result {
        if isInside { return try await body() }
        await shared.enter()
        do {
            let result = try await $isInside.withValue(true) { try await body() }
            await shared.leave()
            return result
        } catch {
            await shared.leave()
            throw error
        }
    }

    private func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        // Whoever leaves hands over the place.
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
