package import CountersignWire
import Encodings

// How a device that asks by the device grant is found: by the code that it holds, or by the one that it shows.
//
// Spec: RFC 8628 §3.2; docs/decisions/0087-device-grant.md.

/// A device that asks to be signed in, and fetches its tokens by itself.
package struct AskingDevice: Hashable, Sendable {
    /// The code that it shows.
    package let userCode: UserCode
    /// Who has allowed what it wants, on the page on which the code was typed; nil before.
    package var allowedBy: UserID?
    /// The session in which that person has said yes, where this was enough, or has allowed something; nil where all is
    /// for a device to say.
    package var session: SessionID?
    /// What it asks for, where it is an app that was written for Cotter; nil for every other device.
    package var event: AskedEvent?

    /// A device that shows this code.
    package init(userCode: UserCode, allowedBy: UserID? = nil) {
        self.userCode = userCode
        self.allowedBy = allowedBy
    }
}

/// The form in which a row holds it, sealed with the rest of a wish.
extension AskingDevice {
    var json: JSONValue {
        .members([
            "user_code": .string("\(userCode)"), "allowed_by": allowedBy.map { .string("\($0)") },
            "session": session.map { .string("\($0)") }, "event": event?.json,
        ])
    }

    /// Reads the form; nil if it is malformed.
    init?(_ json: JSONValue) {
        guard let code = json["user_code"]?.string.flatMap({ UserCode(typed: $0) }) else { return nil }
        self.init(userCode: code, allowedBy: json["allowed_by"]?.string.flatMap { UserID($0) })
        session = json["session"]?.string.flatMap { SessionID($0) }
        // What is asked without a number must not become something else.
        if let json = json["event"] {
            guard let asked = AskedEvent(json) else { return nil }
            event = asked
        }
    }
}

extension KeyedHasher {
    /// The code by which a device fetches its tokens: the sign-in, and a MAC over it.
    ///
    /// It need not be stored. Spec: RFC 8628 §5.2.
    func deviceCode(of signIn: AuthorizationID) -> Secret<String> {
        Secret("\(signIn).\(Base64URL.encode(code(of: "device code \(signIn)")))")
    }

    /// The sign-in of a device code; nil if its MAC is not valid.
    func signIn(ofDeviceCode text: Secret<String>) -> AuthorizationID? {
        signIn(in: text, madeBy: deviceCode)
    }

    /// The sign-in that a text names before its MAC; nil if it is not the text that is made of it.
    func signIn(in text: Secret<String>, madeBy make: (AuthorizationID) -> Secret<String>) -> AuthorizationID? {
        // By octets: any other token comes here, too.
        let parts = text.reveal().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard parts.count == 2, let signIn = AuthorizationID(parts[0]) else { return nil }
        // check: DeviceCodeTests.otherClient
        guard make(signIn).isSame(as: text) else { return nil }
        return signIn
    }

    /// The hash by which the sign-in of a typed code is found; a plain hash could be reversed.
    func hash(of userCode: UserCode) -> KeyedHash { KeyedHash(stored: code(of: "user code \(userCode)")) }

    /// What stands for the browser of a sign-in that a device has asked for, until a browser takes it up: nobody's.
    func noBrowser(of signIn: AuthorizationID) -> KeyedHash { KeyedHash(stored: code(of: "no browser \(signIn)")) }
}

extension Authorization {
    /// Whether a browser may take up what a device has asked for: nobody else has.
    func isFree(for browser: KeyedHash, _ hasher: KeyedHasher) -> Bool {
        self.browser == browser || self.browser == hasher.noBrowser(of: id)
    }
}

extension Issuer {
    /// The page on which people type the codes that devices show.
    package var devicePage: String { "\(self)/device" }
}
