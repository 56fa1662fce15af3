import OpenPGP
import Testing
import TestSupport

/// rnp as a peer.
final class RNPPeer: Peer {
    private let rnp: RNP
    private var own = ""
    private var passphrase = ""

    init() throws {
        rnp = try RNP()
    }

    func learn(_ certificate: Certificate) throws {
        try rnp.runKeys(["--import-keys", try rnp.folder.write("theirs", certificate.encoded)]).succeeded()
    }

    func take(_ block: String, passphrase: String?) throws {
        self.passphrase = passphrase ?? ""
        let result = try rnp.runKeys(["--import-keys", try rnp.folder.write("block", block.utf8)]).succeeded()
        own = try Self.firstFingerprint(in: result.output)
    }

    private static func firstFingerprint(in listing: String) throws -> String {
        String(try #require(listing.firstMatch(of: /\b[0-9a-f]{40}\b/)).output)
    }

    func makeKey() async throws {
        try generateKey("peer@example.com", passphrase: "")
    }

    func makeKey(lasting days: UInt32) async throws {
        let then = ["--current-time", ListedKey.day(Holder.time)]
        try generateKey("expired@example.com", passphrase: "", ["--expiration", "\(days)d"] + then)
    }

    /// Asks for ECDSA and ECDH, then for P-256.
    private func generateKey(
        _ userID: String, passphrase: String, _ options: [String] = ["--expiration", "0"]
    ) throws {
        self.passphrase = passphrase
        let command = ["--generate-key", "--expert", "--userid", userID] + options
        let result = try rnp.runKeys(command, passphrase: passphrase, input: "19\n1\n").succeeded()
        own = try Self.firstFingerprint(in: result.output)
    }

    func certificate() throws -> Certificate {
        try Certificate(armored: try rnp.runKeys(["--export-key", own]).succeeded().output)
    }

    /// rnp cannot change a passphrase by its command line, so a key with one is another key.
    func secretKeys(passphrase: String?) throws -> String {
        if let passphrase {
            try generateKey("locked@example.com", passphrase: passphrase)
        }
        return try rnp.runKeys(["--export-key", "--secret", own], passphrase: self.passphrase).succeeded().output
    }

    func list(_ certificate: Certificate) throws -> [ListedKey] {
        try learn(certificate)
        let listing = try rnp.runKeys(["--list-keys", "\(certificate.fingerprint)"]).succeeded().output
        let key = /(?:pub|sec|sub|ssb) .* \[([A-Z]+)\](?: \[EXPIRE[SD] ([0-9-]{10})\])?\n +([0-9a-f]{40})/
        return listing.matches(of: key).map { match in
            ListedKey(fingerprint: match.output.3, usage: match.output.1, end: match.output.2.map(String.init))
        }
    }

    func packets(_ certificate: Certificate) throws -> String {
        try rnp.run(["--list-packets", try rnp.folder.write("theirs", certificate.encoded)]).succeeded().output
    }

    func verify(_ signed: [UInt8], _ form: SignedForm, over content: [UInt8]) throws -> Verdict {
        let file = try rnp.folder.write("signed", signed)
        guard form == .detached else { return Self.verdict(try rnp.run(["--verify", file])) }
        return Self.verdict(
            try rnp.run(["--verify", file, "--source", try rnp.folder.write("content", content)]))
    }

    func open(_ message: [UInt8]) throws -> (content: [UInt8]?, verdict: Verdict) {
        let file = try rnp.folder.write("message", message)
        let result = try rnp.run(
            ["--decrypt", file, "--output", rnp.folder.path("opened")], passphrase: passphrase)
        return (result.status == 0 ? try rnp.folder.read("opened") : nil, Self.verdict(result))
    }

    private static func verdict(_ result: ProgramResult) -> Verdict {
        guard result.status == 0, let start = result.errors.firstRange(of: "Good signature made")?.lowerBound,
            let keyID = result.errors[start...].firstMatch(of: /using ECDSA key ([0-9a-f]{16})/)?.output.1
        else { return .refused }
        // Behind it stands the key as it would list it.
        let isRevoked = result.errors[start...].split(separator: "\n").contains {
            $0.contains(" \(keyID) ") && $0.contains("[REVOKED]")
        }
        return isRevoked ? .revokedKey(keyID.uppercased()) : .good(keyID.uppercased())
    }

    func sign(_ content: [UInt8], _ form: SignedForm, on day: UnixSeconds?, armored: Bool) throws -> [UInt8] {
        let armor = armored && form != .cleartext ? ["--armor"] : []
        let command: [String]
        switch form {
        case .cleartext: command = ["--clearsign"]
        case .detached: command = ["--sign", "--detach"]
        case .inline: command = ["--sign", "-z", "0"]
        }
        let time = day.map { ["--current-time", ListedKey.day($0)] } ?? []
        let files = [try rnp.folder.write("content", content), "--output", rnp.folder.path("signed")]
        try rnp.run(command + armor + ["-u", own] + time + files, passphrase: passphrase).succeeded()
        return try rnp.folder.read("signed")
    }

    func seal(_ content: [UInt8], to recipient: Certificate, signs: Bool, compresses: Bool) throws -> [UInt8] {
        let options = ["-r", "\(recipient.fingerprint)", "--cipher", "AES256", "-z", compresses ? "6" : "0"]
        let files = [try rnp.folder.write("content", content), "--output", rnp.folder.path("message")]
        try rnp.run(
            ["--encrypt"] + (signs ? ["--sign", "-u", own] : []) + options + files, passphrase: passphrase
        ).orRefusal()
        return try rnp.folder.read("message")
    }

    func revoke(_ key: Fingerprint, because reason: RevocationReason) throws -> Certificate {
        let name: String
        switch reason {
        case .unspecified: name = "no"
        case .compromised: name = "compromised"
        case .superseded: name = "superseded"
        case .retired: name = "retired"
        }
        try rnp.runKeys(
            ["--revoke-key", "\(key)", "--rev-type", name, "--rev-reason", "why"], passphrase: passphrase
        ).succeeded()
        return try certificate()
    }
}
