package import CountersignWire

/// How a challenge reaches whoever answers it.
package enum Channel: Hashable, Sendable {
    /// Devices of the user are asked.
    case devices
    /// The first device that presents the code of the challenge is asked.
    ///
    /// Where there is a place to return to, the code is a link, and an approval is held back until the client presents
    /// what the device brought back there. Spec: docs/protocol/codes-and-links.md, *Approval by a link*.
    case code(Claim, returnURI: ReturnURI?)
    /// The user types, where this was started, six digits that were sent by text message.
    ///
    /// The telephone number is not kept.
    case text

    /// Which channel it is.
    package var kind: ChannelKind {
        switch self {
        case .devices: .devices
        case .code: .code
        case .text: .text
        }
    }

    /// Where the device brings back the code that releases an approval; nil where approvals are not held back.
    package var returnURI: ReturnURI? {
        switch self {
        case .code(_, let returnURI): returnURI
        case .devices, .text: nil
        }
    }

    /// When a device presented the code; nil where none did.
    package var claimedAt: Timestamp? {
        switch self {
        case .code(.done(let time), _): time
        case .code(.awaited, _), .devices, .text: nil
        }
    }

    /// How the code travels; nil where there is none.
    var form: ChallengeCode.Form? {
        switch self {
        case .code(_, let returnURI): returnURI == nil ? .picture : .link
        case .devices, .text: nil
        }
    }
}

/// Whether a device has presented the code of a challenge.
///
/// Spec: docs/protocol/codes-and-links.md, *Claim*.
package enum Claim: Hashable, Sendable {
    /// No device has presented it.
    case awaited
    /// One has.
    case done(at: Timestamp)
}
