import Crypto
import CountersignWire
import Encodings

/// An enrollment that was asked for and whose reply has not arrived yet.
///
/// The server may have made it. If its keys were given up, the user's next device would wait for the approval of a device
/// that nobody has.
struct EnrollmentAttempt: Sendable {
    /// The name of the vault's record.
    static let record = "attempt"
    private static let version: Int64 = 1

    /// What the device stores when the reply comes; its keys for push envelopes come with the reply.
    let stored: StoredEnrollment
    let ticket: Secret<String>
    /// Tells by what the enrollment was asked for.
    let authority: Mark

    /// The hash of an authority, by which it is known again.
    struct Mark: Equatable, Sendable {
        fileprivate let text: String

        init(_ authority: EnrollmentAuthority) {
            let secret =
                switch authority {
                case .ticket(let text): text
                case .accessToken(let token): token.reveal()
                }
            text = Base64.encode(Array(SHA256.hash(data: Array(secret.utf8))))
        }

        fileprivate init(text: String) {
            self.text = text
        }
    }

    var encoded: [UInt8] {
        JSONValue.members([
            "v": .integer(Self.version), "stored": stored.json, "ticket": .string(ticket.reveal()),
            "authority": .string(authority.text),
        ]).encoded
    }

    init(_ stored: StoredEnrollment, ticket: Secret<String>, by authority: Mark) {
        self.stored = stored
        self.ticket = ticket
        self.authority = authority
    }

    init(_ record: [UInt8]) throws(CountersignError) {
        guard let json = try? JSONValue(parsing: record), json["v"] == .integer(Self.version),
            let stored = json["stored"], let ticket = json["ticket"]?.string, let authority = json["authority"]?.string
        else { throw .vault("the record of an attempt to enroll is damaged or of a newer version") }
        self.init(try StoredEnrollment(stored.encoded), ticket: Secret(ticket), by: Mark(text: authority))
    }
}

extension CountersignError {
    /// Whether the server has refused an enrollment for good, or its keys are gone; every other error leaves open what the
    /// server has done.
    var refusesEnrollment: Bool {
        switch self {
        case .ticketRefused, .notEnrolled: true
        case .server(let problem):
            switch problem.knownCode {
            case .certificateInvalid, .alreadyEnrolled, .tooManyDevices: true
            default: false
            }
        default: false
        }
    }
}
