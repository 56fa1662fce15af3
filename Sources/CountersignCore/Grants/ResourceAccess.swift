package import CountersignWire
package import Encodings

// Whom an access token may be for, and with which scopes, is decided in this file. It is for us, for userinfo and our
// own API, or for one API that an operator has registered; then it has that API's scopes alone, and is worth nothing
// anywhere else. Elsewhere are what a client gets for itself (GiveClientToken), which names are taken (SetRelyingParty),
// and where a token that was given is good (AccessClaims, IntrospectToken).
//
// Spec: RFC 8707 §2, RFC 9068 §3; docs/decisions/0085-tokens-for-apis.md.

/// What somebody allows a client at an API.
package struct ResourceAccess: Hashable, Sendable {
    /// The API.
    package let resource: ResourceIdentifier
    /// The client that is the API: another one that takes its name takes over nothing of it.
    package let owner: ClientID
    /// The API's scopes, at least one.
    package let scopes: [String]

    /// An access of these parts.
    package init(resource: ResourceIdentifier, of owner: ClientID, scopes: [String]) {
        self.resource = resource
        self.owner = owner
        self.scopes = scopes
    }

    /// The names under which a grant holds the scopes: two APIs may each have a scope `read`.
    var grantedNames: [String] { scopes.map { "\(owner)#\($0)" } }

    /// The clients that are the APIs which a grant names.
    static func owners(in grantedNames: Set<String>) -> [ClientID] {
        let owners = grantedNames.compactMap { name in
            name.contains("#") ? ClientID(String(name.prefix { $0 != "#" })) : nil
        }
        return Set(owners).sorted()
    }

    /// The form in which rows and pages hold what somebody allows.
    package static func json(_ list: [ResourceAccess]) -> JSONValue {
        .array(
            list.map {
                [
                    "resource": .string("\($0.resource)"), "owner": .string("\($0.owner)"),
                    "scopes": .array($0.scopes.map(JSONValue.string)),
                ]
            })
    }

    /// Reads the form; nil if it is malformed.
    package static func list(_ json: JSONValue) -> [ResourceAccess]? {
        guard let array = json.array else { return nil }
        let list = array.compactMap { element -> ResourceAccess? in
            guard let resource = element["resource"]?.string.flatMap({ ResourceIdentifier($0) }),
                let owner = element["owner"]?.string.flatMap({ ClientID($0) }),
                let scopes = element["scopes"]?.array?.compactMap(\.string)
            else { return nil }
            return ResourceAccess(resource: resource, of: owner, scopes: scopes)
        }
        return list.count == array.count ? list : nil
    }
}

extension TokenFamily {
    /// The names under which a grant holds what was given.
    package var grantedNames: [String] { scopes + resources.flatMap(\.grantedNames) }
}

/// The scopes that a client may be given for us; others are an API's, or are ignored.
///
/// Spec: OpenID Connect Core 1.0 §3.1.2.1.
package enum OwnScopes {
    /// All of them, in the order in which they are given.
    package static let all =
        [TokenFamily.openID, "profile", TokenFamily.offlineAccess] + PersonalAddress.Kind.allCases.map(\.rawValue) + [
            Ticket.scope
        ]

    /// Those that are among names.
    package static func known(among named: [String]) -> [String] {
        all.filter { scope in named.contains { $0.hasSameBytes(as: scope) } }
    }
}

/// What a request's scopes and resources come to.
package enum WantedAccess: Equatable, Sendable {
    /// Scopes of ours, and those of APIs.
    case scopes([String], at: [ResourceAccess])
    /// A resource is none, or not one that the client may have tokens for, or there are too many.
    case unknownResource
    /// A scope is that of an API that the request does not name.
    case scopeOfAnother(String)
    /// The request names an API, and none of its scopes.
    case nothing(at: ResourceIdentifier)

    /// What a request's scopes and resources come to.
    ///
    /// - Parameters:
    ///   - named: the scopes of the request.
    ///   - resources: its resources.
    ///   - party: how the client uses the provider.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func of(
        _ named: [String], at resources: [String], for party: RelyingParty, ports: Ports
    ) async throws -> WantedAccess {
        // Most clients have to do with us alone.
        if resources.isEmpty, party.resources.isEmpty { return .scopes(OwnScopes.known(among: named), at: []) }
        return try await ports.store.read {
            try $0.access(named, at: resources, for: party, issuer: ports.issuer)
        }
    }
}

extension Stores {
    /// The API of this name with the client that it is, if a client may have tokens for it; nil otherwise.
    func resource(
        _ identifier: ResourceIdentifier, for party: RelyingParty
    ) throws -> (owner: ClientID, api: ProtectedResource)? {
        // check: ResourceTests.notAllowed
        guard party.resources.contains(identifier) else { return nil }
        guard let owner = try relyingParties.owner(of: identifier), let client = try clients.find(owner) else {
            return nil
        }
        // check: ResourceTests.allowance
        guard client.disabledAt == nil else { return nil }
        return try relyingParties.find(owner)?.resource.map { (owner, $0) }
    }

    /// The API's name for people.
    func name(ofAPI owner: ClientID) throws -> String { try clients.find(owner)?.name.text ?? "\(owner)" }

    /// What a request's scopes and resources come to.
    func access(
        _ named: [String], at resources: [String], for party: RelyingParty, issuer: Issuer
    ) throws -> WantedAccess {
        var found: [ResourceAccess] = []
        for text in Set(resources).sorted() where text != "\(issuer)" {
            guard found.count < ResourceIdentifier.maximumCount, let identifier = ResourceIdentifier(text),
                let (owner, api) = try resource(identifier, for: party)
            else { return .unknownResource }
            let scopes = api.scopes.filter(named.contains)
            if scopes.isEmpty { return .nothing(at: identifier) }
            found.append(ResourceAccess(resource: identifier, of: owner, scopes: scopes))
        }
        let own = OwnScopes.known(among: named)
        let rest = Set(named).subtracting(own).subtracting(found.flatMap(\.scopes))
        if !rest.isEmpty {
            for identifier in party.resources where !found.contains(where: { $0.resource == identifier }) {
                let scopes = try resource(identifier, for: party)?.api.scopes ?? []
                // check: ResourceTests.scopeOfAnother
                guard rest.isDisjoint(with: scopes) else {
                    return .scopeOfAnother(scopes.first(where: rest.contains) ?? "")
                }
            }
        }
        return .scopes(own, at: found)
    }

    /// Whom an access token is for, and its scopes, of an API at least one; nil if the request names what was not given,
    /// or is given no more.
    ///
    /// Without a resource it is for the one API that was given or, if there was none, for us.
    ///
    /// - Parameters:
    ///   - named: the resources that the token request names.
    ///   - scopes: the scopes of ours that were given.
    ///   - given: what was given at APIs.
    ///   - party: how the client uses the provider.
    ///   - issuer: the issuer.
    func target(
        _ named: [String], of scopes: [String], at given: [ResourceAccess], for party: RelyingParty, issuer: Issuer
    ) throws -> AccessTarget? {
        let chosen: ResourceAccess?
        switch Set(named).count {
        case 0:
            // check: ResourceTests.several
            guard given.count <= 1 else { return nil }
            chosen = given.first
        case 1 where named[0] == "\(issuer)": chosen = nil
        case 1:
            guard let found = given.first(where: { "\($0.resource)" == named[0] }) else { return nil }
            chosen = found
        default: return nil
        }
        guard let chosen else { return AccessTarget(resource: nil, scopes: scopes) }
        guard let (owner, api) = try resource(chosen.resource, for: party) else { return nil }
        // check: ResourceTests.nameTaken
        guard owner == chosen.owner else { return nil }
        let left = chosen.scopes.filter(api.scopes.contains)
        return left.isEmpty ? nil : AccessTarget(resource: chosen.resource, scopes: left)
    }
}

extension Issuer {
    /// The audience of a token for an API, or for us.
    ///
    /// Spec: RFC 9068 §3.
    package func audience(of resource: ResourceIdentifier?) -> String { resource?.description ?? description }
}

/// Whom an access token is for.
package struct AccessTarget: Equatable, Sendable {
    /// The API; nil for us.
    package let resource: ResourceIdentifier?
    /// The scopes of the token.
    package let scopes: [String]
}
