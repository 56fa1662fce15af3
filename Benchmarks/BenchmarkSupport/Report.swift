extension Duration {
    package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

extension [Double] {
    /// The value below which this part of the values is.
    package func quantile(_ part: Double) -> Double {
        isEmpty ? 0 : sorted()[Swift.min(count - 1, Int(Double(count) * part))]
    }
}

/// The configuration of this build, for a report.
package var buildConfiguration: String {
    #if DEBUG
        "debug"
    #else
        "release"
    #endif
}

/// The exit code of a benchmark that measured everything and missed a target.
package let missedAim: Int32 = 3
