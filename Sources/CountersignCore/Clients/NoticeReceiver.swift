package import CountersignWire
import Encodings

/// A client's receiver of notices about the devices of one user.
package struct NoticeReceiver: Sendable {
    /// The client.
    package let client: ClientID
    /// The URI to which the notices are sent.
    package let uri: CallbackURI
    /// The client's own name for the user; nil for none.
    package let externalID: ExternalID?
    /// The group of the client.
    package let trustGroup: TrustGroup

    /// A receiver of these parts.
    package init(client: ClientID, uri: CallbackURI, externalID: ExternalID?, trustGroup: TrustGroup) {
        self.client = client
        self.uri = uri
        self.externalID = externalID
        self.trustGroup = trustGroup
    }
}

extension NoticeReceiver {
    /// The user of a notice, in the words of its receiver.
    func json(of user: UserID) -> JSONValue {
        .members(["id": .string("\(user)"), "external_id": externalID.map { .string($0.text) }])
    }
}
