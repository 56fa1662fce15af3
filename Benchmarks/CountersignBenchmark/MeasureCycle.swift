import ArgumentParser
import BenchmarkSupport
import Encodings
import Foundation

/// Full cycles from the request to the reported outcome.
struct MeasureCycle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cycle", abstract: "Measure full cycles.")

    @OptionGroup var servers: ServerOptions

    @Option(help: "How many pairs of a portal and a phone work at the same time.")
    var pairs = 32

    @Option(help: "For how many seconds to work before measuring.")
    var warmup = 3.0

    @Option(help: "For how many seconds to measure.")
    var seconds = 10.0

    @Flag(help: "Ask and wait in one request, instead of asking and then waiting by long poll.")
    var askAndWait = false

    @Flag(help: "Print JSON.")
    var json = false

    mutating func validate() throws {
        guard (1...10_000).contains(pairs), warmup >= 0, seconds > 0 else {
            throw ValidationError("There must be 1 to 10,000 pairs and some time to measure.")
        }
    }

    mutating func run() async throws {
        let result = try await servers.withServers { deployment, unavoidable in
            let load = try await Load(deployment)
            let pairs = try await load.pairs(pairs, askAndWait ? .askAndWait : .usual)
            let measured = try await load.run(pairs, warmup: .seconds(warmup), duration: .seconds(seconds))
            try? await load.shutdown()
            return CycleResult(
                servers: servers, pairs: pairs.count, asksAndWaits: askAndWait, measured: measured,
                unavoidable: unavoidable, machine: Machine())
        }
        if json {
            print(String(decoding: result.json.encoded, as: UTF8.self))
            if !result.aims.allSatisfy(\.isReached) { throw ExitCode(missedAim) }
        } else {
            print(result.text)
            try result.aims.check()
        }
    }
}
