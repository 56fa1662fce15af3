import Encodings
import OpenPGP
import TestSupport
import Testing

@Suite("What gpg prints is enough to compare a receipt with its signer")
struct SignerComparisonTests {
    @Test("gpg's VALIDSIG ends with the primary fingerprint, and its list shows the notation under the subkey")
    func statusLine() async throws {
        let keys = try await SoftwareKeys()
        let (device, pin) = (keys.certificate.fingerprint, try #require(keys.pin))
        let text = PeerReceiptTests.receipt(device: device, method: "pin")
        let signed = try await CleartextMessage.sign(text, by: pin, at: SoftwareKeys.time).encoded
        let gpg = try GPG()
        try gpg.run("--import", try gpg.folder.write("certificate", keys.certificate.encoded))
        let result = try gpg.run("--status-fd", "1", "--verify", try gpg.folder.write("receipt.asc", signed.utf8))
        let line = try #require(result.output.firstMatch(of: /VALIDSIG (.*)/)).output.1.split(separator: " ")
        #expect(line.first.map(String.init) == "\(pin.publicKey.fingerprint)")
        #expect(line.last.map(String.init) == "\(device)")
        let listing = try gpg.run("--check-sigs", "--with-subkey-fingerprint", "--list-options", "show-notations")
        let part = try #require(
            listing.output.components(of: "sub ").first { $0.contains("\(pin.publicKey.fingerprint)") })
        #expect(part.contains("Signature notation: method@login.example.com=pin"))
        // The primary key and the subkey that decrypts have none.
        #expect(listing.output.components(of: "Signature notation:").count == 2)
    }
}

extension String {
    /// The parts between occurrences of a separator.
    fileprivate func components(of separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
