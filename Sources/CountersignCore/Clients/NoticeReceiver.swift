package import CountersignWire

/// Where a client is told of what changes about the devices of its users.
package struct NoticeReceiver: Sendable {
    /// The client.
    package let client: ClientID
    /// Where.
    package let uri: CallbackURI
    /// The client's own name for the user.
    package let externalID: ExternalID?

    /// A receiver of these parts.
    package init(client: ClientID, uri: CallbackURI, externalID: ExternalID?) {
        self.client = client
        self.uri = uri
        self.externalID = externalID
    }
}
