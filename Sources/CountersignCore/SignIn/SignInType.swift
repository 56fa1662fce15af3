import CountersignWire

/// A challenge type by which a person may be asked for a sign-in, and those of its methods that do.
struct SignInType {
    let type: ChallengeType
    let methods: [AnswerMethod]

    /// The type with the methods that make a sign-in strong enough; nil if none does.
    fileprivate init?(_ type: ChallengeType, reaching strength: Authentication.Strength) {
        let methods = type.methods.filter { $0.strength(isAAL2: type.isAAL2) >= strength }
        guard !methods.isEmpty else { return nil }
        (self.type, self.methods) = (type, methods)
    }

    /// The type with all its methods.
    fileprivate init(_ type: ChallengeType) { (self.type, methods) = (type, type.methods) }
}

extension TypeStore {
    /// The types by which devices are asked for a sign-in, the first choice first; none if none is as strong as the client
    /// needs it.
    ///
    /// What the client would only like keeps nobody out: last comes the usual type.
    /// Spec: OpenID Connect Core 1.0 §3.1.2.1 (`acr_values`), §5.5.1.1.
    func forSignIn(_ wanted: Wanted, at party: RelyingParty) throws -> [SignInType] {
        // Where a client's server or an app asks, and shows no number, there is one type for it.
        let only: TypeName? =
            wanted.device?.event != nil ? .cotter : wanted.backchannel == nil ? nil : party.backchannel?.type
        let usual = try find(only ?? party.type).flatMap { $0.isOpen(to: party.client) ? $0 : nil }
        guard let strength = wanted.strength else { return usual.map { [SignInType($0)] } ?? [] }
        let names = only == nil ? party.stepUpTypes : []
        let others = try names.compactMap { try find($0) }.filter { $0.isOpen(to: party.client) }
        let strong = ([usual].compactMap(\.self) + others).compactMap { SignInType($0, reaching: strength) }
        return wanted.isStrengthEssential ? strong : strong + [usual].compactMap { $0.map { SignInType($0) } }
    }

    /// The type whose code is scanned to sign in; nil if it is not as strong as the client needs it, or not there.
    func codeForSignIn(_ wanted: Wanted, at party: RelyingParty) throws -> SignInType? {
        guard let type = try find(.qr), type.isOpen(to: party.client) else { return nil }
        guard wanted.isStrengthEssential, let strength = wanted.strength else { return SignInType(type) }
        return SignInType(type, reaching: strength)
    }
}
