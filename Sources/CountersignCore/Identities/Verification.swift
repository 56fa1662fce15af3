package import CountersignWire

/// A code that proves that a person reads what is sent to an address.
///
/// Nothing of it is stored but its id: code and link follow from the id, the address and a key of the server's. A
/// copied database tells neither, and what was sent first can be sent again.
package struct Verification: Hashable, Sendable {
    /// How long its code and its link are good.
    package static let lifetime = Seconds.minutes(10)
    /// How often a code may be typed.
    package static let maximumTries = 5
    /// How long to wait before another code can be asked for.
    package static let pause: Seconds = 30

    /// Its id, which is new with every code.
    package let id: VerificationID
    /// The address.
    package let address: PersonalAddress

    /// A verification of these parts.
    package init(id: VerificationID, address: PersonalAddress) {
        self.id = id
        self.address = address
    }

    /// After how long another code may be sent to the address; nil for at once.
    func wait(at now: Timestamp) -> Seconds? {
        let wait = Self.pause - (now - id.time)
        return wait > 0 ? min(wait, Self.pause) : nil
    }
}
