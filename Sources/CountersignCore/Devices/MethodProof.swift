import CountersignWire
import OpenPGP

/// What a device proves by the signature of one of its methods.
enum MethodProof: Sendable {
    /// Nothing, and nothing is needed.
    case none
    /// That the user is there, by a method.
    case signed(AnswerMethod)
    /// Nothing, though something is needed.
    case missing(ChangeMethods.Authority)
    /// Something else than what was to be signed, or by somebody else.
    case invalid
    /// That the PIN is not known, which will count.
    case wrongPIN(EnrolledPIN)
    /// Nothing: whether it is the right PIN is not told any more.
    case pinLocked

    /// Looks who has signed.
    ///
    /// The PIN's key is looked at last, and only where a wrong PIN will count.
    init(_ message: UnverifiedMessage, by methods: [AnswerMethod], of enrollment: Enrollment, at now: Timestamp) {
        self = .invalid
        guard message.signature.type == .text else { return }
        let latest = now.adding(ReplayGuard.tolerance).unixSeconds
        if methods.contains(.biometric), let biometric = enrollment.biometric,
            (try? message.verified(signers: [biometric.key], now: latest)) != nil
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
    /// Which methods' signatures mean something for a change, and whether one is needed.
    ///
    /// A method goes with its own signature or the PIN's; one that waits guards nothing. Spec: design 13 §2.1.
    func signers(
        of change: SignedChange, at now: Timestamp
    ) -> (methods: [AnswerMethod], isNeeded: Bool, named: ChangeMethods.Authority) {
        if undoes(change, at: now) { return ([], false, .method) }
        let replacesBiometric = change.method == .biometric && change.replaces
        let hasBiometric = counts(.biometric, at: now)
        if counts(.pin, at: now) {
            return (replacesBiometric && hasBiometric ? [.biometric, .pin] : [.pin], true, .pin)
        }
        if hasBiometric { return ([.biometric], replacesBiometric, .biometric) }
        return ([], false, .method)
    }

    /// Whether a change gives up what waits, which needs nothing besides the device's own keys.
    private func undoes(_ change: SignedChange, at now: Timestamp) -> Bool {
        change.removes && waits(change.method, at: now)
    }

    /// Whether nothing but a ticket authorizes a change.
    func needsTicket(for change: SignedChange, signedBy signer: AnswerMethod?, at now: Timestamp) -> Bool {
        signer == nil && !undoes(change, at: now) && now >= createdAt.adding(Self.enrolling)
    }

    /// Whether what a change was judged by is still so.
    func isProved(_ change: SignedChange, by signer: AnswerMethod?, like judged: Enrollment, at now: Timestamp) -> Bool
    {
        let signers = signers(of: change, at: now)
        guard let signer else { return !signers.isNeeded }
        return signers.methods.contains(signer) && key(of: signer)?.fingerprint == judged.key(of: signer)?.fingerprint
    }
}

extension SignedChange {
    /// The method that changes.
    var method: AnswerMethod {
        switch self {
        case .key(let change): change.method
        case .custom(let change): .custom(change.name)
        }
    }

    /// Whether a key is replaced or removed.
    fileprivate var replaces: Bool {
        switch self {
        case .key(let change): change.old != nil
        case .custom: false
        }
    }

    /// Whether the method is given up.
    fileprivate var removes: Bool {
        switch self {
        case .key(let change): change.new == nil
        case .custom(let change): change.customDataHash == nil
        }
    }
}
