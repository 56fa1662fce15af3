package import CountersignWire

/// The stored receipt of the answer that decided a challenge.
package struct StoredReceipt: Equatable, Sendable {
    /// The challenge, which may have been deleted since.
    package let challenge: ChallengeID
    /// The client that asked.
    package let client: ClientID
    /// The device that answered.
    package let enrollment: EnrollmentID
    /// The signed text, and the device's certificate at that time.
    package let evidence: Evidence
    /// When the server accepted the answer.
    package let acceptedAt: Timestamp

    /// A receipt of these parts.
    package init(
        challenge: ChallengeID, client: ClientID, enrollment: EnrollmentID, evidence: Evidence, acceptedAt: Timestamp
    ) {
        self.challenge = challenge
        self.client = client
        self.enrollment = enrollment
        self.evidence = evidence
        self.acceptedAt = acceptedAt
    }
}
