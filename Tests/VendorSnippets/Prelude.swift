// swift-format-ignore-file
import Crypto
import Foundation
import UIKitStandIn

// What the samples use of an app, of UIKit and of CommonCrypto, and what has no place in a stand-in that apps import.

/// A button.
@MainActor
final class UIButton {}

/// The segues of all screens. It keeps the screens, since another one could get the identifier of one that is gone.
@MainActor private var taken: [(screen: UIViewController, segue: String)] = []

extension UIViewController {
    /// The segues that a screen has taken, in order.
    package var segues: [String] { taken.filter { $0.screen === self }.map(\.segue) }

    func performSegue(withIdentifier identifier: String, sender: Any?) {
        taken.append((self, identifier))
    }
}

/// A session for signing in, which opens nothing.
package final class ASWebAuthenticationSession {
    package let url: URL
    package let scheme: String?
    package private(set) var isStarted = false
    package var presentationContextProvider: (any ASWebAuthenticationPresentationContextProviding)?

    init(url: URL, callbackURLScheme: String?, completionHandler: @escaping (URL?, (any Error)?) -> Void) {
        self.url = url
        scheme = callbackURLScheme
    }

    @discardableResult
    func start() -> Bool {
        isStarted = true
        return true
    }
}

package protocol ASWebAuthenticationPresentationContextProviding: AnyObject {}

let kSecRandomDefault = 0

func SecRandomCopyBytes(_ generator: Int, _ count: Int, _ bytes: UnsafeMutablePointer<UInt8>) -> Int32 {
    var system = SystemRandomNumberGenerator()
    for place in 0..<count { bytes[place] = system.next() }
    return 0
}

typealias CC_LONG = UInt32
let CC_SHA256_DIGEST_LENGTH: Int32 = 32

func CC_SHA256(_ data: UnsafeRawBufferPointer, _ length: CC_LONG, _ digest: UnsafeMutablePointer<UInt8>) -> Int32 {
    for (place, byte) in SHA256.hash(data: Data(data.prefix(Int(length)))).enumerated() { digest[place] = byte }
    return 0
}
