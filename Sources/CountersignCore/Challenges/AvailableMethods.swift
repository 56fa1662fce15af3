package import CountersignWire

/// Lists for a client by which types a user could be asked now.
package enum AvailableMethods {
    /// A type by which a user could be asked, with the methods that would work.
    package struct Available: Equatable, Sendable {
        /// The type.
        package let type: TypeName
        /// The methods, or those of the type that is fallen back to; none where a code is sent.
        package let methods: [AnswerMethod]
        /// The methods that the type allows, in order.
        package let allowed: [AnswerMethod]
        /// How a challenge of the type reaches whoever answers it.
        package let channel: ChannelKind
        /// Whether a code can be sent by text message where no device can answer.
        package let fallsBackToText: Bool
        /// The devices that can answer by the type itself.
        package let devices: [Enrollment]
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The types; none for a user whom the client is not linked to, as for one without devices.
        case types([Available])
    }

    /// Looks which types would work.
    ///
    /// - Parameters:
    ///   - reference: the user, by id or by the client's external id.
    ///   - client: the client.
    ///   - listsTexts: whether types that send a code by text message are listed: the client says to which number, so
    ///     that they work for every user it is linked to.
    ///   - ports: the external dependencies.
    /// - Throws: ``StoreError``.
    package static func list(
        for reference: UserReference, client: Client, listingTexts listsTexts: Bool = false, ports: Ports
    ) async throws -> Outcome {
        let now = ports.time.now
        let sendsTexts = ports.transports.text
        return try await ports.store.read { reader in
            guard let user = try reader.links.find(reference, of: client.id) else { return .types([]) }
            // Of a user who has reported the client it is only by a code that anything can be asked.
            let isLocked = try reader.askingLocks.exists(of: user.id, by: client.id)
            let enrollments = try reader.enrollments.believed(of: user.id, in: client.trustGroup)
            let types = try reader.types.all().filter { $0.isOpen(to: client.id) && ($0.channel == .code || !isLocked) }
            func able(_ type: ChallengeType) -> [Enrollment] {
                enrollments.filter { $0.satisfies(type) && $0.canAnswer(by: type.methods, at: now) }
            }
            func usable(_ type: ChallengeType) -> [AnswerMethod] {
                let devices = able(type)
                return type.methods.filter { method in
                    devices.contains { $0.usableMethods(at: now).contains(method) }
                }
            }
            let available: [Available] = types.compactMap { type in
                let fallback = types.first { $0.name == type.fallback }
                var methods = usable(type)
                if methods.isEmpty, let fallback { methods = usable(fallback) }
                let isText = listsTexts && sendsTexts && (type.channel == .text || fallback?.channel == .text)
                guard !methods.isEmpty || isText else { return nil }
                return Available(
                    type: type.name, methods: methods, allowed: type.methods, channel: type.channel,
                    fallsBackToText: sendsTexts && fallback?.channel == .text, devices: able(type))
            }
            return .types(available)
        }
    }
}
