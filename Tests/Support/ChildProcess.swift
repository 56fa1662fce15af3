import CSpawn
package import Foundation
import Synchronization

/// A process beside the tests, with its standard streams redirected.
///
/// It replaces Foundation's `Process`, which reads up to 181 bytes beyond its list of open files when more than 1,365
/// files are open, as when hundreds of tests run in parallel. Sometimes that ends the tests.
package final class ChildProcess: Sendable {
    /// The process could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    package let id: Int32
    private let reaped = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// It inherits only the files that are named here, and no ignored or blocked signals. It has its own process group,
    /// so that an interrupt from the keyboard does not end it before the tests clean up.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: its arguments, without its name.
    ///   - environment: its whole environment.
    ///   - folder: its working folder; nil for that of the tests.
    ///   - input: its standard input; nil for an empty one.
    ///   - output: its standard output; nil to discard the output.
    ///   - errors: its standard error; nil to discard the output.
    package init(
        _ path: String, _ arguments: [String], environment: [String: String], in folder: URL? = nil,
        input: FileHandle? = nil, output: FileHandle? = nil, errors: FileHandle? = nil
    ) throws {
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?) = (nil, nil)
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in [input, output, errors].enumerated() {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
            } else {
                posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
            }
        }
        if let folder { countersign_spawn_in_folder(&actions, folder.path) }
        var (every, none) = (sigset_t(), sigset_t())
        sigfillset(&every)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
        countersign_spawn_without_files(&actions, &attributes)

        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var values = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { (words + values).forEach { free($0) } }
        var id: pid_t = 0
        let error = posix_spawn(&id, path, &actions, &attributes, &words, &values)
        guard error == 0 else {
            throw Failure(description: "\(path) cannot be run: \(String(cString: strerror(error)))")
        }
        self.id = id
    }

    /// The result of ``wait()``; nil if the process was not waited for or has not ended.
    package var status: Int32? { reaped.withLock { $0 } }

    /// Sends a signal, unless the process has ended.
    package func send(_ signal: Int32) {
        // No other process has its id until it is reaped, which happens under the same lock.
        reaped.withLock { if $0 == nil { kill(id, signal) } }
    }

    /// Waits until the process ends, and blocks the thread meanwhile.
    ///
    /// - Returns: the exit status, or 128 plus the signal's number if a signal ended the process.
    @discardableResult package func wait() -> Int32 {
        var end = siginfo_t()
        while waitid(P_PID, UInt32(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return reaped.withLock { status in
            if let status { return status }
            var value: Int32 = 0
            while waitpid(id, &value, 0) < 0, errno == EINTR {}
            // Does the same as the macros `WIFSIGNALED` and `WEXITSTATUS`.
            let ended = value & 0x7F == 0 ? (value >> 8) & 0xFF : 128 + value & 0x7F
            status = ended
            return ended
        }
    }

    /// Waits until the process ends, on a separate thread.
    package func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait()) }
        }
    }
}
