import Foundation
import Synchronization

/// Ports for servers that run in parallel in one test process.
///
/// A connection of another process can take a port that the system chose before the server listens on it. The ports
/// here are below those that systems use for connections and not those of `scripts/free_port.py`, and a port is reused
/// only after all others.
package enum FreePort {
    private static let range = 10_000..<21_000
    private static let last = Mutex(Int.random(in: range))

    /// A port at which no process listens.
    package static func next() -> Int {
        for _ in range {
            let port = last.withLock { last in
                last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
                return last
            }
            if isFree(port) { return port }
        }
        return 0
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
    }
}
