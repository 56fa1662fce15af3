package import CountersignWire

/// The receipt of the answer that decided a challenge, as it is kept.
package struct StoredReceipt: Equatable, Sendable {
    /// The challenge, which may be kept no longer.
    package let challenge: ChallengeID
    /// Who asked.
    package let client: ClientID
    /// The device that answered.
    package let enrollment: EnrollmentID
    /// The signed text and the certificate as it was.
    package let evidence: Evidence
    /// When the server accepted it.
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
