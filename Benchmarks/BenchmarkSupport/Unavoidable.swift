import Crypto
import Foundation

/// The costs that no server can avoid, measured separately before the load: disk syncs and elliptic-curve operations.
package struct Unavoidable: Sendable {
    /// How many single-page syncs the disk does in a second, one after the other.
    package let syncsPerSecond: Double
    /// The CPU time of an ECDSA signature, a verification and a key agreement on P-256, in microseconds.
    package let sign: Double
    package let verify: Double
    package let agree: Double

    /// The CPU time of the server's curve operations in one cycle, in microseconds.
    ///
    /// It verifies the signatures of a poll, of an answer and of the receipt in it. It signs the message. It needs key
    /// agreements for the message, with a new key pair, and for the answer.
    package var serverCurvePerCycle: Double { 3 * verify + sign + 3 * agree }

    init(folder: URL) {
        syncsPerSecond = Self.syncs(in: folder)
        let key = P256.Signing.PrivateKey()
        let message = [UInt8](repeating: 7, count: 200)
        sign = Self.cost { _ = try? key.signature(for: message) }
        let signature = try? key.signature(for: message)
        verify = Self.cost {
            if let signature { precondition(key.publicKey.isValidSignature(signature, for: message)) }
        }
        let mine = P256.KeyAgreement.PrivateKey()
        let other = P256.KeyAgreement.PrivateKey().publicKey
        agree = Self.cost { _ = try? mine.sharedSecretFromKeyAgreement(with: other) }
    }

    /// The CPU time of one run, in microseconds.
    private static func cost(_ body: () -> Void) -> Double {
        let rounds = 1000
        let begin = clock()
        for _ in 0..<rounds { body() }
        return Double(clock() - begin) / Double(CLOCKS_PER_SEC) * 1e6 / Double(rounds)
    }

    /// The CPU time of a verification while all processors verify, in microseconds: a processor is slower beside busy ones,
    /// and slower after minutes of work than at the beginning.
    package static func verificationWhileBusy() async -> Double {
        let processors = ProcessInfo.processInfo.activeProcessorCount
        return await withTaskGroup(of: Double.self) { group in
            for _ in 0..<processors {
                group.addTask {
                    let key = P256.Signing.PrivateKey()
                    let message = [UInt8](repeating: 7, count: 200)
                    guard let signature = try? key.signature(for: message) else { return 0 }
                    let rounds = 2000
                    let begin = threadTime
                    for _ in 0..<rounds { precondition(key.publicKey.isValidSignature(signature, for: message)) }
                    return (threadTime - begin) * 1e6 / Double(rounds)
                }
            }
            return await group.reduce(0, +) / Double(processors)
        }
    }

    /// The CPU time of this thread, in seconds.
    private static var threadTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func syncs(in folder: URL) -> Double {
        let path = folder.appending(path: "syncs").path
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return 0 }
        defer {
            close(file)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 4096)
        let begin = ContinuousClock.now
        var count = 0
        while ContinuousClock.now - begin < .seconds(1) {
            guard write(file, page, page.count) == page.count, sync(file) == 0 else { return 0 }
            count += 1
        }
        return Double(count) / (ContinuousClock.now - begin).inSeconds
    }

    private static func sync(_ file: Int32) -> Int32 {
        #if os(Linux)
            fdatasync(file)
        #else
            fcntl(file, F_FULLFSYNC)
        #endif
    }
}
