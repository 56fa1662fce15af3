import CountersignWire
import Encodings
import OpenPGP

/// A change that was sent and whose reply has not arrived yet.
///
/// A repeat of the same bytes changes nothing twice and counts a wrong PIN only once.
struct KeptChange: Sendable {
    static let record = "method-change"

    /// The record that the device stores when the change is made.
    enum Result: Sendable {
        /// The new PIN; nil for none.
        case pin(StoredPIN?)
        /// A certificate with a new biometric subkey, or without a valid one.
        case certificate(Certificate)
    }

    let result: Result
    let request: MethodChangeRequest

    init(_ result: Result, request: MethodChangeRequest) {
        self.result = result
        self.request = request
    }

    var encoded: [UInt8] {
        var object: JSONObject = ["v": 1, "request": request.json]
        switch result {
        case .pin(let pin): object["pin"] = pin?.json ?? .null
        case .certificate(let certificate): object["certificate"] = .string(Base64.encode(certificate.encoded))
        }
        return JSONValue.object(object).encoded
    }

    init?(_ record: [UInt8]) {
        guard let json = try? JSONValue(parsing: record), json["v"] == 1,
            let request = json["request"].flatMap({ try? MethodChangeRequest($0) })
        else { return nil }
        if let bytes = json["certificate"]?.string.flatMap({ Base64.decode($0) }) {
            guard let certificate = try? Certificate(parsing: bytes) else { return nil }
            self.init(.certificate(certificate), request: request)
        } else {
            self.init(.pin(json["pin"].flatMap { StoredPIN($0) }), request: request)
        }
    }
}
