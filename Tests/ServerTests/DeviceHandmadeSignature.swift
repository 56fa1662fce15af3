import Crypto
import CountersignWire
import Encodings
import Foundation
import NIOHTTP1
import ServerTestSupport

/// A signature of RFC 9421 written by hand, so that a test can get every part of it wrong.
struct DeviceHandmadeSignature {
    /// The covered components and the values that are signed, in order.
    var components: [(name: String, value: String)]
    /// The parameters in order, each as it is written.
    var parameters: [(name: String, value: String)]
    var label = "sig"

    /// What a correct phone would sign.
    init(_ method: HTTPMethod, _ uri: String, body: [UInt8]?, created: Int64, keyID: String) {
        components = [("@method", method.rawValue), ("@target-uri", uri)]
        if let body { components.append(("content-digest", ContentDigest.field(for: body))) }
        parameters = [
            ("created", "\(created)"), ("nonce", "\"\(UUID().uuidString)\""), ("keyid", "\"\(keyID)\""),
            ("alg", "\"ecdsa-p256-sha256\""), ("tag", "\"countersign\""),
        ]
    }

    /// Replaces a parameter, or drops it.
    mutating func set(_ name: String, _ value: String?) {
        guard let index = parameters.firstIndex(where: { $0.name == name }) else {
            if let value { parameters.append((name, value)) }
            return
        }
        if let value { parameters[index].value = value } else { parameters.remove(at: index) }
    }

    /// Replaces what is signed as a component, or stops covering it.
    mutating func cover(_ name: String, _ value: String?) {
        components.removeAll { $0.name == name }
        if let value { components.append((name, value)) }
    }

    private var inner: String {
        let names = components.map { "\"\($0.name)\"" }.joined(separator: " ")
        return "(\(names))" + parameters.map { ";\($0.name)=\($0.value)" }.joined()
    }

    /// The value of `Signature-Input`.
    var input: String { "\(label)=\(inner)" }

    /// The value of `Signature`.
    func signature(by key: P256.Signing.PrivateKey) throws -> String {
        let lines = components.map { "\"\($0.name)\": \($0.value)" } + ["\"@signature-params\": \(inner)"]
        let signature = try key.signature(for: Array(lines.joined(separator: "\n").utf8))
        return "\(label)=:\(Base64.encode(signature.rawRepresentation)):"
    }

    /// Both fields.
    func fields(by key: P256.Signing.PrivateKey) throws -> [(String, String)] {
        [("Signature-Input", input), ("Signature", try signature(by: key))]
    }
}
