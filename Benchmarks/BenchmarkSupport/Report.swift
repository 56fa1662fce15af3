extension Duration {
    /// The duration in seconds.
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// How this program was built, for a report.
package var buildConfiguration: String {
    #if DEBUG
        "debug"
    #else
        "release"
    #endif
}

/// What a benchmark exits with that has measured everything and misses an aim.
package let missedAim: Int32 = 3
