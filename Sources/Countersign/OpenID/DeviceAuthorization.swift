import CountersignWire
import Encodings
public import Foundation

/// What a device shows while the person who signs in on it approves that elsewhere.
///
/// The number, the code and the addresses are what the issuer says, but have the form that they must have: none holds a
/// character that controls a screen, and no address leads anywhere but to the issuer or by `https`.
///
/// Spec: RFC 8628 §3.3.
public struct SignInPrompt: Hashable, Sendable {
    /// The six digits that the person types on the device on which they are asked; nil if no device of theirs is asked.
    public let number: String?
    /// The code that the person types on the page at ``verificationURI``, 1 to 64 visible ASCII characters.
    public let userCode: String
    /// The page, to be opened on any other device.
    public let verificationURI: URL
    /// The page with the code in its address, for a QR code; nil if the issuer gives none.
    ///
    /// Show the code, too: the page asks whether it is the same. Spec: RFC 8628 §3.3.1.
    public let verificationURIComplete: URL?
    /// How long the person has.
    public let expiresIn: Duration
}

/// A reply of the device authorization endpoint, checked.
///
/// Spec: RFC 8628 §3.2.
struct DeviceAuthorization: Sendable {
    /// The grant by which the tokens are fetched.
    ///
    /// Spec: RFC 8628 §3.4.
    static let grantType = "urn:ietf:params:oauth:grant-type:device_code"
    /// How long a person whose devices are asked should have, in seconds.
    static let wanted: Int64 = 60
    /// How long the token endpoint may hold a request, in seconds.
    static let held: Int64 = 20
    /// How long a device waits at most, whatever the issuer says, in seconds.
    private static let longest: Int64 = 1800

    let prompt: SignInPrompt
    let pace: PollPace

    /// The code by which the tokens are fetched, in a reply that is a success.
    ///
    /// It is read alone, so that it can be given up where the rest of the reply is of no use.
    static func code(in response: TransportResponse) throws(CountersignError) -> Secret<String> {
        let json = try? JSONValue(parsing: response.body)
        guard response.status == 200 else {
            guard (400..<500).contains(response.status), let error = json?["error"]?.string else {
                throw .serverUnreachable(status: response.status)
            }
            throw .signInRefused(SignInRefusal(code: error))
        }
        guard let code = json?["device_code"]?.string, (1...2000).contains(code.utf8.count), code.isVisible else {
            throw .providerInvalid("its device authorization endpoint gives no device code")
        }
        return Secret(code)
    }

    /// Reads a reply that is a success.
    init(_ response: TransportResponse, of issuer: Issuer) throws(CountersignError) {
        guard let json = try? JSONValue(parsing: response.body), let userCode = json["user_code"]?.string,
            (1...64).contains(userCode.utf8.count), userCode.isVisible
        else { throw .providerInvalid("its user code is not 1 to 64 visible ASCII characters") }
        func page(_ name: String) throws(CountersignError) -> URL? {
            guard let value = json[name] else { return nil }
            guard let url = value.string.flatMap({ ProviderMetadata.endpoint($0, of: issuer) }) else {
                throw .providerInvalid("\(name) is not https and not at the issuer")
            }
            return url
        }
        guard let verificationURI = try page("verification_uri") else {
            throw .providerInvalid("it gives no verification_uri")
        }
        guard let expiresIn = json["expires_in"]?.integer, expiresIn > 0 else {
            throw .providerInvalid("it does not say how long its device code is good")
        }
        let number = json["number"]?.string.flatMap { EntryNumber($0) }
        guard number != nil || json["number"] == nil else { throw .providerInvalid("its number is not six digits") }
        prompt = SignInPrompt(
            number: number?.digits, userCode: userCode, verificationURI: verificationURI,
            verificationURIComplete: try page("verification_uri_complete"),
            expiresIn: .seconds(min(expiresIn, Self.longest)))
        pace = PollPace(interval: json["interval"]?.integer)
    }
}

extension String {
    /// Whether it consists of visible ASCII characters.
    fileprivate var isVisible: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}

/// What the token endpoint says to a device that waits for its person.
///
/// Spec: RFC 8628 §3.5.
enum DevicePollReply: Sendable {
    /// The person has approved.
    case tokens(TokenReply)
    /// Nobody has answered yet.
    case pending
    /// The device asks too often; the issuer may have said when to ask again.
    case tooFast(retryAfter: Duration?)
    /// The issuer cannot say it now, and may have said when to ask again.
    case unavailable(retryAfter: Duration?)
    /// It is over.
    case ended(SignInRefusal)

    /// Reads a reply; `isBound` says whether the request had a proof, so that the tokens must be bound to its key.
    init(_ response: TransportResponse, isBound: Bool = false) throws(CountersignError) {
        guard response.status != 200 else {
            self = .tokens(try TokenReply(response, isBound: isBound))
            return
        }
        let error = (try? JSONValue(parsing: response.body))?["error"]?.string
        // Only the number of seconds is read; a date counts as missing. Spec: RFC 9110 §10.2.3.
        let seconds = response.headers["retry-after"].flatMap { Int64($0) }
        let retryAfter = seconds.map { Duration.seconds(min(max(0, $0), PollPace.longest)) }
        switch (response.status, error) {
        // The interval alone counts here: a request that was held for longer is followed by the next at once.
        case (400..<500, "authorization_pending"): self = .pending
        case (400..<500, "slow_down"): self = .tooFast(retryAfter: retryAfter)
        case (408, _), (429, _), (500..., _), (400..<500, "temporarily_unavailable"), (400..<500, "server_error"):
            self = .unavailable(retryAfter: retryAfter)
        case (400..<500, let error?): self = .ended(SignInRefusal(code: error))
        default: throw .serverUnreachable(status: response.status)
        }
    }
}

/// When a device that waits for its person may ask again.
///
/// Spec: RFC 8628 §3.2, §3.5.
struct PollPace: Sendable {
    /// What an issuer may demand at most, in seconds; nobody waits that long.
    static let longest: Int64 = 3600
    /// What counts where the issuer says nothing, and what is added where it is asked too often.
    private static let (usual, step): (Int64, Int64) = (5, 5)
    /// Clocks and networks are not exact: a poll that comes a moment too early slows down all that follow.
    private static let margin = Duration.milliseconds(100)

    private var interval: Duration
    private var backoff = Backoff()

    /// Begins with an issuer's interval, in seconds; nil if it gives none.
    init(interval seconds: Int64?) {
        interval = .seconds(min(max(1, seconds ?? Self.usual), Self.longest))
    }

    /// The pause after a poll that was answered in this time: a request that was held for the whole interval is
    /// followed by the next one at once.
    mutating func pause(afterPollOf time: Duration) -> Duration {
        backoff = Backoff()
        return time < interval ? interval + Self.margin - time : .zero
    }

    /// The pause after a poll that came too early, and makes all later ones as much longer.
    mutating func pauseAfterTooFast(retryAfter: Duration? = nil) -> Duration {
        backoff = Backoff()
        interval += .seconds(Self.step)
        return max(interval + Self.margin, retryAfter ?? .zero)
    }

    /// The pause after a poll that got no answer: longer than any before, and longer each time.
    mutating func pauseAfterFailure(retryAfter: Duration? = nil) -> Duration {
        backoff.fail(after: .zero)
        return max(interval + Self.margin + backoff.pause, retryAfter ?? .zero)
    }
}
