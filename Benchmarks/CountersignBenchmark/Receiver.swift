import BenchmarkSupport
import Encodings
import NIOCore
import NIOHTTP1
import Synchronization

/// The relying party's own server: a hook that always agrees, and a receiver of callbacks.
final class Receiver: Sendable {
    private struct State {
        var ended: Set<String> = []
        var waiting: [String: CheckedContinuation<Void, Never>] = [:]
    }

    private let server: HTTPReceiver
    private let calls: Calls

    private final class Calls: Sendable {
        let state = Mutex(State())

        func note(_ body: ByteBuffer) {
            let call = try? JSONValue(parsing: Array(body.readableBytesView))
            guard let id = call?["challenge"]?["id"]?.string else { return }
            state.withLock { state in
                if let waiting = state.waiting.removeValue(forKey: id) {
                    waiting.resume()
                } else {
                    state.ended.insert(id)
                }
            }
        }
    }

    init() async throws {
        let calls = Calls()
        server = try await HTTPReceiver { head, body in
            guard head.uri == "/callback" else { return ByteBuffer(string: #"{"result":"ok"}"#) }
            calls.note(body)
            return ByteBuffer()
        }
        self.calls = calls
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(server.port)\(path)" }

    /// Waits for the callback about the end of a challenge, or until the task is cancelled.
    func end(of id: String) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                calls.state.withLock { state in
                    if state.ended.remove(id) != nil || Task.isCancelled {
                        continuation.resume()
                    } else {
                        state.waiting[id] = continuation
                    }
                }
            }
        } onCancel: {
            calls.state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
