public import CountersignWire

/// The challenge that was asked, with what is shown this once.
public struct AskedChallenge: Equatable, Sendable {
    /// The challenge.
    public let challenge: Challenge
    /// The number to show; nil when none must be typed.
    public let number: EntryNumber?
    /// The code to show; nil where devices were asked.
    public let code: ShownCode?
    /// On which devices.
    public let enrollments: [EnrollmentID]
    /// Which of them are notified by push.
    let pushed: [EnrollmentID]
    /// What is sent by text message; nil where devices are asked.
    var text: SentCode?
}
