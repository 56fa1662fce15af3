/// How the challenges of a type reach whoever answers them.
package enum ChannelKind: String, Sendable {
    /// Devices of the user are asked.
    case devices
    /// The first device that presents the code of the challenge is asked.
    case code
    /// The user types six digits that were sent by text message.
    case text
}
