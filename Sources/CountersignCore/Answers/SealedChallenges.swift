import Crypto
import CountersignWire
import Encodings
import OpenPGP
import Synchronization

/// The challenges that were sealed last, so that the polls of a device do not seal the same one again and again.
///
/// A message is found by the hash of what it seals and by the key that signed it, so a change of either seals anew. The
/// messages are kept in two generations: when the young one is full, it becomes the old one, and what nobody has used
/// since then is gone.
final class SealedChallenges: Sendable {
    /// What a sealed message is found by.
    struct Name: Hashable {
        fileprivate let digest: SHA256.Digest
        fileprivate let signer: Fingerprint

        init(of body: [UInt8], signer: Fingerprint) {
            digest = SHA256.hash(data: body)
            self.signer = signer
        }
    }

    private struct Generations {
        var young: [Name: [UInt8]] = [:]
        var old: [Name: [UInt8]] = [:]
        var youngBytes = 0
    }

    private let capacity: Int
    private let generations = Mutex(Generations())

    /// - Parameter capacity: how many bytes the messages may take together.
    init(capacity: Int = 64 * 1024 * 1024) {
        self.capacity = capacity
    }

    /// A message that was kept; nil if there is none.
    func find(_ name: Name) -> [UInt8]? {
        generations.withLock { generations in
            if let message = generations.young[name] { return message }
            guard let message = generations.old[name] else { return nil }
            keep(message, as: name, in: &generations)
            return message
        }
    }

    /// Keeps a message.
    func keep(_ message: [UInt8], as name: Name) {
        generations.withLock { keep(message, as: name, in: &$0) }
    }

    private func keep(_ message: [UInt8], as name: Name, in generations: inout Generations) {
        if generations.youngBytes + message.count > capacity / 2 {
            generations = Generations(old: generations.young)
        }
        guard generations.young.updateValue(message, forKey: name) == nil else { return }
        generations.youngBytes += message.count
    }
}

extension Ports {
    /// A challenge, signed as the issuer and encrypted to a device: a binary OpenPGP message; nil for a device without a
    /// certificate.
    ///
    /// - Parameters:
    ///   - challenge: the challenge.
    ///   - attemptsLeft: how many wrong PINs may still be typed; nil where no PIN answers.
    ///   - enrollment: the device.
    ///   - now: the current time.
    func sealed(
        _ challenge: Challenge, attemptsLeft: Int?, to enrollment: Enrollment, at now: Timestamp
    ) async throws -> [UInt8]? {
        guard let keys = enrollment.keys else { return nil }
        let body = challenge.body(for: enrollment, attemptsLeft: attemptsLeft).json.encoded
        let name = SealedChallenges.Name(of: body, signer: try self.keys.current().signing.publicKey.fingerprint)
        if let message = sealedChallenges.find(name) { return message }
        let message = try await seal(body, to: keys, at: now)
        sealedChallenges.keep(message, as: name)
        return message
    }

    /// Signs bytes as the issuer and encrypts them to a device: a binary OpenPGP message.
    func seal(_ content: [UInt8], to device: DeviceKeys, at now: Timestamp) async throws -> [UInt8] {
        try await EncryptedMessage.seal(
            .binary(content), signedBy: try keys.current().signing, to: device.encryption.publicKey,
            intendedRecipient: device.primary.fingerprint, at: now.unixSeconds)
    }
}
