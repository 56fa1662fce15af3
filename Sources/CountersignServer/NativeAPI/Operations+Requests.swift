import CountersignCore
import CountersignWire
import RelyingPartyAPI

extension AskChallenge.Request {
    /// What the body of `POST /v1/challenges` asks.
    init(_ request: AskRequest) {
        self.init(user: request.user, type: request.type, message: request.message)
        secureMessage = request.secureMessage
        details = request.details
        signingData = request.signingData
        context = request.context?.line
        browser = request.browser
        numberEntry = request.numberEntry
        lifetime = request.lifetime
        methods = request.methods
        enrollments = request.enrollments
        callbackURI = request.callbackURI
        returnURI = request.returnURI
        phone = request.phone
        locale = request.locale
        clientState = request.clientState
    }
}

extension CreateClient.Request {
    /// What the body of `POST /v1/admin/clients` asks.
    init(_ request: ClientRequest) {
        let settings = request.settings
        self.init(
            name: request.name, rights: settings.rights ?? Set(Right.allCases),
            callbackURIs: settings.callbackURIs ?? [], returnURIs: settings.returnURIs ?? [],
            noticeURI: settings.noticeURI ?? nil, basic: settings.basic ?? nil,
            waivesEnrollmentApproval: settings.waivesEnrollmentApproval ?? false,
            coolingOff: settings.coolingOff ?? Client.standardCoolingOff, pinPolicy: settings.pinPolicy ?? .standard,
            deviceLimit: settings.deviceLimit ?? nil, authenticators: settings.authenticators ?? [])
    }
}

extension ClientChanges {
    /// What the body of `PATCH /v1/admin/clients/{client}` asks.
    init(_ update: ClientUpdate) {
        self.init(
            name: update.name, rights: update.rights, callbackURIs: update.callbackURIs,
            returnURIs: update.returnURIs, notices: Change(update.noticeURI), basic: Change(update.basic),
            waivesEnrollmentApproval: update.waivesEnrollmentApproval, coolingOff: update.coolingOff,
            pinPolicy: update.pinPolicy, devices: Change(update.deviceLimit), authenticators: update.authenticators)
    }
}

extension ClientChanges.Change {
    fileprivate init(_ replacement: Value??) {
        self = replacement.map { $0.map { .set($0) } ?? .removed } ?? .unchanged
    }
}
