// swift-format-ignore-file
// Made by scripts/seed-snippets of Tests/VendorTests/Snippets/002/01.txt: do not edit.
import Foundation

/// Makes a verifier.
package func S002x01() -> String {
var buffer = [UInt8](repeating: 0, count: 32)
_ = SecRandomCopyBytes(kSecRandomDefault, buffer.count, &buffer)
let verifier = Data(bytes: buffer).base64EncodedString()
    .replacingOccurrences(of: "+", with: "-")
    .replacingOccurrences(of: "/", with: "_")
    .replacingOccurrences(of: "=", with: "")
    .trimmingCharacters(in: .whitespaces)
return verifier
}
