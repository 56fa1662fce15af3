/// Limits how many tests use an expensive resource at once, such as a server or a process.
///
/// All tests run in parallel. Hundreds of servers at once would need more files than a process may open.
package actor Turnstile {
    @TaskLocal private static var isInside = false
    private static let shared = Turnstile(places: 8)

    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    private init(places: Int) {
        free = places
    }

    /// Runs the body when there is a place, which it keeps until it ends; a nested call uses the place of the outer
    /// one.
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
        // The task that leaves passes its place on.
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
    }
}
