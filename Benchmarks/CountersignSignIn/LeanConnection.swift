import BenchmarkSupport
import CountersignWire
import Foundation

/// A request as the bytes that are sent.
struct PreparedRequest: Sendable {
    let bytes: [UInt8]
    /// After this it is not sent any more; nil for no such time.
    var notAfter: ContinuousClock.Instant?

    /// A request with these fields.
    ///
    /// - Parameters:
    ///   - path: the path, with its query.
    ///   - host: the host, with its port.
    ///   - fields: further header fields.
    ///   - form: the form to post; nil to get.
    init(_ path: String, at host: String, _ fields: [(String, String)] = [], form: [(String, String)]? = nil) {
        let body = form.map(FormText.encoded) ?? ""
        var head = "\(form == nil ? "GET" : "POST") \(path) HTTP/1.1\r\nHost: \(host)\r\n"
        if form != nil {
            head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(body.utf8.count)\r\n"
        }
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        bytes = Array("\(head)\r\n\(body)".utf8)
    }
}

/// A reply as it came.
struct PlainReply: Sendable {
    let status: Int
    private let bytes: [UInt8]
    private let bodyStart: Int

    var body: [UInt8] { Array(bytes[bodyStart...]) }

    /// Reads a reply; nil if it has no status.
    init?(_ bytes: [UInt8], bodyStart: Int) {
        // The status follows `HTTP/1.1 `.
        guard let status = Int(String(decoding: bytes.dropFirst(9).prefix(3), as: UTF8.self)) else { return nil }
        (self.status, self.bytes, self.bodyStart) = (status, bytes, bodyStart)
    }

    /// The value of a header field; nil if there is none.
    func field(_ name: String) -> String? { Self.field(name, in: bytes[..<bodyStart]) }

    fileprivate static func field(_ name: String, in head: ArraySlice<UInt8>) -> String? {
        for line in head.split(separator: UInt8(ascii: "\n")) {
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon - line.startIndex == name.utf8.count,
                String(decoding: line[..<colon], as: UTF8.self).lowercased() == name
            else { continue }
            return String(decoding: line[(colon + 1)...], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        return nil
    }
}

/// A connection that sends one request after the other, and waits for each reply.
///
/// It blocks its thread, and copies bytes: the generator shall take as little as it can of the processors, which the
/// server needs as well.
struct LeanConnection: Sendable {
    private static let lineFeed = UInt8(ascii: "\n")

    private let descriptor: Int32

    /// Connects to a server on this machine.
    init(toPort port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard status == 0 else { throw Self.failure("connect") }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Closes the connection.
    func end() { close(descriptor) }

    /// Sends a request, and returns the reply, whatever its status.
    func exchange(_ request: PreparedRequest) throws -> PlainReply {
        try send(request.bytes)
        var received = try receive()
        var bodyStart = Self.headEnd(of: received)
        while bodyStart == nil {
            received += try receive()
            bodyStart = Self.headEnd(of: received)
        }
        guard let bodyStart,
            let length = PlainReply.field("content-length", in: received[..<bodyStart]).flatMap({ Int($0) })
        else {
            throw Unexpected(description: "a reply without its length: \(String(decoding: received, as: UTF8.self))")
        }
        while received.count < bodyStart + length { received += try receive() }
        guard received.count == bodyStart + length, let reply = PlainReply(received, bodyStart: bodyStart) else {
            throw Unexpected(description: "not one reply: \(String(decoding: received, as: UTF8.self))")
        }
        return reply
    }

    /// Where the body begins; nil if the head has not come as a whole.
    private static func headEnd(of received: [UInt8]) -> Int? {
        received.withUnsafeBytes { bytes in
            var end = 4
            while end <= bytes.count {
                if bytes[end - 1] == lineFeed, bytes[end - 3] == lineFeed, bytes[end - 2] == UInt8(ascii: "\r") {
                    return end
                }
                end += 1
            }
            return nil
        }
    }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Self.failure("write") }
            rest = rest.dropFirst(count)
        }
    }

    /// The bytes that have come; waits for the first of them.
    private func receive() throws -> [UInt8] {
        try [UInt8](unsafeUninitializedCapacity: 16 * 1024) { buffer, count in
            let received = read(descriptor, buffer.baseAddress, buffer.count)
            guard received > 0 else { throw Self.failure("read") }
            count = received
        }
    }

    private static func failure(_ call: String) -> Unexpected {
        Unexpected(description: "\(call): \(String(cString: strerror(errno)))")
    }
}
