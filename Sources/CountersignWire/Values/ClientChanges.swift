/// What changes about a client; what is nil stays as it was.
package struct ClientChanges: Sendable {
    /// What users know the client by.
    package var name: ClientName?
    /// What it may do.
    package var rights: Set<Right>?
    /// Where it may be called back; receivers that were gone are called again.
    package var callbackURIs: [CallbackURI]?
    /// Where devices may return to.
    package var returnURIs: [ReturnURI]?
    /// Where it is told of its users' devices.
    package var notices: Change<CallbackURI>
    /// What its receiver asks for.
    package var basic: Change<BasicCredentials>
    /// Whether its tickets enroll a further device without the approval of an earlier one.
    package var waivesEnrollmentApproval: Bool?
    /// How long a further device waits that no earlier one approves.
    package var coolingOff: Seconds?
    /// The rules for the PINs of its devices; those that are set stay as they are.
    package var pinPolicy: PINPolicy?
    /// How many devices of a user may enroll through it; those that are enrolled stay.
    package var devices: Change<EnrollmentPolicies.DeviceLimit>
    /// What it judges itself; what is not among them is registered no more once it is used.
    package var authenticators: [CustomAuthenticator]?
    /// Whose calls it may make besides ours.
    package var vendors: Set<Vendor>?

    /// Changes of these parts.
    package init(
        name: ClientName? = nil, rights: Set<Right>? = nil, callbackURIs: [CallbackURI]? = nil,
        returnURIs: [ReturnURI]? = nil, notices: Change<CallbackURI> = .unchanged,
        basic: Change<BasicCredentials> = .unchanged,
        waivesEnrollmentApproval: Bool? = nil, coolingOff: Seconds? = nil, pinPolicy: PINPolicy? = nil,
        devices: Change<EnrollmentPolicies.DeviceLimit> = .unchanged, authenticators: [CustomAuthenticator]? = nil,
        vendors: Set<Vendor>? = nil
    ) {
        self.name = name
        self.rights = rights
        self.callbackURIs = callbackURIs
        self.returnURIs = returnURIs
        self.notices = notices
        self.basic = basic
        self.waivesEnrollmentApproval = waivesEnrollmentApproval
        self.coolingOff = coolingOff
        self.pinPolicy = pinPolicy
        self.devices = devices
        self.authenticators = authenticators
        self.vendors = vendors
    }

    /// What becomes of something that a client may have or not.
    package enum Change<Value: Sendable>: Sendable {
        /// It stays as it was.
        case unchanged
        /// This from now on.
        case set(Value)
        /// There is none any more.
        case removed

        /// What there is from now on, or that there is nothing; nil where it stays as it was.
        package var replacement: Value?? {
            switch self {
            case .unchanged: .none
            case .set(let value): .some(value)
            case .removed: .some(nil)
            }
        }
    }
}
