import OpenPGP
import Testing
import TestSupport

/// gpg as a peer: the secret keys stay with its agent.
final class GPGPeer: Peer {
    private let gpg: GPG
    private var own = "peer@example.com"
    private var passphrase = ""

    init() throws {
        gpg = try GPG()
    }

    private func run(_ arguments: [String], input: String = "") throws -> ProgramResult {
        try gpg.run(arguments: ["--status-fd", "1"] + arguments, passphrase: passphrase, input: input)
    }

    func learn(_ certificate: Certificate) throws {
        try run(["--import", try gpg.folder.write("theirs", certificate.encoded)]).succeeded()
    }

    func take(_ block: String, passphrase: String?) throws {
        self.passphrase = passphrase ?? ""
        let result = try run(["--import", try gpg.folder.write("block", block.utf8)]).succeeded()
        let imported = result.output.firstMatch(of: /IMPORT_OK [0-9]+ ([0-9A-F]{40})/)
        own = String(try #require(imported).output.1)
    }

    func makeKey() async throws {
        own = try gpg.makeKey().fingerprint.description
    }

    func makeKey(lasting days: UInt32) async throws {
        let then = ["--faked-system-time", "\(Holder.time)!"]
        own = "expired@example.com"
        try run(then + ["--quick-generate-key", own, "nistp256", "sign", "\(days)d"]).succeeded()
        try run(then + ["--quick-add-key", "\(try certificate().fingerprint)", "nistp256", "encr", "0"]).succeeded()
    }

    func certificate() throws -> Certificate {
        try Certificate(armored: try gpg.run("--armor", "--export", own).succeeded().output)
    }

    /// gpg asks twice for a new passphrase and would get one answer, so a key with one is another key.
    func secretKeys(passphrase: String?) throws -> String {
        if let passphrase {
            own = "locked@example.com"
            self.passphrase = passphrase
            try run(["--quick-generate-key", own, "nistp256", "sign", "0"]).succeeded()
            try run(["--quick-add-key", "\(try certificate().fingerprint)", "nistp256", "encr", "0"]).succeeded()
        }
        return try gpg.run(arguments: ["--armor", "--export-secret-keys", own], passphrase: self.passphrase)
            .succeeded().output
    }

    func list(_ certificate: Certificate) throws -> [ListedKey] {
        try learn(certificate)
        let listing = try gpg.run(
            "--with-colons", "--list-keys", "--with-subkey-fingerprint", "\(certificate.fingerprint)"
        ).succeeded()
        let lines = listing.output.split(separator: "\n").map {
            $0.split(separator: ":", omittingEmptySubsequences: false)
        }
        return zip(lines, lines.dropFirst()).compactMap { key, next in
            guard ["pub", "sub"].contains(key[0]), next[0] == "fpr" else { return nil }
            // Small letters are what the key itself may do, capital ones what the whole certificate may.
            let usage = key[11].filter(\.isLowercase)
            return ListedKey(fingerprint: next[9], usage: usage, end: UnixSeconds(key[6]).map(ListedKey.day))
        }
    }

    func packets(_ certificate: Certificate) throws -> String {
        try gpg.run("--list-packets", try gpg.folder.write("theirs", certificate.encoded)).succeeded().output
    }

    func verify(_ signed: [UInt8], _ form: SignedForm, over content: [UInt8]) throws -> Verdict {
        let file = try gpg.folder.write("signed", signed)
        let covered = form == .detached ? [try gpg.folder.write("content", content)] : []
        return Self.verdict(try run(["--verify", file] + covered))
    }

    func open(_ message: [UInt8]) throws -> (content: [UInt8]?, verdict: Verdict) {
        let file = try gpg.folder.write("message", message)
        let result = try run(["--output", gpg.folder.path("opened"), "--decrypt", file])
        let verdict = Self.verdict(result)
        return (result.status == 0 ? try gpg.folder.read("opened") : nil, verdict)
    }

    /// What it says on its status lines; its exit status is 0 for a revoked key, too.
    private static func verdict(_ result: ProgramResult) -> Verdict {
        guard result.status == 0,
            let valid = result.output.firstMatch(of: /\] VALIDSIG ([0-9A-F]{40})/)?.output.1
        else { return .refused }
        let keyID = String(valid.suffix(16))
        if result.output.contains("] GOODSIG \(keyID)") { return .good(keyID) }
        if result.output.contains("] REVKEYSIG \(keyID)") { return .revokedKey(keyID) }
        if result.output.contains("] EXPKEYSIG \(keyID)") { return .expiredKey(keyID) }
        return .refused
    }

    func sign(_ content: [UInt8], _ form: SignedForm, on day: UnixSeconds?, armored: Bool) throws -> [UInt8] {
        let armor = armored && form != .cleartext ? ["--armor"] : []
        let time = day.map { ["--faked-system-time", "\($0)!"] } ?? []
        let command: [String]
        switch form {
        case .cleartext: command = ["--clearsign"]
        case .detached: command = ["--detach-sign"]
        case .inline: command = ["--compress-algo", "none", "--sign"]
        }
        let file = try gpg.folder.write("content", content)
        try run(armor + time + ["--local-user", own, "--output", gpg.folder.path("signed")] + command + [file])
            .succeeded()
        return try gpg.folder.read("signed")
    }

    func seal(_ content: [UInt8], to recipient: Certificate, signs: Bool, compresses: Bool) throws -> [UInt8] {
        let file = try gpg.folder.write("content", content)
        try run(
            ["--compress-algo", compresses ? "zip" : "none", "--recipient", "\(recipient.fingerprint)"]
                + (signs ? ["--local-user", own, "--sign"] : [])
                + ["--output", gpg.folder.path("message"), "--encrypt", file]
        ).orRefusal()
        return try gpg.folder.read("message")
    }

    func revoke(_ key: Fingerprint, because reason: RevocationReason) throws -> Certificate {
        let certificate = try certificate()
        let entry: String
        switch reason {
        case .unspecified: entry = "0"
        case .compromised: entry = "1"
        case .superseded: entry = "2"
        case .retired: entry = "3"
        }
        let subkey = certificate.subkeys.firstIndex { $0.fingerprint == key }.map { ["key \($0 + 1)"] } ?? []
        let answers = (subkey + ["revkey", "y", entry, "", "y", "save"]).map { "\($0)\n" }.joined()
        try gpg.run(
            "--no-batch", "--command-fd", "0", "--status-fd", "2", "--edit-key", "\(certificate.fingerprint)",
            input: answers
        ).succeeded()
        return try self.certificate()
    }
}
