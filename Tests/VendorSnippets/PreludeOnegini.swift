import Foundation
import OneginiSDKiOS

// What the samples of OneWelcome's document take for granted.

extension Error {
    /// The number of an error, as the original's own sample app reads it.
    var code: Int {
        let any: Any = self
        return (any as? NSError)?.code ?? 0
    }
}

/// A delegate of a sample, which notes how requests have ended.
@MainActor
package protocol SampleDelegate: MobileAuthRequestDelegate {
    /// How they have ended: by what they were handled, or the number of the error.
    var ends: [String] { get }
}
