import CountersignCore
import CountersignWire
import Encodings

extension Portal {
    /// What the portals may have people authorize in detail.
    static let detailTypes: [AuthorizationDetailType] = {
        guard let heading = try? Detail(label: "Order", value: "Payment"), let amount = try? DisplayLine("Amount"),
            let name = try? DisplayLine("To")
        else { preconditionFailure("the labels are constants") }
        let fields = [
            AuthorizationDetailType.Field(path: ["amount"], label: amount),
            AuthorizationDetailType.Field(path: ["creditor", "name"], label: name),
        ]
        return [AuthorizationDetailType(name: "payment", heading: heading, fields: fields)]
    }()
}

/// What a person authorizes in detail.
extension Browser {
    /// What a visit is for; nil where it is only a sign-in, as most are.
    func makeDetails() -> AuthorizationDetails? {
        guard world.happens(percent: 25) else { return nil }
        let text = """
            [{"type":"payment","amount":"EUR \(visits).00","creditor":{"name":"ACME \(user.number)"}}]
            """
        do throws(AuthorizationDetails.Refusal) {
            return try AuthorizationDetails(text, of: Portal.detailTypes)
        } catch {
            world.violate(0, "\(name) may not ask for \(text): \(error)")
            return nil
        }
    }

    /// Checks that tokens have what was asked for and a device of the user has signed, and nothing else.
    func check(_ tokens: SignedTokens, of family: TokenFamily, have details: AuthorizationDetails?) {
        let challenge = family.authentication.evidence.challenge
        let claimed = Watch.claims(of: tokens.access.reveal())?["authorization_details"]
        world.watch.authorizes("\(family.id)", [tokens.details, claimed], for: details, by: challenge)
    }
}

extension Watch {
    /// Checks that tokens have what was asked for and a device has signed, and nothing else.
    ///
    /// - Parameters:
    ///   - family: the tokens.
    ///   - given: what they have, in each place.
    ///   - details: what was asked for.
    ///   - challenge: what the device has answered.
    func authorizes(
        _ family: String, _ given: [JSONValue?], for details: AuthorizationDetails?, by challenge: ChallengeID?
    ) {
        if given.contains(where: { $0 != details?.json }) {
            world.violate(15, "\(family) does not have what its user has authorized")
        }
        guard let details else { return }
        world.ledger.counts.authorized += 1
        if challenge.flatMap({ world.ledger.signed[$0] }) != details.lines {
            world.violate(15, "\(family) has what no device has signed")
        }
    }
}
