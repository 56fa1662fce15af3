public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import Synchronization
#endif

/// A request on its way to the server.
public struct TransportRequest: Sendable {
    /// The method, in upper case.
    public var method: String
    /// The absolute URL.
    public var url: URL
    /// Header fields.
    public var headers: [String: String]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// How long to wait for the answer, in seconds.
    public var timeout: TimeInterval

    /// A request of these parts.
    public init(
        method: String, url: URL, headers: [String: String] = [:], body: [UInt8]? = nil, timeout: TimeInterval
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
    }
}

/// A response of the server.
public struct TransportResponse: Sendable {
    /// The status.
    public var status: Int
    /// Header fields, their names in lower case.
    public var headers: [String: String]
    /// The body.
    public var body: [UInt8]

    /// A response of these parts.
    public init(status: Int, headers: [String: String], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// Sends requests to the server.
///
/// Implement your own to pin certificates or to use a proxy.
public protocol Transport: Sendable {
    /// Sends a request and returns the response, whatever its status.
    ///
    /// It must not follow redirects.
    ///
    /// - Throws: when there is no response.
    func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// Sends requests with `URLSession`.
///
/// On systems other than Apple's, a request with a body gets its own connection. There, Foundation repeats a request
/// without its body if a reused connection turns out to be broken, and the server waits for the body in vain.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let receiver: Receiver

    /// A transport without cache and cookies.
    public convenience init() {
        #if canImport(FoundationNetworking)
            self.init(systemCompletes: false)
        #else
            self.init(systemCompletes: true)
        #endif
    }

    /// A transport whose tasks the system completes by itself, or not.
    ///
    /// Apple's Foundation does. On other systems Foundation never completes such a task if the response asks for a
    /// password, and follows redirects in it; there tests alone take that way, since apps on Apple's systems do.
    package init(systemCompletes: Bool) {
        receiver = Receiver(systemCompletes: systemCompletes)
        session = Self.makeSession(for: receiver)
    }

    private static func makeSession(for receiver: Receiver) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        return URLSession(configuration: configuration, delegate: receiver, delegateQueue: nil)
    }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// See ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var native = URLRequest(url: request.url, timeoutInterval: request.timeout)
        native.httpMethod = request.method
        for (name, value) in request.headers { native.setValue(value, forHTTPHeaderField: name) }
        native.httpBody = request.body.map { Data($0) }
        #if canImport(FoundationNetworking)
            let receiver =
                request.body == nil ? self.receiver : Receiver(systemCompletes: self.receiver.systemCompletes)
            let session = request.body == nil ? self.session : Self.makeSession(for: receiver)
            defer { if session !== self.session { session.finishTasksAndInvalidate() } }
            if session !== self.session { native.setValue("close", forHTTPHeaderField: "Connection") }
        #endif
        let (data, response) = try await answer(to: native, in: session, by: receiver)
        guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
            headers["\(name)".lowercased()] = "\(value)"
        }
        return TransportResponse(status: response.statusCode, headers: headers, body: Array(data))
    }

    /// Does what `URLSession.data(for:)` does.
    ///
    /// On Linux that method can block for ever when a request is cancelled while its response arrives: it cancels by
    /// waiting for a queue, and holds a lock that the same queue needs to deliver the response. Cancelling here waits
    /// for nothing.
    private func answer(
        to request: URLRequest, in session: URLSession, by receiver: Receiver
    ) async throws -> (Data, URLResponse) {
        let (answers, announce) = AsyncThrowingStream.makeStream(of: (Data, URLResponse).self)
        let task = receiver.task(for: request, in: session) { data, response, error in
            if let data, let response { announce.yield((data, response)) }
            announce.finish(throwing: error)
        }
        task.resume()
        return try await withTaskCancellationHandler {
            for try await answer in answers { return answer }
            throw CancellationError()
        } onCancel: {
            DispatchQueue.global().async { task.cancel() }
        }
    }

    /// Takes responses as they are: follows no redirect, and asks nobody for a password.
    private final class Receiver: NSObject, URLSessionDataDelegate, Sendable {
        typealias Completion = @Sendable (Data?, URLResponse?, (any Error)?) -> Void

        let systemCompletes: Bool

        init(systemCompletes: Bool) { self.systemCompletes = systemCompletes }

        /// A task that the system completes, or this object.
        func task(
            for request: URLRequest, in session: URLSession, _ completion: @escaping Completion
        ) -> URLSessionDataTask {
            #if canImport(FoundationNetworking)
                if !systemCompletes {
                    let task = session.dataTask(with: request)
                    open.withLock { $0[task.taskIdentifier] = (Data(), completion) }
                    return task
                }
            #endif
            return session.dataTask(with: request, completionHandler: completion)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }

        #if canImport(FoundationNetworking)
            /// The tasks that this object completes, with what has come of their bodies, by their identifiers.
            private let open = Mutex<[Int: (body: Data, completion: Completion)]>([:])

            func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
                open.withLock { $0[dataTask.taskIdentifier]?.body.append(data) }
            }

            func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
                complete(task, with: task.response, error)
            }

            func urlSession(
                _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
                completionHandler:
                    @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
            ) {
                complete(task, with: challenge.failureResponse, nil)
                completionHandler(.cancelAuthenticationChallenge, nil)
            }

            private func complete(_ task: URLSessionTask, with response: URLResponse?, _ error: (any Error)?) {
                let found = open.withLock { $0.removeValue(forKey: task.taskIdentifier) }
                found?.completion(error == nil ? found?.body : nil, response, error)
            }
        #endif
    }
}
