package import CountersignWire
import Encodings
import OpenPGP

/// Replaces the issuer's keys, one use at a time, without a moment in which something is refused.
///
/// A key is *next* until every server holds it, and until devices know it where it is to sign; then it is *current*;
/// then it is *retired*, and what it did is honoured for a while. Servers read the keys again once a minute and do
/// nothing with older ones, so a step waits for longer than that.
/// Spec: design 2b §8, 3.1.
package enum RotateIssuerKey {
    /// How long a key that is to sign is published before it does: devices and caches have learnt it.
    package static let publication = Seconds.days(1)
    /// How long what a retired key did is honoured: devices fetch the issuer's certificate twice in it.
    package static let honour = Seconds.days(1)
    /// How long a step waits at least, until every server has read the one before.
    package static let settling: Seconds = 90
    private static let attempts = 5
    /// How many subkeys the certificate may have: each is up to four packets, with its revocations, of 256 that a
    /// certificate has at most.
    private static let mostSubkeys = 60

    /// What came of it.
    package enum Outcome: Sendable {
        /// The key that will take the place of the current one.
        case begun(IssuerKey)
        /// An earlier rotation has not reached its next step.
        case underWay(IssuerKey)
        /// The issuer's certificate has no room for another key.
        case certificateFull
    }

    /// Begins a rotation, or hastens the one that is under way.
    ///
    /// - Parameters:
    ///   - use: what the key is for.
    ///   - isAtOnce: whether the next key is used as soon as every server holds it, though devices may not know it yet;
    ///     they fetch it when they meet it.
    ///   - isCompromised: whether somebody else may have the current key: the next is used at once, and nothing that the
    ///     earlier one does is honoured from then on.
    ///   - actor: who asks.
    ///   - ports: the world.
    package static func begin(
        _ use: KeyUse, isAtOnce: Bool, isCompromised: Bool = false, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let hastens = isAtOnce || isCompromised
        return try await changing(ports, as: actor) { material, now in
            // What opens is published when it is used: there is nobody to learn it before.
            let wait = hastens || use == .encryption ? settling : publication
            let due = now.adding(wait)
            var step = Step(material)
            if isCompromised {
                // Who has the current key has the one that waits, too: they are kept together.
                try await step.disown(use, at: now)
            } else if var next = material.key(use, .next) {
                guard hastens else { return (step, .underWay(next)) }
                next.changesAt = min(next.changesAt ?? due, due)
                step.put(next)
                return (step, .begun(next))
            }
            guard use == .push || step.certificate.subkeys.count < mostSubkeys else {
                return (Step(material), .certificateFull)
            }
            let next = IssuerKey.make(use, .next, id: ports.random.id(at: now), at: now, changesAt: due)
            step.put(next)
            if use == .signing { try await step.publish(next, at: now) }
            return (step, .begun(next))
        }
    }

    /// Does the steps that are due.
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

    /// The step of a key whose time has come.
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
            earlier.changesAt = now.adding(earlier.isCompromised ? 0 : honour)
            step.put(earlier)
        }
        key.state = .current
        key.changesAt = nil
        step.put(key)
        if key.use == .encryption { try await step.publish(key, at: now) }
        return step
    }

    /// What one commit changes.
    private struct Step: Sendable {
        let material: IssuerKeyMaterial
        private(set) var put: [IssuerKey] = []
        private(set) var ended: [IssuerKey] = []
        /// The certificate as it is to be.
        private(set) var certificate: Certificate

        init(_ material: IssuerKeyMaterial) {
            self.material = material
            certificate = material.certificate
        }

        var isNothing: Bool { put.isEmpty && ended.isEmpty }

        mutating func put(_ key: IssuerKey) { put.append(key) }

        /// Takes all keys of a use for somebody else's as well: those in use, those that were, and the one that waits.
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
            // What was superseded counts for what it signed before: who has it could date that back.
            let kept = Set(try material.kept.compactMap { try $0.fingerprint() })
            for subkey in certificate.subkeys
            where subkey.flags.contains(flags) && !kept.contains(subkey.fingerprint) && subkey.revokedAt != 0 {
                try await revoke(subkey.fingerprint, because: .compromised, at: now)
            }
        }

        /// Puts a subkey into the certificate.
        mutating func publish(_ key: IssuerKey, at now: Timestamp) async throws {
            guard let subkey = try key.subkey() else { return }
            certificate = try await certificate.adding(subkey, by: material.certifier, at: now.unixSeconds)
        }

        /// Takes a key out of use for good: revoked where it is a published subkey, and its private half deleted.
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

    /// Reads the keys, decides on a step, and does it unless they have changed meanwhile; then again.
    private static func changing<Result: Sendable>(
        _ ports: Ports, as actor: Actor, _ decide: (IssuerKeyMaterial, Timestamp) async throws -> (Step, Result)
    ) async throws -> Result {
        for _ in 0..<attempts {
            let now = ports.time.now
            let material = try await ports.store.read { try $0.keys.issuerKeys() }
            let (step, result) = try await decide(material, now)
            guard !step.isNothing else { return result }
            let isDone = try await ports.commit(at: now, as: actor) { work in
                // Many a step leaves the certificate as it is: the keys themselves must be what they were, too.
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
    /// What changes of a key, to see that nobody else has changed it.
    fileprivate var status: [String] {
        ["\(id)", state.rawValue, "\(changesAt?.milliseconds ?? -1)", "\(isCompromised)"]
    }
}

extension KeyUse {
    /// What a subkey of this use is good for; nil where it is none.
    fileprivate var flags: KeyFlags? {
        switch self {
        case .signing: .sign
        case .encryption: .encrypt
        case .push: nil
        }
    }
}
