import ArgumentParser

/// Measures a server under load, with real cryptography and a real disk.
@main
struct CountersignBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "countersign-benchmark", abstract: "Measure a server under load.",
        discussion: """
            Starts the program `countersign serve` on a fresh database, once or several times, and drives it from \
            this process: pairs of a portal, which asks over HTTP and waits by long poll, and a phone, which is the \
            SDK. Build both for release.
            """,
        subcommands: [MeasureCycle.self, MeasureKinds.self, MeasurePolls.self, MeasureOverload.self],
        defaultSubcommand: MeasureCycle.self)
}
