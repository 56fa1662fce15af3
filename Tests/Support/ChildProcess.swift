import CSpawn
package import Foundation
import Synchronization

/// A program that runs beside the tests, its standard streams where they are told to be.
///
/// Not Foundation's `Process`: where more than 1,365 files are open, as when hundreds of tests run side by side, it
/// reads up to 181 bytes beyond its list of them, and now and then that ends the tests.
package final class ChildProcess: Sendable {
    /// It could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Its process id.
    package let id: Int32
    private let reaped = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// It inherits no file but those named here, no signal that is ignored or blocked, and has a process group of its own,
    /// so that what is typed to end the tests does not end it before they take care of it.
    ///
    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: its arguments, without its name.
    ///   - environment: all of its environment.
    ///   - folder: the folder it works in; nil for that of the tests.
    ///   - input: what it reads; nil for nothing.
    ///   - output: where what it prints goes; nil for nowhere.
    ///   - errors: where its errors go; nil for nowhere.
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

    /// How it ended, as ``wait()`` returns it; nil while nobody has waited for its end, or it has not come.
    package var status: Int32? { reaped.withLock { $0 } }

    /// Sends it a signal, unless it has ended.
    package func send(_ signal: Int32) {
        // Its id is its own until it is reaped, which happens under the same lock.
        reaped.withLock { if $0 == nil { kill(id, signal) } }
    }

    /// Waits for its end, and holds the thread meanwhile.
    ///
    /// - Returns: its exit status; 128 and the signal's number when a signal ended it.
    @discardableResult package func wait() -> Int32 {
        var end = siginfo_t()
        while waitid(P_PID, UInt32(id), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return reaped.withLock { status in
            if let status { return status }
            var value: Int32 = 0
            while waitpid(id, &value, 0) < 0, errno == EINTR {}
            // As `WIFSIGNALED` and `WEXITSTATUS` do it, which are macros.
            let ended = value & 0x7F == 0 ? (value >> 8) & 0xFF : 128 + value & 0x7F
            status = ended
            return ended
        }
    }

    /// Waits for its end on a thread of its own.
    package func ended() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: self.wait()) }
        }
    }
}
