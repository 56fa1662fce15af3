import Countersign
import CountersignWire
import Encodings
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Takes pushes on this machine, as a phone's system takes them from Apple or Google.
struct PushListener: Sendable {
    /// The received pushes in order; for one reader.
    let pushes: AsyncStream<PushNotification>
    private let arrive: AsyncStream<PushNotification>.Continuation
    /// A random path, so that only those who received the address can post to it.
    private let path = Hex.encode((0..<16).map { _ in UInt8.random(in: .min ... .max) })

    init() {
        (pushes, arrive) = AsyncStream.makeStream()
    }

    /// Listens until the task is cancelled.
    ///
    /// - Parameter ready: receives the address once the listener accepts pushes.
    func run(_ ready: @escaping @Sendable (LocalPushAddress) -> Void) async throws {
        let router = Router()
        router.post("/\(path)") { [arrive] request, _ in
            let body = try await request.body.collect(upTo: PushEnvelope.maximumPayloadSize)
            guard let push = PushNotification(json: Array(body.readableBytesView)) else {
                throw HTTPError(.badRequest)
            }
            arrive.yield(push)
            return Response(status: .ok)
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { [path] channel in
                guard let port = channel.localAddress?.port.flatMap({ UInt16(exactly: $0) }),
                    let address = LocalPushAddress(port: port, path: path)
                else { return }
                ready(address)
            }, logger: Logger(label: "pushes") { _ in SwiftLogNoOpLogHandler() })
        try await application.run()
    }
}
