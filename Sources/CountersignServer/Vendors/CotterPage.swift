import CountersignCore
import CountersignPages
import CountersignWire
import Hummingbird

/// The page to which an app that was written for Cotter sends a browser, so that a person proves an address.
///
/// It leads into our own pages, by an authorization request with PKCE. Spec: docs/decisions/0108-cotters-door.md.
extension SignInDoor {
    func addCotterPage(to table: inout RouteTable) {
        table.add(.get, CotterPageRequest.path) { [self] request, context in
            let incoming = try await Incoming(request, context)
            let wanted = try CotterPageRequest(incoming)
            guard case .shown(let client, _) = try await ShowRelyingParty.show(wanted.client, ports: ports) else {
                throw PageError.unknownClient
            }
            // check: CotterSwitchTests.off
            guard client.vendors.contains(.cotter) else { throw PageError.unknownClient }
            return try await authorize(wanted.form, incoming, for: wanted)
        }
    }
}

/// What the query of Cotter's page asks for.
///
/// Which way the person proves the address by is theirs to choose, and the client's settings have the ways: `auth_method`,
/// `phone_channels[]` and `use_channel` say nothing, and neither does `identifier_field`.
struct CotterPageRequest: Sendable {
    /// The path of the page.
    static let path = "/app"
    /// The one parameter that may stand more than once.
    static let channels = "phone_channels[]"

    /// The client.
    let client: ClientID
    /// The same request in our own words.
    let form: FormFields
    /// Whether the person need not type the address: the app has said it.
    let skipsName: Bool
    private let kind: PersonalAddress.Kind
    private let user: UserID?

    init(_ incoming: Incoming) throws {
        let query = incoming.query.filter { !$0.value.isEmpty }
        guard let client = query["api_key"].flatMap({ ClientID(cotter: $0) }) else { throw PageError.unknownClient }
        guard let uri = query["redirect_url"] else {
            throw PageError(.unknownReturnAddress, why: "redirect_url", status: 400)
        }
        guard let kind = query["type"].flatMap({ PersonalAddress.Kind(cotter: $0) }) else {
            throw Self.notUnderstood("type must be EMAIL or PHONE")
        }
        guard let challenge = query["code_challenge"] else { throw Self.notUnderstood("code_challenge is missing") }
        guard let state = query["state"] else { throw Self.notUnderstood("state is missing") }
        user = try query["cotter_user_id"].map { text in
            guard let user = UserID(cotter: text) else { throw Self.notUnderstood("cotter_user_id is no user's id") }
            return user
        }
        let typed = query["input"].flatMap { PersonalAddress(typed: $0) }
        let named = typed?.kind == kind ? typed : nil
        self.client = client
        self.kind = kind
        skipsName = query["direct_login"] == "true"
        form = try FormFields(
            FormText.encoded(
                [
                    ("client_id", "\(client)"), ("redirect_uri", uri), ("response_type", "code"),
                    ("scope", "\(TokenFamily.openID) \(TokenFamily.offlineAccess) \(kind.rawValue)"), ("state", state),
                    ("code_challenge", Self.inURLLetters(challenge)), ("code_challenge_method", "S256"),
                    ("login_hint", named.map { "\($0)" } ?? ""),
                ])[...])
    }

    /// Adds to a client's wish what our own request cannot say.
    func add(to wanted: inout Wanted) {
        wanted.cotter = kind
        if let user { wanted.hint = .id(user) }
    }

    /// A challenge in base64url, as it should have been sent: Cotter's SDK for React Native takes base64.
    private static func inURLLetters(_ challenge: String) -> String {
        challenge.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    private static func notUnderstood(_ why: String) -> PageError { PageError(.notUnderstood, why: why, status: 400) }
}

extension ID {
    /// Reads an id in our form, or in that of a UUID, as apps have it that were written for Cotter; nil for anything else.
    init?(cotter text: String) {
        guard let id = Self(text) ?? Self(uuid: text) else { return nil }
        self = id
    }
}

extension PersonalAddress.Kind {
    /// Reads Cotter's word for the kind.
    init?(cotter text: String) {
        guard let kind = Self.allCases.first(where: { $0.cotterName == text }) else { return nil }
        self = kind
    }

    /// Cotter's word for it.
    var cotterName: String {
        switch self {
        case .email: "EMAIL"
        case .phone: "PHONE"
        }
    }
}
