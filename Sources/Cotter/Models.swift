/// How a person proves an address on the page.
public enum AuthMethod: String, CaseIterable, Sendable {
    /// By a link in a mail.
    case magicLink = "MAGIC_LINK"
    /// By a code.
    case otp = "OTP"
}

/// The tokens of a sign-in.
public struct CotterOAuthToken: Codable, Hashable, Sendable {
    /// The access token, which most servers bind to a key of the device: see ``Cotter/accessToken()``.
    public var accessToken: String
    /// `OTP` where the person proved an address, and otherwise `TRUSTED_DEVICE`.
    public var authMethod: String
    /// For how many seconds the access token is good.
    public var expiresIn: Int
    /// Empty: the SDK has verified it, and tells what it says.
    public var idToken: String
    /// Empty: the SDK keeps it, and uses it.
    public var refreshToken: String
    /// `DPoP` or `Bearer`.
    public var tokenType: String

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case authMethod = "auth_method"
        case expiresIn = "expires_in"
        case idToken = "id_token"
        case refreshToken = "refresh_token"
        case tokenType = "token_type"
    }
}

/// A person.
public struct CotterUser: Codable, Hashable, Sendable {
    /// The person's id at the server, such as `usr_…`.
    public var id: String
    /// The server's URL.
    public var issuer: String
    /// The address that the server names; nil where it names none, or could not be asked.
    public var identifier: String?
    /// The app's id of the person, as the app itself has said it: nobody has proved that it is theirs.
    public var clientUserID: String
    /// `TRUSTED_DEVICE` where this device is enrolled for the person.
    public var enrolled: [String]?

    /// A person of these parts, for ``Passwordless/registerWith(cotterUser:cb:)``.
    public init(
        id: String, issuer: String, identifier: String? = nil, clientUserID: String, enrolled: [String]? = nil
    ) {
        self.id = id
        self.issuer = issuer
        self.identifier = identifier
        self.clientUserID = clientUserID
        self.enrolled = enrolled
    }

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case issuer
        case identifier
        case clientUserID = "client_user_id"
        case enrolled
    }
}

/// The address of a person who has signed in on the page.
public struct Identifier: Codable, Hashable, Sendable {
    /// The person's id at the server.
    public var id: String
    /// The address that the server names; empty where it names none, or could not be asked.
    ///
    /// It is never what the app has suggested to the page: somebody else may have signed in there.
    public var identifier: String
    /// `EMAIL` or `PHONE`, as the app has said.
    public var identifierType: String

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case identifier
        case identifierType = "identifier_type"
    }
}

/// Who has signed in on the page, and the tokens.
public struct CotterIdentity: Codable, Hashable, Sendable {
    /// The address.
    public var identifier: Identifier
    /// The person.
    public var user: CotterUser
    /// The tokens.
    public var oauthToken: CotterOAuthToken

    enum CodingKeys: String, CodingKey {
        case identifier
        case user
        case oauthToken = "oauth_token"
    }
}

/// Whether a method is set up.
public struct EnrolledMethods: Codable, Hashable, Sendable {
    /// Whether it is.
    public var enrolled: Bool
    /// The method.
    public var method: String
}

/// The name of the method of which this library speaks.
let trustedDevice = "TRUSTED_DEVICE"
