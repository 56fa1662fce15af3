package import CountersignWire

/// Gives the pages of a client a logo, a colour or both.
///
/// This operation is for operators.
package enum SetLook {
    /// What is wanted, as it came.
    package struct Request: Sendable {
        /// A colour in both schemes.
        package struct Colours: Sendable {
            /// The text of the one in the light scheme.
            package let light: String
            /// The text of the one in the dark scheme; nil for none.
            package let dark: String?

            /// Colours of these texts.
            package init(light: String, dark: String?) {
                self.light = light
                self.dark = dark
            }
        }

        /// The bytes of a PNG; nil for no logo.
        package let logo: [UInt8]?
        /// The colour; nil for the pages' own.
        package let accent: Colours?

        /// A request of these parts.
        package init(logo: [UInt8]?, accent: Colours?) {
            self.logo = logo
            self.accent = accent
        }
    }

    /// The result of the operation.
    package enum Outcome: Equatable, Sendable {
        /// The pages of the client now look so.
        case set(Look)
        /// There is no client with this id, or it signs nobody in.
        case notFound
        /// The logo cannot be used.
        case logoRefused(Logo.Refusal)
        /// The text of a scheme is no colour.
        case noColour(Accent.Scheme)
        /// A colour is hard to read.
        case hardToRead(Accent.HardToRead)
    }

    /// Replaces the look of a client; what the request leaves out is the pages' own.
    package static func set(
        _ request: Request, of client: ClientID, by actor: Actor, ports: Ports
    ) async throws -> Outcome {
        let logo: Logo?
        do { logo = try request.logo.map { file throws(Logo.Refusal) in try Logo(png: file) } } catch {
            return .logoRefused(error)
        }
        var accent: Accent?
        if let colours = request.accent {
            guard let light = Colour(colours.light) else { return .noColour(.light) }
            let dark = colours.dark.flatMap { Colour($0) }
            // check: LookTests.refused
            guard dark != nil || colours.dark == nil else { return .noColour(.dark) }
            do { accent = try Accent(light: light, dark: dark) } catch { return .hardToRead(error) }
        }
        let picture = logo.map { Look.Picture(hash: $0.hash, width: $0.width, height: $0.height) }
        let look = Look(logo: picture, accent: accent)
        return try await ports.commit(at: ports.time.now, as: actor) { work in
            // check: LookTests.refused
            guard try work.clients.lock(client) != nil, try work.relyingParties.lock(client) != nil else {
                return .notFound
            }
            try work.looks.put(look, of: client, logo: logo?.bytes)
            try work.raise(.lookSet(look, of: client))
            return .set(look)
        }
    }
}
