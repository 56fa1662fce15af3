import Foundation
import Synchronization

/// Stands between an engine and its server, on a port of this machine, and cuts connections off at a chosen word.
final class Relay: Sendable {
    /// No port could be listened on.
    struct Unusable: Error {}

    /// When a connection is cut off, both ways, before the bytes that hold a word are passed on.
    enum Cut: Sendable {
        /// Something the engine says.
        case request(String)
        /// Something the server says.
        case reply(String)
    }

    /// The port to connect to.
    let port: UInt16
    private let listener: Int32
    private let target: UInt16
    private let cut = Mutex<Cut?>(nil)
    private let open = Mutex<Set<Int32>>([])
    private let refuses = Mutex(false)
    private let counted = Mutex(0)

    /// How many connections were cut off.
    var cuts: Int { counted.withLock { $0 } }

    /// A relay to a port of this machine.
    init(to target: UInt16) throws {
        self.target = target
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.listener = listener
        var address = Self.loopback(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                Foundation.bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isListening else { throw Unusable() }
        port = address.sin_port.bigEndian
        Thread.detachNewThread { [weak self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                guard let self else {
                    close(client)
                    return
                }
                self.serve(client)
            }
        }
    }

    /// Ends listening and every connection.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cutAll()
    }

    /// Cuts the next connection off that says the word; the others are left alone.
    func cutOnce(at cut: Cut) { self.cut.withLock { $0 = cut } }

    /// Refuses connections, old and new ones, or lets them through again.
    func setRefusing(_ isRefusing: Bool) {
        refuses.withLock { $0 = isRefusing }
        if isRefusing { cutAll() }
    }

    private func cutAll() {
        for descriptor in open.withLock({ $0 }) { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private func serve(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = Self.loopback(target)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected, !refuses.withLock({ $0 }) else {
            close(client)
            close(server)
            return
        }
        open.withLock { $0.formUnion([client, server]) }
        let end = SharedEnd { [self] in
            open.withLock { $0.subtract([client, server]) }
            close(client)
            close(server)
        }
        Thread.detachNewThread { [self] in pass(from: client, to: server, isRequest: true, end) }
        Thread.detachNewThread { [self] in pass(from: server, to: client, isRequest: false, end) }
    }

    private func pass(from source: Int32, to sink: Int32, isRequest: Bool, _ end: SharedEnd) {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(source, &buffer, buffer.count), count > 0 {
            if isCut(Array(buffer[..<count]), isRequest: isRequest) { break }
            guard send(sink, buffer, count, Int32(MSG_NOSIGNAL)) == count else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(sink, Int32(SHUT_RDWR))
        end.leave()
    }

    private func isCut(_ bytes: [UInt8], isRequest: Bool) -> Bool {
        let isCut = cut.withLock { cut in
            let word: String
            switch cut {
            case .request(let text) where isRequest: word = text
            case .reply(let text) where !isRequest: word = text
            default: return false
            }
            guard Data(bytes).range(of: Data(word.utf8)) != nil else { return false }
            cut = nil
            return true
        }
        if isCut { counted.withLock { $0 += 1 } }
        return isCut
    }
}

/// Closes a connection when both its ways have ended.
private final class SharedEnd: Sendable {
    private let remaining = Mutex(2)
    private let close: @Sendable () -> Void

    init(_ close: @escaping @Sendable () -> Void) {
        self.close = close
    }

    func leave() {
        let isLast = remaining.withLock { remaining in
            remaining -= 1
            return remaining == 0
        }
        if isLast { close() }
    }
}
