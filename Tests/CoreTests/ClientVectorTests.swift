import CountersignWire
import Crypto
import Encodings
import Foundation
import JOSE
import Testing

@testable import CountersignCore

/// The proofs of keys and the pushed requests of `docs/protocol/vectors`, which another implementation has made.
@Suite("docs/protocol/vectors: what clients sign by keys of their own, as the server judges it")
struct ClientVectorTests {
    /// A file of vectors with the server's nonces.
    private struct Vectors {
        let file: JSONValue
        let cases: [JSONValue]
        let issuer: Issuer
        private let nonces: [String: Timestamp]

        init(_ name: String) throws {
            let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
                path: "../../docs/protocol/vectors")
            let file = try JSONValue(parsing: Array(Data(contentsOf: folder.appending(path: "\(name).json"))))
            cases = try #require(file["cases"]?.array)
            try #require(cases.count > 5)
            issuer = try #require(file["issuer"]?.string.flatMap { Issuer($0) })
            var nonces: [String: Timestamp] = [:]
            for nonce in try #require(file["nonces"]?.array) {
                let text = try #require(nonce["nonce"]?.string)
                nonces[text] = Timestamp(seconds: try #require(nonce["made"]?.integer))
            }
            (self.file, self.nonces) = (file, nonces)
        }

        func now(of vector: JSONValue) throws -> Timestamp {
            Timestamp(seconds: try #require(vector["now"]?.integer))
        }

        /// The name of the key that a proof shows, or why it is refused.
        func judge(
            _ proof: String, method: String, uri: String, for token: String? = nil, at now: Timestamp
        ) -> Result<String, KeyProofRefusal> {
            do throws(KeyProofRefusal) {
                let key = try ProvedKey.verify(
                    proof, method: method, uri: uri, for: token.map { Secret($0) }, at: now,
                    timeOfNonce: { nonces[$0] })
                return .success(key.thumbprint.member.value)
            } catch {
                return .failure(error)
            }
        }
    }

    /// A refusal in the words of the vectors.
    private func words(of refusal: KeyProofRefusal) -> String {
        if case .invalid(let fault) = refusal { "\(fault)" } else { "\(refusal)" }
    }

    @Test("RFC 9449 §4.3: proofs of a key, and others that are refused")
    func proofs() throws {
        let vectors = try Vectors("dpop-proof")
        for vector in vectors.cases {
            let name = try #require(vector["name"]?.string)
            let judged = vectors.judge(
                try #require(vector["proof"]?.string), method: try #require(vector["method"]?.string),
                uri: try #require(vector["uri"]?.string), for: vector["access_token"]?.string,
                at: try vectors.now(of: vector))
            switch judged {
            case .success(let thumbprint):
                #expect(vector["valid"] == true && vector["thumbprint"] == .string(thumbprint), "\(name)")
            case .failure(let refusal):
                #expect(vector["valid"] == false && vector["error"] == .string(words(of: refusal)), "\(name)")
                #expect((vector["code"] == "use_dpop_nonce") == (refusal == .nonceMissing), "\(name)")
            }
        }
        let faults = Set(vectors.cases.compactMap { $0["error"]?.string })
        // That there are several fields is no matter of one proof.
        let known = KeyProofRefusal.Fault.allCases.filter { $0 != .several }.map { "\($0)" }
        #expect(faults == Set(known + ["nonceMissing"]))
    }

    @Test("RFC 9101 §6, RFC 9126 §3: pushed requests that are signed or come with a proof, and others that are refused")
    func pushedRequests() throws {
        let vectors = try Vectors("pushed-request")
        let client = try #require(vectors.file["client"]?.string.flatMap { ClientID($0) })
        let point = try #require(vectors.file["client_public_key"]?.string.flatMap { Hex.decode($0) })
        let keys = JWKSet([JWK(try P256.Signing.PublicKey(x963Representation: point))])
        for vector in vectors.cases {
            let name = try #require(vector["name"]?.string)
            let now = try vectors.now(of: vector)
            let form = try #require(vector["form"]?.string)
            var sent = JSONObject()
            for field in try #require(FormText.fields(in: form)) { sent[field.name] = .string(field.value) }
            var error: String?
            if let proof = vector["proof"]?.string {
                switch vectors.judge(proof, method: "POST", uri: "\(vectors.issuer)/oauth2/par", at: now) {
                case .success(let thumbprint):
                    let isAnother = sent["dpop_jkt"].map { $0 != .string(thumbprint) } ?? false
                    if isAnother { error = "invalid_dpop_proof" }
                    #expect(isAnother || vector["thumbprint"] == .string(thumbprint), "\(name)")
                case .failure(.nonceMissing): error = "use_dpop_nonce"
                case .failure: error = "invalid_dpop_proof"
                }
            }
            var counts = JSONValue.object(sent)
            if let request = sent["request"]?.string {
                let claims = try? ClientSignature.verified(request, by: keys, of: .web, RequestObject.types)
                let outcome = claims.map { RequestObject.judge($0, of: client, for: vectors.issuer, at: now) }
                if case .good(let claims)? = outcome { counts = claims } else { error = "invalid_request_object" }
            }
            #expect(vector["error"]?.string == error && vector["valid"] == .bool(error == nil), "\(name)")
            guard error == nil else { continue }
            let parameters = try JSONValue(parsing: Array(try #require(vector["parameters"]?.string).utf8))
            for parameter in try #require(parameters.object).members {
                #expect(counts[parameter.name] == parameter.value, "\(name): \(parameter.name)")
            }
        }
    }
}
