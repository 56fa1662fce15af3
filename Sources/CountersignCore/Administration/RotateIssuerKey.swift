package import CountersignWire
import Encodings
import OpenPGP

/// Replaces the issuer's keys, one use at a time, without refusing anything in the meantime.
///
/// A key is *next* until every server holds it and, for a key that signs, until devices know it. Then it is
/// *current*. Then it is *retired*, and what it signed, or what was encrypted to it, is still accepted for a while.
/// Each server reads the keys again once a minute and does not use older ones, so each step waits longer than a
/// minute.
/// Spec: docs/decisions/0064-keys-that-rotate.md.
package enum RotateIssuerKey {
    /// How long a signing key is published before it is used, so that devices and caches learn it.
    package static let publication = Seconds.days(1)
    /// How long what a retired key did is still accepted, at least; devices fetch the issuer's certificate twice in
    /// this time.
    package static let honour = Seconds.days(1)
    /// How long a step waits at least, so that every server has read the result of the previous step.
    package static let settling: Seconds = 90
    private static let attempts = 5
    /// How many subkeys the certificate may have.
    ///
    /// Each takes up to four packets with its revocations, and a certificate may have at most 256 packets.
    private static let mostSubkeys = 60
    /// How many of these places are kept for keys that replace compromised ones.
    private static let keptSubkeys = 8

    /// The result of the operation.
    package enum Outcome: Sendable {
        /// The rotation has begun or was hastened; this key will replace the current one.
        case begun(IssuerKey)
        /// An earlier rotation, to this key, has not reached its next step.
        case underWay(IssuerKey)
        /// The issuer's certificate has no room for another key.
        case certificateFull
    }

    /// Begins a rotation, or hastens the one in progress.
    ///
    /// - Parameters:
    ///   - use: the use of the key.
    ///   - isAtOnce: whether the next key is used as soon as every server holds it. Devices may not know it yet; they
    ///     fetch it when they meet it.
    ///   - isCompromised: whether somebody else may have the current key. The next key is then used as soon as every
    ///     server holds it, and from then on nothing of the compromised key is accepted.
    ///   - actor: who asks.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``, or an error of changing the certificate.
    package static func begin(
        _ use: KeyUse, isAtOnce: Bool, isCompromised: Bool = false, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let hastens = isAtOnce || isCompromised
        return try await changing(ports, as: actor) { material, now in
            // An encryption key is published only when it is used, so nobody has to learn it before.
            let wait = hastens || use == .encryption ? settling : publication
            let due = now.adding(wait)
            var step = Step(material)
            if isCompromised {
                // The next key is compromised as well, because it is stored together with the current one.
                try await step.disown(use, at: now)
            } else if var next = material.key(use, .next) {
                guard hastens else { return (step, .underWay(next)) }
                next.changesAt = min(next.changesAt ?? due, due)
                step.put(next)
                return (step, .begun(next))
            }
            let room = mostSubkeys - (isCompromised ? 0 : keptSubkeys)
            guard !use.isSubkey || step.certificate.subkeys.count < room else {
                return (Step(material), .certificateFull)
            }
            let next = try IssuerKey.make(
                use, .next, id: ports.random.id(at: now), at: now, changesAt: due, rsaKeys: ports.rsaKeys)
            step.put(next)
            if use == .signing { try await step.publish(next, at: now) }
            return (step, .begun(next))
        }
    }

    /// Makes the steps that are due.
    package static func sweep(ports: Ports) async throws {
        var isAnyDue = true
        while isAnyDue {
            isAnyDue = try await changing(ports, as: .system) { material, now in
                guard let due = material.kept.first(where: { $0.changesAt.map { $0 <= now } ?? false }) else {
                    return (Step(material), false)
                }
                return (try await step(of: due, in: material, at: now), true)
            }
        }
    }

    /// The step of a key whose time of change has come.
    private static func step(of key: IssuerKey, in material: IssuerKeyMaterial, at now: Timestamp) async throws -> Step
    {
        var step = Step(material)
        var key = key
        if key.state == .retired {
            try await step.end(key, at: now)
            return step
        }
        if var earlier = material.key(key.use, .current) {
            earlier.state = .retired
            earlier.changesAt = now.adding(earlier.isCompromised ? 0 : key.use.honour)
            step.put(earlier)
        }
        key.state = .current
        key.changesAt = nil
        step.put(key)
        if key.use == .encryption { try await step.publish(key, at: now) }
        return step
    }

    /// The changes of one commit.
    private struct Step: Sendable {
        let material: IssuerKeyMaterial
        private(set) var put: [IssuerKey] = []
        private(set) var ended: [IssuerKey] = []
        /// The certificate after the step.
        private(set) var certificate: Certificate

        init(_ material: IssuerKeyMaterial) {
            self.material = material
            certificate = material.certificate
        }

        var isNothing: Bool { put.isEmpty && ended.isEmpty }

        mutating func put(_ key: IssuerKey) { put.append(key) }

        /// Marks all keys of a use as compromised.
        ///
        /// The next key ends now, and retired keys are due to end. Subkeys that ended earlier as superseded are
        /// revoked again as compromised.
        mutating func disown(_ use: KeyUse, at now: Timestamp) async throws {
            for var key in material.kept where key.use == use {
                key.isCompromised = true
                switch key.state {
                case .next: try await end(key, at: now)
                case .current: put(key)
                case .retired:
                    key.changesAt = now
                    put(key)
                }
            }
            guard let flags = use.flags else { return }
            // The signatures of a superseded key made before its revocation still count, and whoever has the key
            // could backdate a signature.
            let kept = Set(try material.kept.compactMap { try $0.fingerprint() })
            for subkey in certificate.subkeys
            where subkey.flags.contains(flags) && !kept.contains(subkey.fingerprint) && subkey.revokedAt != 0 {
                try await revoke(subkey.fingerprint, because: .compromised, at: now)
            }
        }

        /// Adds a key to the certificate; a push key is left out.
        mutating func publish(_ key: IssuerKey, at now: Timestamp) async throws {
            guard let subkey = try key.subkey() else { return }
            certificate = try await certificate.adding(subkey, by: material.certifier, at: now.unixSeconds)
        }

        /// Deletes a key's private half and, if the key is a subkey of the certificate, revokes it.
        mutating func end(_ key: IssuerKey, at now: Timestamp) async throws {
            ended.append(key)
            guard let fingerprint = try key.fingerprint(),
                certificate.subkeys.contains(where: { $0.fingerprint == fingerprint })
            else { return }
            try await revoke(fingerprint, because: key.isCompromised ? .compromised : .superseded, at: now)
        }

        private mutating func revoke(
            _ fingerprint: Fingerprint, because reason: RevocationReason, at now: Timestamp
        ) async throws {
            certificate = try await certificate.revoking(
                fingerprint, because: reason, by: material.certifier, at: now.unixSeconds)
        }
    }

    /// Reads the keys, decides on a step, and commits it unless the keys have changed since; then it starts again.
    private static func changing<Result: Sendable>(
        _ ports: Ports, as actor: Actor, _ decide: (IssuerKeyMaterial, Timestamp) async throws -> (Step, Result)
    ) async throws -> Result {
        for _ in 0..<attempts {
            let now = ports.time.now
            let material = try await ports.store.read { try $0.keys.issuerKeys() }
            let (step, result) = try await decide(material, now)
            guard !step.isNothing else { return result }
            let isDone = try await ports.commit(at: now, as: actor) { work in
                // Many steps leave the certificate as it is, so the keys themselves must be compared as well.
                guard try work.keys.replaceCertificate(material.certificate, by: nil),
                    try work.keys.issuerKeys().kept.map(\.status) == material.kept.map(\.status),
                    try work.keys.replaceCertificate(material.certificate, by: step.certificate)
                else { return false }
                for key in step.put { try work.keys.put(key) }
                for key in step.ended { try work.keys.delete(key) }
                try work.raise(.issuerKeysChanged(step.put, ended: step.ended))
                return true
            }
            if isDone { return result }
        }
        throw StoreError.serializationFailure
    }
}

extension IssuerKey {
    /// The changing values of a key, to detect a concurrent change.
    fileprivate var status: [String] {
        ["\(id)", state.rawValue, "\(changesAt?.milliseconds ?? -1)", "\(isCompromised)"]
    }
}

extension KeyUse {
    /// The flags of a subkey for this use; nil if the key is not a subkey.
    fileprivate var flags: KeyFlags? {
        switch self {
        case .signing: .sign
        case .encryption: .encrypt
        case .push, .token, .tokenRS256, .cotter: nil
        }
    }

    /// How long what a retired key of this use did is still accepted.
    fileprivate var honour: Seconds {
        switch self {
        case .signing, .encryption, .push: RotateIssuerKey.honour
        // A token that was signed last is still good for its lifetime, and relying parties keep the set of keys.
        case .token, .tokenRS256, .cotter: RotateIssuerKey.honour + TokenLifetimes.longestAccess
        }
    }
}
