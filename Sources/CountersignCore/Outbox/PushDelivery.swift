package import CountersignWire

/// The push registration of an enrollment without the token, which is read only for delivery.
package struct PushTarget: Hashable, Sendable {
    /// The push service.
    package let service: PushService
    /// The app.
    package let app: AppID
    /// When the registration was made.
    package let registeredAt: Timestamp

    /// A target of these parts.
    package init(service: PushService, app: AppID, registeredAt: Timestamp) {
        self.service = service
        self.app = app
        self.registeredAt = registeredAt
    }
}

/// A push registration, and when it was made.
package struct RegisteredPush: Sendable {
    /// The registration with the token.
    package let registration: PushRegistration
    /// When the registration was made.
    package let at: Timestamp

    /// A registration made at a time.
    package init(registration: PushRegistration, at: Timestamp) {
        self.registration = registration
        self.at = at
    }
}

/// The delivery state of the push that announces a challenge to a device.
package enum PushDelivery: Hashable, Sendable {
    /// The push waits to be sent; `lastFailure` is the reason of the last failed attempt, if there was one.
    case queued(lastFailure: String?)
    /// The push service accepted the push; it does not report whether the device shows it.
    case accepted
    /// The push was given up.
    case failed(reason: String)

    /// The state in one word, and the reason of the last failure.
    package var words: (state: String, reason: String?) {
        switch self {
        case .queued(let failure): ("queued", failure)
        case .accepted: ("accepted", nil)
        case .failed(let reason): ("failed", reason)
        }
    }

    /// Reads a state and a reason; nil if they do not fit.
    package init?(state: String, reason: String?) {
        switch (state, reason) {
        case ("queued", let failure): self = .queued(lastFailure: failure)
        case ("accepted", nil): self = .accepted
        case ("failed", let reason?): self = .failed(reason: reason)
        default: return nil
        }
    }
}

/// The delivery of a challenge to a device.
package struct Delivery: Equatable, Sendable {
    /// The state of a push, and since when it has this state.
    package struct Push: Equatable, Sendable {
        /// The delivery state.
        package let delivery: PushDelivery
        /// Since when the push has this state.
        package let at: Timestamp

        /// A push that has had a state since a time.
        package init(_ delivery: PushDelivery, at: Timestamp) {
            self.delivery = delivery
            self.at = at
        }
    }

    /// The device.
    package let enrollment: EnrollmentID
    /// The state of the latest push; nil if none was queued for the device.
    package let push: Push?
    /// When the device first fetched the challenge, or answered what a poll had brought; nil if it has not.
    package let fetchedAt: Timestamp?

    /// A delivery of these parts.
    package init(enrollment: EnrollmentID, push: Push?, fetchedAt: Timestamp?) {
        self.enrollment = enrollment
        self.push = push
        self.fetchedAt = fetchedAt
    }
}
