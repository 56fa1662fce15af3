import BenchmarkSupport
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// A minimal receiver of callbacks, which only records when each arrives.
final class CallbackReceiver: Sendable {
    private let noted = Mutex<[String]>([])

    /// Listens, prints its port, and at the end of its input prints the arrivals.
    static func run() async throws {
        let receiver = CallbackReceiver()
        let server = try await HTTPReceiver { head, _ in
            receiver.note(head.headers.first(name: "webhook-id") ?? "")
            return ByteBuffer()
        }
        print(server.port)
        fflush(nil)
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.resume()
            }
        }
        try await server.close()
        let lines = receiver.noted.withLock { $0 }
        FileHandle.standardOutput.write(Data(lines.map { $0 + "\n" }.joined().utf8))
    }

    private func note(_ id: String) {
        let line = "\(id) \(nanoseconds())"
        noted.withLock { $0.append(line) }
    }
}
