import OpenPGP
import Testing
import TestSupport

/// sq as a peer: everything it works with is a file.
final class SQPeer: Peer {
    private let sq: SQ
    private var passphrase: String?
    private var knows: [String] = []

    init() throws {
        sq = try SQ()
    }

    private var isEarly: Bool { sq.dialect == .early }
    private var ownKey: String { sq.folder.path("own") }

    /// Runs sq where it may need the passphrase of its own key.
    private func run(_ arguments: [String]) throws -> ProgramResult {
        guard let passphrase else { return try sq.run(arguments) }
        return try sq.run(arguments, passphrase: passphrase)
    }

    func learn(_ certificate: Certificate) throws {
        knows.append(try sq.folder.write("\(certificate.fingerprint)", certificate.encoded))
    }

    func take(_ block: String, passphrase: String?) throws {
        _ = try sq.folder.write("own", block.utf8)
        self.passphrase = passphrase
    }

    func makeKey() async throws {
        try await makeKey(until: nil)
    }

    func makeKey(lasting days: UInt32) async throws {
        try await makeKey(until: Holder.time + days * 86400)
    }

    /// sq 0.27 makes no P-256 keys, so it gets one of ours.
    private func makeKey(until end: UnixSeconds?) async throws {
        let keys = try await SoftwareKeys(userID: "peer@example.com", answers: false, expiresAt: end)
        try take(try keys.block.armored(passphrase: nil), passphrase: nil)
    }

    func certificate() throws -> Certificate {
        let output = sq.folder.path("certificate")
        let command = isEarly ? ["key", "extract-cert", ownKey] : ["key", "delete", "--cert-file", ownKey]
        try sq.run(command + ["--output", output]).succeeded()
        return try Certificate(armored: String(decoding: try sq.folder.read("certificate"), as: UTF8.self))
    }

    func secretKeys(passphrase: String?) throws -> String {
        let file = passphrase == nil ? "unlocked" : "locked"
        // Without a passphrase it takes off the one that it had put on, so that every byte is its own.
        let source = passphrase == nil ? sq.folder.path("locked") : ownKey
        if passphrase == nil { _ = try secretKeys(passphrase: "once") }
        var command = ["key", "password", "--output", sq.folder.path(file)]
        if isEarly {
            command += passphrase == nil ? ["--clear", source] : [source]
        } else {
            command += ["--cert-file", source]
            command +=
                try passphrase.map { ["--new-password-file", try sq.folder.write("new", $0.utf8)] }
                ?? ["--clear-password"]
        }
        try sq.run(command, passphrase: passphrase ?? "once").succeeded()
        return String(decoding: try sq.folder.read(file), as: UTF8.self)
    }

    func list(_ certificate: Certificate) throws -> [ListedKey] {
        let text = try sq.run(["inspect", try sq.folder.write("theirs", certificate.encoded)]).succeeded().output
        return text.split(separator: "\n\n").compactMap { part in
            guard let fingerprint = part.firstMatch(of: /(?:Fingerprint|Subkey): ([0-9A-F]{40})/)?.output.1,
                let flags = part.firstMatch(of: /Key flags: (.*)/)?.output.1
            else { return nil }
            let letters = [("auth", "A"), ("certif", "C"), ("encryption", "E"), ("signing", "S")]
            return ListedKey(
                fingerprint: fingerprint, usage: letters.filter { flags.contains($0.0) }.map(\.1).joined(),
                end: part.firstMatch(of: /Expiration time: ([0-9-]{10})/).map { String($0.output.1) })
        }
    }

    func packets(_ certificate: Certificate) throws -> String {
        try sq.run(["packet", "dump", try sq.folder.write("theirs", certificate.encoded)]).succeeded().output
    }

    private var signers: [String] { knows.flatMap { [isEarly ? "--signer-cert" : "--signer-file", $0] } }

    func verify(_ signed: [UInt8], _ form: SignedForm, over content: [UInt8]) throws -> Verdict {
        let file = try sq.folder.write("signed", signed)
        let output = ["--output", sq.folder.path("verified")]
        switch form {
        case .detached:
            let beside = [isEarly ? "--detached" : "--signature-file", file]
            return Self.verdict(
                try sq.run(["verify"] + signers + beside + [try sq.folder.write("content", content)]))
        case .cleartext:
            return Self.verdict(try sq.run(["verify"] + signers + output + (isEarly ? [] : ["--cleartext"]) + [file]))
        case .inline:
            return Self.verdict(try sq.run(["verify"] + signers + output + (isEarly ? [] : ["--message"]) + [file]))
        }
    }

    func open(_ message: [UInt8]) throws -> (content: [UInt8]?, verdict: Verdict) {
        let file = try sq.folder.write("message", message)
        let keys = [isEarly ? "--recipient-key" : "--recipient-file", ownKey]
        let result = try run(["decrypt"] + keys + signers + ["--output", sq.folder.path("opened"), file])
        return (result.status == 0 ? try sq.folder.read("opened") : nil, Self.verdict(result))
    }

    private static func verdict(_ result: ProgramResult) -> Verdict {
        // Where it has a terminal, it says everything there.
        let text = result.output + result.errors
        guard result.status == 0,
            let key = text.firstMatch(of: /(?:Good signature from|signature made by) ([0-9A-F]{16,40})/)
        else { return .refused }
        return .good(String(key.output.1.suffix(16)))
    }

    func sign(_ content: [UInt8], _ form: SignedForm, on day: UnixSeconds?, armored: Bool) throws -> [UInt8] {
        let binary = armored ? [] : ["--binary"]
        let output = sq.folder.path("signed")
        let command: [String]
        switch form {
        case .cleartext: command = [isEarly ? "--cleartext-signature" : "--cleartext", "--output", output]
        case .detached:
            command = binary + (isEarly ? ["--detached", "--output", output] : ["--signature-file", output])
        case .inline: command = binary + (isEarly ? [] : ["--message"]) + ["--output", output]
        }
        let key = [isEarly ? "--signer-key" : "--signer-file", ownKey]
        let time = day.map { ["--time", ListedKey.day($0)] } ?? []
        let file = try sq.folder.write("content", content)
        try run((isEarly ? ["sign"] + time : time + ["sign"]) + command + key + [file]).succeeded()
        return try sq.folder.read("signed")
    }

    func seal(_ content: [UInt8], to recipient: Certificate, signs: Bool, compresses: Bool) throws -> [UInt8] {
        let to = try sq.folder.write("recipient", recipient.encoded)
        var command = ["encrypt", "--binary", "--compression", compresses ? "zip" : "none"]
        command += [isEarly ? "--recipient-cert" : "--for-file", to, "--output", sq.folder.path("message")]
        if signs {
            command += [isEarly ? "--signer-key" : "--signer-file", ownKey]
        } else if !isEarly {
            command += ["--without-signature"]
        }
        try run(command + [try sq.folder.write("content", content)]).orRefusal()
        return try sq.folder.read("message")
    }

    func revoke(_ key: Fingerprint, because reason: RevocationReason) throws -> Certificate {
        let certificate = try certificate()
        let file = sq.folder.path("certificate")
        let isPrimary = key == certificate.fingerprint
        let output: String
        if isEarly {
            let what = isPrimary ? ["certificate"] : ["subkey", "\(key)"]
            let command = ["revoke"] + what + ["\(reason)", "why", "--certificate", file, "--revocation-key", ownKey]
            output = try run(command).succeeded().output
        } else {
            let what = isPrimary ? ["revoke"] : ["subkey", "revoke", "--key", "\(key)"]
            let command = ["key"] + what + ["--cert-file", file, "--revoker-file", ownKey, "--reason", "\(reason)"]
            output = try run(command + ["--message", "why", "--output", "-"]).succeeded().output
        }
        return try certificate.with(revocation: try Armor.decode(output, as: .publicKey), of: key)
    }
}
