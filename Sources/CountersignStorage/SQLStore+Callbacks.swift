package import CountersignCore
package import CountersignWire
import Encodings

private enum Statements {
    static let access = SQLStatement(
        """
        SELECT callback_secret, earlier_callback_secret, earlier_until, callback_username, callback_password,
          (SELECT is_gone FROM gone_receivers WHERE client_id = $1 AND uri = $2),
          disabled_at
        FROM clients WHERE id = $1
        """)
    static let renew = SQLStatement(
        """
        UPDATE clients SET callback_secret = $2, earlier_callback_secret = callback_secret, earlier_until = $3
        WHERE id = $1
        """)
    static let putBasic = SQLStatement(
        "UPDATE clients SET callback_username = $2, callback_password = $3 WHERE id = $1")
    static let noteGone = SQLStatement(
        """
        INSERT INTO gone_receivers (client_id, uri, answers, since, is_gone) VALUES ($1, $2, 1, $3, 0)
        ON CONFLICT (client_id, uri) DO UPDATE SET answers = gone_receivers.answers + 1,
          is_gone = CASE WHEN gone_receivers.answers + 1 >= $4 AND gone_receivers.since <= $5 THEN 1
            ELSE gone_receivers.is_gone END
        RETURNING is_gone
        """)
    static let gone = SQLStatement("SELECT uri FROM gone_receivers WHERE client_id = $1 AND is_gone = 1 ORDER BY uri")
    static let allGone = SQLStatement("SELECT client_id, uri FROM gone_receivers WHERE is_gone = 1 ORDER BY uri")
    static let forgetGone = SQLStatement("DELETE FROM gone_receivers WHERE client_id = $1 AND uri = $2")
    static let forgetAllGone = SQLStatement("DELETE FROM gone_receivers WHERE client_id = $1")
}

/// The credentials for callbacks, and the state of their receivers.
extension SQLStore {
    /// See ``OutboxQueue/callbackAccess(to:at:)``.
    package func callbackAccess(
        to receivers: Set<CallbackReceiver>, at now: Timestamp
    ) async throws -> [CallbackReceiver: CallbackAccess] {
        let sealer = try sealer
        return try await engine.read { connection in
            let receivers = Array(receivers)
            let rows = try connection.rows(
                Statements.access, each: receivers.map { [$0.client.value, .text($0.uri.description)] })
            var found: [CallbackReceiver: CallbackAccess] = [:]
            for (receiver, rows) in zip(receivers, rows) {
                found[receiver] = try rows.first.flatMap {
                    try CallbackAccess($0, of: receiver.client, at: now, sealer: sealer)
                }
            }
            return found
        }
    }
}

extension CallbackAccess {
    /// Nil for a client without a callback secret.
    fileprivate init?(_ row: SQLRow, of client: ClientID, at now: Timestamp, sealer: Sealer) throws {
        guard let newest = try row.optionalBlob(0) else { return nil }
        let earlier = try row.optionalTime(2).map { now < $0 } == true ? try row.optionalBlob(1) : nil
        let secrets = try [newest, earlier].compactMap { $0 }.map { sealed in
            try sealer.openText(sealed, for: .callbackSecret, of: client)
        }
        let basic: BasicCredentials? =
            if let username = try row.optionalText(3), let sealed = try row.optionalBlob(4) {
                BasicCredentials(
                    username: username, password: try sealer.openText(sealed, for: .callbackPassword, of: client))
            } else { nil }
        let health: CallbackAccess.ReceiverHealth =
            switch (try row.optionalInteger(6), try row.optionalInteger(5)) {
            case (_?, _): .disabled
            case (nil, nil): .good
            case (nil, 1): .gone
            case (nil, _): .suspected
            }
        self.init(secrets: secrets, basic: basic, health: health)
    }
}

extension SQLTransaction {
    func sealed(callbackSecret: Secret<String>, of client: ClientID) throws -> [UInt8] {
        try sealer.sealText(callbackSecret, for: .callbackSecret, of: client)
    }

    func renewCallbackSecret(of client: ClientID, to secret: Secret<String>, earlierUntil: Timestamp) throws {
        try connection.send(
            Statements.renew,
            [client.value, .blob(try sealed(callbackSecret: secret, of: client)), earlierUntil.value])
    }

    func put(_ basic: BasicCredentials?, of client: ClientID) throws {
        let sealed = try basic.map { try sealer.sealText($0.password, for: .callbackPassword, of: client) }
        try connection.send(Statements.putBasic, [client.value, .optional(basic?.username), .optional(sealed)])
    }

    func countGone(_ receiver: CallbackURI, of client: ClientID, at now: Timestamp) throws -> Bool {
        try first(
            Statements.noteGone,
            [
                client.value, .text(receiver.description), now.value, .integer(GoneReceiver.answers),
                now.adding(-GoneReceiver.period).value,
            ]
        ) { try $0.integer(0) == 1 } ?? false
    }

    func gone(of client: ClientID) throws -> [CallbackURI] {
        try all(Statements.gone, [client.value]) { CallbackURI(stored: try $0.text(0)) }
    }

    func gone() throws -> [ClientID: [CallbackURI]] {
        let rows: [(ClientID, CallbackURI)] = try all(Statements.allGone, []) {
            (try $0.id(0), CallbackURI(stored: try $0.text(1)))
        }
        return Dictionary(grouping: rows, by: \.0).mapValues { $0.map(\.1) }
    }

    func forgetGone(_ receiver: CallbackURI, of client: ClientID) throws {
        try connection.send(Statements.forgetGone, [client.value, .text(receiver.description)])
    }

    func forgetAllGone(of client: ClientID) throws {
        try connection.send(Statements.forgetAllGone, [client.value])
    }
}

/// A client's sealed texts; each kind has its own associated data.
enum SealedText: String {
    case callbackSecret = "callback secret"
    case callbackPassword = "callback password"

    func place(_ client: some CustomStringConvertible) -> String { "\(rawValue) \(client)" }
}

extension Sealer {
    fileprivate func sealText(_ text: Secret<String>, for kind: SealedText, of client: ClientID) throws -> [UInt8] {
        try seal(Array(text.reveal().utf8), for: kind.place(client))
    }

    fileprivate func openText(_ sealed: [UInt8], for kind: SealedText, of client: ClientID) throws -> Secret<String> {
        Secret(String(decoding: try open(sealed, for: kind.place(client)), as: UTF8.self))
    }
}
