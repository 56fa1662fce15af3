package import CountersignWire

/// Where an enrollment is reached by push notifications, without the token, which delivery alone reads.
package struct PushTarget: Hashable, Sendable {
    /// Who delivers.
    package let service: PushService
    /// The app.
    package let app: AppID
    /// Since when.
    package let registeredAt: Timestamp

    /// A target of these parts.
    package init(service: PushService, app: AppID, registeredAt: Timestamp) {
        self.service = service
        self.app = app
        self.registeredAt = registeredAt
    }
}

/// A registration and when it was made.
package struct RegisteredPush: Sendable {
    /// The registration, the token in it.
    package let registration: PushRegistration
    /// Since when.
    package let at: Timestamp

    /// A registration made at a time.
    package init(registration: PushRegistration, at: Timestamp) {
        self.registration = registration
        self.at = at
    }
}

/// How far the push that announces a challenge to a device has come.
package enum PushDelivery: Hashable, Sendable {
    /// It waits to be sent, or to be sent again after this.
    case queued(lastFailure: String?)
    /// The service accepted it; it does not report whether the device shows it.
    case accepted
    /// It was given up.
    case failed(reason: String)

    /// The state in one word, and what went wrong last.
    package var words: (state: String, reason: String?) {
        switch self {
        case .queued(let failure): ("queued", failure)
        case .accepted: ("accepted", nil)
        case .failed(let reason): ("failed", reason)
        }
    }

    /// Reads the words, or nil.
    package init?(state: String, reason: String?) {
        switch (state, reason) {
        case ("queued", let failure): self = .queued(lastFailure: failure)
        case ("accepted", nil): self = .accepted
        case ("failed", let reason?): self = .failed(reason: reason)
        default: return nil
        }
    }
}

/// What is known of how a device heard of a challenge.
package struct Delivery: Equatable, Sendable {
    /// How far a push has come, and since when.
    package struct Push: Equatable, Sendable {
        /// How far.
        package let delivery: PushDelivery
        /// Since when.
        package let at: Timestamp

        /// A push that has come so far at a time.
        package init(_ delivery: PushDelivery, at: Timestamp) {
            self.delivery = delivery
            self.at = at
        }
    }

    /// The device.
    package let enrollment: EnrollmentID
    /// How far the push has come; nil when the device asks by itself.
    package let push: Push?
    /// When the device first fetched the challenge; nil while it has not.
    package let fetchedAt: Timestamp?

    /// What is known of these parts.
    package init(enrollment: EnrollmentID, push: Push?, fetchedAt: Timestamp?) {
        self.enrollment = enrollment
        self.push = push
        self.fetchedAt = fetchedAt
    }
}
