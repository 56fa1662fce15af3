import SimulationSupport
import Testing

extension SimulationTests {
    /// Each promise on histories that break it, made by hand: a quiet world in which nothing was wrong, spoilt in the
    /// end.
    @Suite("Whoever looks at a simulated world sees each promise broken")
    struct InvariantTests {
        init() { SimulationTests.begin() }

        /// Whose history it is.
        enum Whose { case portals, thirdPartys, callCentres }

        /// A bad history.
        struct History: Sendable, CustomTestStringConvertible {
            let invariant: Int
            /// What is said of it.
            let words: String
            /// Whose it is.
            let whose: Whose
            let spoil: @Sendable (SimulatedWorld) throws -> Void

            var testDescription: String { "\(invariant): \(words)" }

            init(
                _ invariant: Int, _ words: String, of whose: Whose = .portals,
                _ spoil: @escaping @Sendable (SimulatedWorld) throws -> Void
            ) {
                self.invariant = invariant
                self.words = words
                self.whose = whose
                self.spoil = spoil
            }
        }

        private static let approvedAnyhow =
            "challenges WHERE state = 'approved' AND method <> 'text_code' AND purpose = 'relying_party'"
        /// Of a user who can be asked again: by a client that the user has reported, that would break promise 8 first.
        private static let approved = """
            \(approvedAnyhow) AND channel <> 'code' AND NOT EXISTS (
            SELECT 1 FROM asking_locks l WHERE l.user_id = challenges.user_id AND l.client_id = challenges.client_id)
            AND decided_by IN (SELECT id FROM \(enrolled))
            """
        static let enrolled = "enrollments WHERE removed_at IS NULL AND suspended_at IS NULL"
        /// A family whose device and link are there.
        static let good = """
            token_families WHERE ended_at IS NULL AND enrollment_id IN (SELECT id FROM \(enrolled))
            AND EXISTS (SELECT 1 FROM user_links l WHERE l.user_id = token_families.user_id)
            """
        private static let atThirdParty = "client_id IN (SELECT id FROM clients WHERE third_party = 1)"
        /// A family that a third party has, and whose user has allowed it.
        private static let allowed = "\(good) AND \(atThirdParty)"
        private static let endAll = "UPDATE token_families SET ended_at = 1 WHERE ended_at IS NULL"
        /// What the audit says when the user of a family has ended what its client may have.
        private static let endAccess = """
            INSERT INTO audit (id, at, kind, actor, client_id, user_id, detail)
            SELECT 'evt_end', 0, 'access.ended', 'system', client_id, user_id, '{}' FROM token_families WHERE id = $1
            """
        /// The columns of an authorization without its id, before anybody was authenticated by an ask.
        static let rest = """
            client_id, wanted, browser, user_id, 'open', authentication, family_id, ask_number, ask_until,
            NULL, ask_known, ask_declined, expires_at, ask_verification_id
            """
        private static let unknown = "chl_01kah3b1g00000000000000000"

        /// Decides, by SQL, a question that is like one that was approved.
        private static func decide(
            _ invariant: Int, _ words: String, _ outcome: String, before change: String? = nil
        ) -> History {
            History(invariant, words) { world in
                let id = try world.some(approved)
                let other = try world.askAgain(id)
                let end = "UPDATE challenges SET \(outcome) WHERE id = $1"
                // The same device, at the same time, unless the outcome says otherwise.
                let like = """
                    UPDATE challenges SET (decided_by, ended_at) = (SELECT decided_by, ended_at FROM challenges WHERE id = $2)
                    WHERE id = $1
                    """
                try world.commit(like, of: other, id)
                if let change { try world.commit(change, of: id) }
                try world.commit(end, of: other)
            }
        }

        static let histories: [History] = [
            History(1, "the end of") { world in
                try world.commit("UPDATE challenges SET state = 'denied' WHERE id = $1", of: try world.some(approved))
            },
            History(1, "was told that") { world in
                let id = try world.some(approved)
                world.hears("portal 7", of: id, state: "approved")
                world.hears("phone 7", of: id, state: "denied")
            },
            decide(2, "by no device", "state = 'approved', decided_by = NULL"),
            decide(
                2, "which is suspended", "state = 'approved'",
                before:
                    "UPDATE enrollments SET suspended_at = 1 WHERE id = (SELECT decided_by FROM challenges WHERE id = $1)"
            ),
            decide(
                2, "which does not count yet", "state = 'approved'",
                before: """
                    UPDATE enrollments SET counts_from = counts_from + 86400000
                    WHERE id = (SELECT decided_by FROM challenges WHERE id = $1)
                    """),
            History(2, "which was not asked") { world in
                let id = try world.some(approved)
                let other = try world.askAgain(id)
                try world.commit("DELETE FROM challenge_targets WHERE challenge_id = $1", of: other)
                try world.commit(
                    """
                    UPDATE challenges SET state = 'approved',
                    (decided_by, ended_at) = (SELECT decided_by, ended_at FROM challenges WHERE id = $2) WHERE id = $1
                    """, of: other, id)
            },
            decide(2, "is approved without a receipt", "state = 'approved'"),
            History(2, "and has a receipt") { world in
                let id = try world.some(approved)
                let other = try world.askAgain(id)
                try world.commit(
                    """
                    INSERT INTO receipts (challenge_id, enrollment_id, text, signature, certificate, accepted_at, client_id)
                    SELECT $1, enrollment_id, text, signature, certificate, accepted_at, client_id
                    FROM receipts WHERE challenge_id = $2
                    """, of: other, id)
                try world.commit("UPDATE challenges SET state = 'expired' WHERE id = $1", of: other)
            },
            decide(2, "without the code of", "state = 'approved', method = 'text_code'"),
            decide(2, "without the way back of", "state = 'approved', return_uri = 'https://shop.example.com'"),
            decide(2, "without the verdict on", "state = 'approved', method = 'custom:phrase'"),
            decide(
                2, "by a pin that does not count yet", "state = 'approved', method = 'pin'",
                before: "UPDATE enrollments SET pin_counts_from = 9000000000000"),
            History(3, "which is not there") { $0.hears("portal 7", of: unknown, state: "approved") },
            History(3, "and it is") { world in
                let other = try world.askAgain(try world.some(approved), with: "expires_at = 9000000000000")
                world.hears("portal 7", of: other, state: "approved")
            },
            History(3, "what 7-1 asked") { $0.hears(of: unknown, askedBy: "7-1") },
            History(3, "was told that it is") { $0.hears(ofEnrollment: "enr_01kah3b1g00000000000000000") },
            History(4, "by 7-1") { world in
                world.hears(of: unknown, askedBy: "7-1")
                world.hears(of: try world.some(approved), askedBy: "7-1")
            },
            History(4, "has asked 2 times") { world in
                _ = try world.askAgain(
                    try world.some(approved),
                    with:
                        "(client_state, expires_at) = (SELECT c.client_state, 9000000000000 FROM challenges c WHERE c.id = copied.id)"
                )
            },
            History(5, "a ticket was spent twice") {
                try $0.commit("UPDATE tickets SET spent_at = spent_at + 1 WHERE spent_at IS NOT NULL")
            },
            History(5, "was presented by two") { world in
                let id = try world.some(approved)
                for time in 1...2 {
                    try world.commit("UPDATE challenges SET claimed_at = \(time) WHERE id = $1", of: id)
                }
            },
            History(5, "worked twice") { world in
                for _ in 1...2 { world.works("the way back of \(unknown)") }
            },
            History(5, "was let in twice") { world in
                let id = try world.some(enrolled)
                world.letsIn("one", by: id)
                world.letsIn("one", by: id)
            },
            History(6, "is one of 6 open questions") { world in
                let id = try world.some(approved)
                for _ in 1...6 { _ = try world.askAgain(id) }
            },
            History(6, "codes to +49") { world in
                world.expects("9-9")
                let id = try world.some(approved)
                for _ in 1...6 {
                    _ = try world.askAgain(id, with: "(type, client_state, channel) = ('text', '9-9', 'code')")
                }
            },
            History(6, "4 wrong codes for") { world in
                for _ in 1...4 { world.happens("wrong codes for \(unknown)", atMost: 3) }
            },
            History(6, "6 wrong PINs in a row") {
                try $0.commit("UPDATE enrollments SET wrong_pins = 6 WHERE id = $1", of: try $0.some(enrolled))
            },
            History(6, "is not locked by its last wrong PIN") {
                try $0.commit("UPDATE enrollments SET wrong_pins = 5 WHERE id = $1", of: try $0.some(enrolled))
            },
            decide(
                7, "which is removed", "state = 'approved'",
                before: """
                    UPDATE enrollments SET removed_at = 9000000000000
                    WHERE id = (SELECT decided_by FROM challenges WHERE id = $1)
                    """
            ),
            History(7, "was removed and came back") { world in
                let id = try world.some(enrolled)
                for time in ["1", "NULL"] {
                    try world.commit("UPDATE enrollments SET removed_at = \(time) WHERE id = $1", of: id)
                }
            },
            History(7, "which was asked last") { world in
                _ = try world.askAgain(try world.some(approved))
                try world.commit("UPDATE enrollments SET removed_at = 1 WHERE removed_at IS NULL")
            },
            History(7, "let in nowhere") { world in
                let id = try world.some(approved)
                try world.commit("UPDATE clients SET disabled_at = 1")
                _ = try world.askAgain(id)
            },
            History(7, "though its client is disabled") { world in
                _ = try world.askAgain(try world.some(approved))
                try world.disables()
            },
            History(7, "was let go") { world in
                _ = try world.askAgain(try world.some(approved))
                try world.commit("DELETE FROM user_links")
            },
            History(8, "from a browser") { world in
                world.expects("9-9")
                _ = try world.askAgain(try world.some(approved), with: "(type, client_state) = ('page', '9-9')")
            },
            History(8, "who is locked for its client") { world in
                let id = try world.some(approved)
                try world.commit(
                    "UPDATE challenges SET state = 'denied', reason = 'reported' WHERE id = $1",
                    of: try world.askAgain(id, with: "(decided_by, ended_at) = (\(Self.decision))"))
                _ = try world.askAgain(id)
            },
            History(9, "came with two bodies") { world in
                let id = try world.some(approved)
                world.brings("evt_1", body: "one", of: id, state: "approved")
                world.brings("evt_1", body: "another", of: id, state: "approved")
            },
            History(9, "callbacks tell of") { world in
                let id = try world.some("\(approved) AND callback_uri IS NOT NULL")
                world.brings("evt_1", body: "one", of: id, state: "approved")
            },
            History(9, "a callback tells that") { world in
                let id = try world.some("\(approvedAnyhow) AND callback_uri IS NULL")
                world.brings("evt_1", body: "one", of: id, state: "denied")
            },
            History(9, "no callback told of") { world in
                let id = try world.some("\(approvedAnyhow) AND callback_uri IS NULL")
                try world.commit(
                    "UPDATE challenges SET callback_uri = 'https://shop.example.com' WHERE id = $1", of: id)
            },
            History(10, "is open, after its end") { world in
                let id = try world.some(approved)
                world.hears("portal 7", of: id, state: "approved")
                world.hears("portal 7", of: id, state: "pending")
            },
            History(10, "ms late") { $0.hearsLate(of: try $0.some(approved)) },
            History(11, "a secret stands in") { world in
                world.gives("tkt_secret", andLogs: "nothing")
                try world.commit("UPDATE audit SET detail = '{\"digest\":\"tkt_secret\"}' WHERE sequence = 3")
            },
            History(11, "a secret stands in") { $0.gives("tkt_secret", andLogs: "somebody has tkt_secret") },
            History(12, "1 beginnings and 0 ends") { world in
                let id = try world.some(approved)
                try world.commit("DELETE FROM audit WHERE challenge_id = $1 AND kind = 'challenge.approved'", of: id)
            },
            History(12, "2 beginnings and 1 ends") { world in
                try world.commit(
                    """
                    INSERT INTO audit (id, at, kind, actor, client_id, user_id, enrollment_id, challenge_id, detail)
                    SELECT 'evt_twice', at, kind, actor, client_id, user_id, enrollment_id, challenge_id, detail
                    FROM audit WHERE challenge_id = $1 AND kind = 'challenge.asked'
                    """, of: try world.some(approved))
            },
            History(12, "0 times that") { world in
                let id = try world.some(enrolled)
                try world.commit("DELETE FROM audit WHERE enrollment_id = $1 AND kind = 'enrollment.created'", of: id)
            },
            History(12, "has missed") { try $0.commit("UPDATE audit SET id = 'evt_missed' WHERE sequence = 1") },
            History(12, "was told twice") { world in
                let id = try world.some("audit WHERE sequence = 1")
                for _ in 1...2 { world.reads(id) }
            },
            decide(13, "after it was over", "state = 'approved', ended_at = expires_at"),
            History(14, "counts too soon") { $0.steals(try $0.some(enrolled)) },
            History(14, "PIN of") { world in
                let id = try world.some(enrolled)
                try world.commit(
                    "UPDATE enrollments SET (counts_from, pin_counts_from) = (9000000000000, 1) WHERE id = $1", of: id)
                world.steals(id)
            },
            History(15, "a code was redeemed twice") { world in
                try world.commit(
                    "INSERT INTO codes (hash, authorization_id, session_id, expires_at) VALUES (x'01', 'a', 's', 1)")
                for time in 1...2 { try world.commit("UPDATE codes SET spent_at = \(time) WHERE hash = x'01'") }
            },
            History(15, "a code gave tokens twice") { world in for _ in 1...2 { world.redeems("one") } },
            History(15, "the end of aut_") { world in
                let id = try world.some("authorizations WHERE state = 'redeemed'")
                try world.commit("UPDATE authorizations SET state = 'granted' WHERE id = $1", of: id)
            },
            History(15, "no device of its user has approved it") { world in
                let id = try world.some("authorizations WHERE state = 'redeemed'")
                let other = "INSERT INTO authorizations SELECT 'other', \(rest) FROM authorizations WHERE id = $1"
                try world.commit(other, of: id)
                try world.commit("UPDATE authorizations SET state = 'authenticated' WHERE id = 'other'")
            },
            History(15, "for no sign-in in a session") { world in
                let id = try world.some(good)
                try world.commit("CREATE TEMP TABLE copied AS SELECT * FROM token_families WHERE id = $1", of: id)
                try world.commit(
                    "UPDATE copied SET id = 'other'", "INSERT INTO token_families SELECT * FROM copied",
                    "DROP TABLE copied")
            },
            History(15, "though its device, link or client is gone") { world in
                let id = try world.some(good)
                try world.commit("UPDATE enrollments SET suspended_at = 1")
                try world.commit("UPDATE token_families SET generation = generation + 1 WHERE id = $1", of: id)
            },
            History(15, "was ended and came back") { world in
                let id = try world.some(good)
                for time in ["1", "NULL"] {
                    try world.commit("UPDATE token_families SET ended_at = \(time) WHERE id = $1", of: id)
                }
            },
            History(15, "which is removed") { world in
                let id = try world.some(good)
                try world.commit(
                    """
                    UPDATE enrollments SET removed_at = 9000000000000
                    WHERE id = (SELECT enrollment_id FROM token_families WHERE id = $1)
                    """, of: id)
            },
            History(15, "which has ended") { world in
                // Tokens with `offline_access` may have outlived theirs.
                let id = try world.some("\(good) AND session_id IN (SELECT id FROM sessions WHERE ended_at IS NULL)")
                try world.commit("UPDATE token_families SET offline = 0 WHERE id = $1", of: id)
                try world.commit(
                    "UPDATE sessions SET ended_at = 1 WHERE id = (SELECT session_id FROM token_families WHERE id = $1)",
                    of: id)
            },
            History(15, "is good, and usr_") { world in
                let id = try world.some(good)
                try world.commit("UPDATE challenges SET state = 'cancelled', ended_at = 1 WHERE state = 'pending'")
                try world.commit(
                    "DELETE FROM user_links WHERE user_id = (SELECT user_id FROM token_families WHERE id = $1)", of: id)
            },
            History(15, "and its user allows “”", of: .thirdPartys) { world in
                _ = try world.some(allowed)
                try world.commit("DELETE FROM grants")
            },
            History(15, "email”, and its user allows", of: .thirdPartys) { world in
                let id = try world.some(allowed)
                try world.commit(
                    "UPDATE token_families SET scopes = scopes || ' email', generation = generation + 1 WHERE id = $1",
                    of: id)
            },
            History(15, "goes on, though its user has ended it", of: .thirdPartys) { world in
                try world.commit(endAccess, of: try world.some(allowed))
            },
            History(15, "is left, though its user has ended it", of: .thirdPartys) { world in
                try world.commit(endAll, "DELETE FROM authorizations", endAccess, of: try world.some(allowed))
            },
            History(15, "was good, after its user had ended it", of: .thirdPartys) { world in
                let id = try world.some(allowed)
                try world.commit(endAll, "DELETE FROM grants", "DELETE FROM authorizations", endAccess, of: id)
                world.uses(id)
            },
            History(15, "who has not answered", of: .thirdPartys) { world in
                _ = try world.some(allowed)
                try world.commit("UPDATE grants SET given_at = given_at + 1")
            },
            History(15, "has allowed nothing", of: .thirdPartys) { world in
                try world.commit(
                    endAll, "DELETE FROM grants",
                    "INSERT INTO codes (hash, authorization_id, session_id, expires_at) VALUES (x'01', $1, 's', 1)",
                    of: try world.some("authorizations WHERE state = 'redeemed' AND \(atThirdParty)"))
            },
            History(15, "is allowed something, and usr_", of: .thirdPartys) { world in
                try world.commit(
                    endAll,
                    """
                    DELETE FROM user_links
                    WHERE (user_id, client_id) = (SELECT user_id, client_id FROM token_families WHERE id = $1)
                    """, of: try world.some(allowed))
            },
            History(0, "is over and has not ended") { _ = try $0.askAgain(try $0.some(approved)) },
            History(0, "was not delivered") { world in
                try world.commit("UPDATE outbox SET state = 'waiting' WHERE id = $1", of: try world.some("outbox"))
            },
            History(0, "given up without a reason") { world in
                try world.commit(
                    "UPDATE outbox SET state = 'dead', last_error = NULL WHERE id = $1", of: try world.some("outbox"))
            },
            History(0, "waits of removed devices are left") { world in
                let id = try world.some(enrolled)
                try world.commit("UPDATE enrollments SET removed_at = 9000000000000 WHERE id = $1", of: id)
                try world.commit("INSERT INTO waits (enrollment_id, method, until) VALUES ($1, 'confirm', 1)", of: id)
            },
        ]

        /// By whom and when the question was decided that is asked once more.
        private static let decision = "SELECT c.decided_by, c.ended_at FROM challenges c WHERE c.id = copied.id"

        @Test("A history that breaks a promise is seen to break it", arguments: histories + ofServers)
        func seen(_ history: History) throws {
            let report = try Self.spoiled(by: history)
            let violation = try #require(report.violation)
            #expect(violation.invariant == history.invariant, "\(violation)")
            #expect(violation.text.contains(history.words), "\(violation)")
        }

        @Test("Every promise that is made yet has a history that breaks it; without one nothing is seen")
        func complete() throws {
            #expect(Set(Self.histories.map(\.invariant)) == Set(0...15))
            #expect(try Self.world(3).run(for: .seconds(150)).violation == nil)
        }

        /// The first world that has what the history spoils.
        private static func spoiled(by history: History) throws -> SimulatedWorld.Report {
            let first = history.whose == .thirdPartys ? firstAllowed : seeds.lowerBound
            for seed in first..<seeds.upperBound {
                do {
                    return try world(seed, of: history.whose)
                        .run(for: length(of: history.whose), thenSpoiled: history.spoil)
                } catch is SimulatedWorld.Missing {}
            }
            throw SimulatedWorld.Missing(what: history.words)
        }

        private static let seeds = UInt64(3)..<60

        /// The first world in which somebody has allowed a third party something. Each takes seconds, so that they are
        /// looked through once.
        private static let firstAllowed =
            seeds.first { seed in
                let look: @Sendable (SimulatedWorld) throws -> Void = { _ = try $0.some(allowed) }
                let world = try? world(seed, of: .thirdPartys)
                return (try? world?.run(for: length(of: .thirdPartys), thenSpoiled: look)) != nil
            } ?? seeds.upperBound

        private static func length(of whose: Whose) -> Duration {
            switch whose {
            case .portals: .seconds(150)
            case .thirdPartys: .seconds(3600)
            case .callCentres: .seconds(600)
            }
        }

        /// Some minutes in which nothing goes wrong.
        private static func world(_ seed: UInt64, of whose: Whose = .portals) throws -> SimulatedWorld {
            var population = SimulatedWorld.Population()
            (population.users, population.nodes, population.portals) = (2, 1, 1)
            (population.asksPerHour, population.hasThief, population.rates) = (1500, false, .none)
            (population.hasThirdParty, population.hasCallCentres) = (whose == .thirdPartys, whose == .callCentres)
            // It takes longer until somebody has allowed a third party something, or has said yes to a call centre.
            if whose != .portals { population.asksPerHour = 60 }
            return try SimulatedWorld(seed: seed, population: population)
        }
    }
}
