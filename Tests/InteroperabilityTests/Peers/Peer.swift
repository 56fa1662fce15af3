import Encodings
import Foundation
import OpenPGP
import Testing
import TestSupport

/// The other programs that read and write OpenPGP.
enum PeerName: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case gpg, sq, rnp

    var testDescription: String { rawValue }

    /// Those that are here; `scripts/test` names the others and refuses to go on without them where all must run.
    static let installed = allCases.filter { name in
        let leftOut = ProcessInfo.processInfo.environment["COUNTERSIGN_WITHOUT_PEERS"] ?? ""
        guard !leftOut.split(separator: ",").contains(name.rawValue[...]) else { return false }
        return switch name {
        case .gpg: GPG.isInstalled
        case .sq: SQ.isInstalled
        case .rnp: RNP.isInstalled
        }
    }

    /// The program with empty key rings.
    func start() throws -> any Peer {
        switch self {
        case .gpg: try GPGPeer()
        case .sq: try SQPeer()
        case .rnp: try RNPPeer()
        }
    }

    /// The program with a P-256 key of its own that signs and one that decrypts.
    func startWithKey() async throws -> any Peer {
        let peer = try start()
        try await peer.makeKey()
        return peer
    }
}

/// How a signature and what it covers come together.
enum SignedForm: String, CaseIterable, Sendable {
    case cleartext, detached, inline
}

/// What a peer says of a signature, with the key ID it names.
enum Verdict: Equatable {
    case good(String)
    /// The signature is right, but the key is revoked.
    case revokedKey(String)
    /// The signature is right, but the key has expired since.
    case expiredKey(String)
    case refused

    static func good(_ fingerprint: Fingerprint) -> Verdict { .good(fingerprint.keyIDText) }
    static func revokedKey(_ fingerprint: Fingerprint) -> Verdict { .revokedKey(fingerprint.keyIDText) }
    static func expiredKey(_ fingerprint: Fingerprint) -> Verdict { .expiredKey(fingerprint.keyIDText) }
}

/// A key as a peer lists it.
struct ListedKey: Equatable {
    let fingerprint: String
    /// The letters of what it may do: A, C, E, S.
    let usage: String
    /// The day it ends; nil for never.
    let end: String?

    init(fingerprint: some StringProtocol, usage: some StringProtocol, end: String?) {
        self.fingerprint = fingerprint.uppercased()
        self.usage = String(usage.uppercased().sorted())
        self.end = end
    }

    /// The key as we read it.
    init(_ key: CertifiedKey) {
        let letters = [(KeyFlags.authenticate, "A"), (.certify, "C"), (.encrypt, "E"), (.sign, "S")]
        self.init(
            fingerprint: key.fingerprint.description,
            usage: letters.filter { key.flags.isSuperset(of: $0.0) }.map(\.1).joined(),
            end: key.expiresAt.map { Self.day($0) })
    }

    static func day(_ time: UnixSeconds) -> String {
        Date(timeIntervalSince1970: Double(time)).formatted(.iso8601.year().month().day())
    }
}

/// What every one of the other programs can do, each in its own way.
protocol Peer: AnyObject {
    /// Learns somebody else's certificate.
    func learn(_ certificate: Certificate) throws
    /// Takes a block of secret keys as its own.
    func take(_ block: String, passphrase: String?) throws
    /// Makes a P-256 key of its own that signs and one that decrypts.
    func makeKey() async throws
    /// Makes such a key as of ``Holder/time``, which lasted some days.
    func makeKey(lasting days: UInt32) async throws
    /// The certificate of its own key.
    func certificate() throws -> Certificate
    /// Its own secret keys, armored; only after ``makeKey()``.
    func secretKeys(passphrase: String?) throws -> String
    /// The keys it finds in a certificate.
    func list(_ certificate: Certificate) throws -> [ListedKey]
    /// What it finds in a certificate, packet by packet.
    func packets(_ certificate: Certificate) throws -> String
    /// What it says of a signature; `content` counts where the signature is beside it.
    func verify(_ signed: [UInt8], _ form: SignedForm, over content: [UInt8]) throws -> Verdict
    /// Decrypts and verifies a message; no content if it refuses.
    func open(_ message: [UInt8]) throws -> (content: [UInt8]?, verdict: Verdict)
    /// Signs with its own key, now or on a day, into a binary or an armored file; a cleartext one is armored anyway.
    func sign(_ content: [UInt8], _ form: SignedForm, on day: UnixSeconds?, armored: Bool) throws -> [UInt8]
    /// Encrypts to another, and signs unless told not to; throws ``PeerRefusal`` if it will not.
    func seal(_ content: [UInt8], to recipient: Certificate, signs: Bool, compresses: Bool) throws -> [UInt8]
    /// Its own certificate after it revoked a key of it.
    func revoke(_ key: Fingerprint, because reason: RevocationReason) throws -> Certificate
}

/// A peer did not do what it was asked for.
struct PeerRefusal: Error {
    let result: ProgramResult
}

extension Peer {
    /// Signs with its own key, now or on a day, into a binary file.
    func sign(_ content: [UInt8], _ form: SignedForm, on day: UnixSeconds? = nil) throws -> [UInt8] {
        try sign(content, form, on: day, armored: false)
    }

    /// Encrypts to another and signs, as the profile wants it.
    func seal(_ content: [UInt8], to recipient: Certificate) throws -> [UInt8] {
        try seal(content, to: recipient, signs: true, compresses: false)
    }
}

extension ProgramResult {
    /// Records an issue if the program did not succeed.
    @discardableResult
    func succeeded(sourceLocation: SourceLocation = #_sourceLocation) -> ProgramResult {
        #expect(status == 0, "\(output)\(errors)", sourceLocation: sourceLocation)
        return self
    }

    /// Throws if the program did not succeed, where that is an answer.
    func orRefusal() throws {
        guard status == 0 else { throw PeerRefusal(result: self) }
    }
}

extension Fingerprint {
    /// The key ID as programs print it.
    var keyIDText: String { String(description.suffix(16)) }
}
