/// Takes the access token of a sign-in, or "" where there is none, and the error, or nil for a success.
///
/// The error is a ``CotterError``. It is called once, on the main actor.
public typealias FinalAuthCallback = @MainActor (_ token: String, _ error: (any Error)?) -> Void

/// Takes the tokens of a sign-in, or the error, which is a ``CotterError``; one of the two is nil.
///
/// It is called once, on the main actor.
public typealias CotterAuthCallback = @MainActor (_ token: CotterOAuthToken?, _ error: (any Error)?) -> Void

/// What came of a call.
public typealias CotterResult<Value> = Result<Value, CotterError>

/// Takes what came of a call; it is called once, on the main actor.
public typealias ResultCallback<Value> = @MainActor (CotterResult<Value>) -> Void

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Does nothing, and logs nothing.
public func DoNothingCallback(_ token: CotterOAuthToken?, _ error: (any Error)?) {}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Does nothing, and logs nothing.
public func DefaultResultCallback<Value>(resp: CotterResult<Value>) {}

/// Calls a callback of a ``Cotter`` once, whatever comes of the work.
@MainActor
func tell(_ callback: FinalAuthCallback?, of work: @escaping @MainActor () async throws -> String) {
    tell(of: work) { result in
        switch result {
        case .success(let token): callback?(token, nil)
        case .failure(let error): callback?("", error)
        }
    }
}

/// Calls a callback once, whatever comes of the work.
@MainActor
func tell<Value: Sendable>(
    of work: @escaping @MainActor () async throws -> Value, _ callback: @escaping ResultCallback<Value>
) {
    Task {
        let result: CotterResult<Value>
        do { result = .success(try await work()) } catch { result = .failure(CotterError(cause: error)) }
        callback(result)
    }
}
