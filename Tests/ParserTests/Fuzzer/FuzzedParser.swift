import Foundation
import Synchronization

/// Gives libFuzzer's inputs to one parser; a property that does not hold ends the process, which libFuzzer takes for a
/// crash and keeps the input of.
enum FuzzedParser {
    /// The parser of this process; libFuzzer's function has no argument for it.
    private static let parser = Mutex<Parser?>(nil)

    /// Hands the process over to libFuzzer.
    static func run(_ parser: Parser, options: [String]) -> CInt {
        Self.parser.withLock { $0 = parser }
        Heap.startCounting()
        var arguments = ([CommandLine.arguments[0]] + options).map { strdup($0) } + [nil]
        var count = CInt(arguments.count - 1)
        return arguments.withUnsafeMutableBufferPointer { pointers in
            var first = pointers.baseAddress
            return runDriver(&count, &first, testOneInput)
        }
    }

    fileprivate static func check(_ input: [UInt8]) {
        guard let parser = parser.withLock({ $0 }) else { return }
        let allowed = input.count * parser.memoryPerByte + Heap.allowance
        var growth = growth(of: parser, for: input)
        // What is made once for the process is no work of the input.
        if growth > allowed { growth = self.growth(of: parser, for: input) }
        if growth > allowed {
            end("\(parser): \(input.count) bytes of input took \(growth) bytes of memory, more than \(allowed)")
        }
    }

    /// Checks one input and returns by how many bytes the heap grew meanwhile, at most.
    private static func growth(of parser: Parser, for input: [UInt8]) -> Int {
        let outcome = Outcome()
        let start = Heap.mark()
        // On this thread alone: a change of threads for each input would cost more than most inputs do.
        let thread = ThisThread()
        Task(executorPreference: thread) {
            do { _ = try await parser.check(input) } catch { outcome.failure.withLock { $0 = "\(error)" } }
            outcome.isOver.store(true, ordering: .sequentiallyConsistent)
        }
        while !outcome.isOver.load(ordering: .sequentiallyConsistent) { thread.runNext() }
        let peak = Heap.peak - start
        if let failure = outcome.failure.withLock({ $0 }) { end("\(parser): \(failure)") }
        return peak
    }

    private final class Outcome: Sendable {
        let failure = Mutex<String?>(nil)
        let isOver = Atomic(false)
    }

    private static func end(_ reason: String) -> Never {
        FileHandle.standardError.write(Data("\nVIOLATION \(reason)\n".utf8))
        abort()
    }
}

/// Runs tasks on the thread that asks it to.
private final class ThisThread: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: UnownedJob) {
        jobs.withLock { $0.append(job) }
    }

    /// Runs the job that has waited longest, if there is one.
    func runNext() {
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// The bytes the program has taken from the heap, as the sanitizer's hooks count them.
///
/// One input is checked at a time, so that plain numbers will do.
enum Heap {
    /// What a check may take whatever the size of its input: keys, a task, the report of a refusal.
    static let allowance = 256 * 1024

    /// The two counters live outside of Swift's memory: a hook must not allocate.
    nonisolated(unsafe) private static let counters = UnsafeMutablePointer<Int>.allocate(capacity: 2)

    static func startCounting() {
        counters.initialize(repeating: 0, count: 2)
        _ = installHooks(
            { pointer, size in
                Heap.counters[0] += size
                if Heap.counters[0] > Heap.counters[1] { Heap.counters[1] = Heap.counters[0] }
            },
            { pointer in
                if let pointer { Heap.counters[0] -= allocatedSize(pointer) }
            })
    }

    /// Begins a new peak; returns what is taken now.
    static func mark() -> Int {
        counters[1] = counters[0]
        return counters[0]
    }

    /// The most that was taken since the mark.
    static var peak: Int { counters[1] }
}

@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzedParser.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ test: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@_silgen_name("__sanitizer_install_malloc_and_free_hooks")
private func installHooks(
    _ allocated: @convention(c) (UnsafeRawPointer?, Int) -> Void, _ freed: @convention(c) (UnsafeRawPointer?) -> Void
) -> CInt

@_silgen_name("__sanitizer_get_allocated_size")
private func allocatedSize(_ pointer: UnsafeRawPointer) -> Int
