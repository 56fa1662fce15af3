/// Where a person is reached besides their devices.
package enum PersonalAddress: Hashable, Sendable {
    /// By mail.
    case email(EmailAddress)
    /// By text message.
    case phone(PhoneNumber)
}
