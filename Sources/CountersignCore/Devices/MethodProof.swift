import CountersignWire
import OpenPGP

/// What the signature of a method proves for a change of methods or an act on another device.
enum MethodProof: Sendable {
    /// There is no signature of a method; a change does not need one, an act may.
    case none
    /// This method has signed.
    case signed(AnswerMethod)
    /// There is no signature, and the change needs this one.
    case missing(ChangeMethods.Authority)
    /// The signature is over other content, or is not valid.
    case invalid
    /// The key that signed is not the one of this PIN, which counts as a wrong PIN.
    case wrongPIN(EnrolledPIN)
    /// The PIN is locked, so the signature was not verified.
    case pinLocked

    /// Finds the method that has signed a message.
    ///
    /// The PIN's key is tried last, and only if the PIN is not locked, so that every guess at the PIN is counted.
    ///
    /// - Parameters:
    ///   - message: the message, opened and not yet verified.
    ///   - methods: the methods whose signatures are accepted.
    ///   - enrollment: the enrollment that has the keys.
    ///   - now: the current time.
    init(_ message: UnverifiedMessage, by methods: [AnswerMethod], of enrollment: Enrollment, at now: Timestamp) {
        self = .invalid
        guard message.signature.type == .text else { return }
        let latest = now.adding(ReplayGuard.tolerance).unixSeconds
        if methods.contains(.biometric), let key = enrollment.biometric?.key,
            (try? message.verified(signers: [key], now: latest)) != nil
        {
            self = .signed(.biometric)
        } else if methods.contains(.pin), let pin = enrollment.pin {
            guard pin.lockedAt == nil else {
                self = .pinLocked
                return
            }
            do throws(OpenPGPError) {
                _ = try message.verified(signers: [pin.key], now: latest)
                self = .signed(.pin)
            } catch {
                if error == .unknownSigner { self = .wrongPIN(pin) }
            }
        }
    }
}

extension Enrollment {
    /// The methods whose signatures are accepted for a change, whether one is needed, and which one a refusal names.
    ///
    /// If a PIN counts, a change needs its signature; a biometric that counts may sign its own replacement or removal
    /// instead. If only a biometric counts, only its own replacement or removal needs its signature. The signature of a
    /// method that waits is never needed, nor is one for the removal of a method that waits. Spec:
    /// docs/protocol/methods.md, *Which authorization is needed*.
    func signers(
        of change: SignedChange, at now: Timestamp
    ) -> (methods: [AnswerMethod], isNeeded: Bool, named: ChangeMethods.Authority) {
        if undoes(change, at: now) { return ([], false, .method) }
        let replacesBiometric = change.method == .biometric && change.replaces
        let hasBiometric = counts(.biometric, at: now)
        // check: WhoCountsTests.takenOff
        guard !counts(.pin, at: now) else {
            return (replacesBiometric && hasBiometric ? [.biometric, .pin] : [.pin], true, .pin)
        }
        if hasBiometric { return ([.biometric], replacesBiometric, .biometric) }
        return ([], false, .method)
    }

    /// Whether a change removes a method that waits; for that, the signature of the primary key is enough.
    private func undoes(_ change: SignedChange, at now: Timestamp) -> Bool {
        change.removes && waits(change.method, at: now)
    }

    /// Whether a change needs a ticket: no method has signed it, and it is too late to count as part of enrolling.
    func needsTicket(for change: SignedChange, signedBy signer: AnswerMethod?, at now: Timestamp) -> Bool {
        signer == nil && !undoes(change, at: now) && now >= createdAt.adding(Self.enrolling)
    }

    /// Whether the method that signed a change is still accepted for it and still has the same key.
    ///
    /// - Parameters:
    ///   - change: the change.
    ///   - signer: the method that has signed besides the primary key; nil if none has.
    ///   - judged: the enrollment as it was when the signature was verified.
    ///   - now: the current time.
    func isProved(_ change: SignedChange, by signer: AnswerMethod?, like judged: Enrollment, at now: Timestamp) -> Bool
    {
        let signers = signers(of: change, at: now)
        guard let signer else { return !signers.isNeeded }
        return signers.methods.contains(signer) && key(of: signer)?.fingerprint == judged.key(of: signer)?.fingerprint
    }
}

extension SignedChange {
    /// The method that is changed.
    var method: AnswerMethod {
        switch self {
        case .key(let change): change.method
        case .custom(let change): .custom(change.name)
        }
    }

    /// Whether the change replaces or removes a key.
    fileprivate var replaces: Bool {
        switch self {
        case .key(let change): change.old != nil
        case .custom: false
        }
    }

    /// Whether the change removes the method.
    var removes: Bool {
        switch self {
        case .key(let change): change.new == nil
        case .custom(let change): change.customDataHash == nil
        }
    }
}
