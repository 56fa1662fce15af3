extension Result where Failure == any Error {
    /// What comes of something that takes time.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
