/// In which form the end of a challenge is reported to where its client wants to be called back.
package enum CallbackForm: Hashable, Sendable {
    /// Ours: with how it ended.
    case native
    /// OneWelcome's: with the challenge's name alone, whose end the client then asks for.
    case oneWelcome
}
