/// What the app does while a mobile authentication request is handled; every method is optional.
///
/// Each request ends in one call: ``userClient(_:didHandleRequest:authenticator:info:)`` if it was approved, otherwise
/// ``userClient(_:didFailToHandleRequest:authenticator:error:)``, also if it was denied. The methods under the other
/// names are those of the original's documents; each is called where the app has none of the first name.
@MainActor
public protocol MobileAuthRequestDelegate: AnyObject, Sendable {
    /// The person is to confirm or to deny the request; the first call of the closure counts, and `false` denies.
    func userClient(
        _ userClient: any UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest)
    /// Another name of ``userClient(_:didReceiveConfirmation:for:)``.
    func userClient(
        _ userClient: any UserClient, didReceiveConfirmationChallenge confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest)
    /// The person is to approve by the PIN.
    func userClient(
        _ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge,
        for request: any MobileAuthRequest)
    /// The person is to approve by biometrics; by the PIN if the app does not implement this.
    func userClient(
        _ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge,
        for request: any MobileAuthRequest)
    /// The person is to approve by a custom authenticator; by the PIN if the app does not implement this.
    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge,
        for request: any MobileAuthRequest)
    /// The request was approved; the authenticator is nil for a confirmation.
    func userClient(
        _ userClient: any UserClient, didHandleRequest request: any MobileAuthRequest, authenticator: Authenticator?,
        info customAuthenticatorInfo: (any CustomInfo)?)
    /// Another name of ``userClient(_:didHandleRequest:authenticator:info:)``.
    func userClient(
        _ userClient: any UserClient, didHandle request: any MobileAuthRequest, authenticator: Authenticator?,
        info customAuthenticatorInfo: (any CustomInfo)?)
    /// The request was denied, or could not be handled.
    func userClient(
        _ userClient: any UserClient, didFailToHandleRequest request: any MobileAuthRequest,
        authenticator: Authenticator?, error: any Error)
    /// Another name of ``userClient(_:didFailToHandleRequest:authenticator:error:)``.
    func userClient(
        _ userClient: any UserClient, didFailToHandle request: any MobileAuthRequest, authenticator: Authenticator?,
        error: any Error)
    /// Another name of ``userClient(_:didFailToHandleRequest:authenticator:error:)``.
    func userClient(
        _ userClient: any UserClient, didFailToHandleMobileAuthenticationRequest request: any MobileAuthRequest,
        authenticator: Authenticator?, error: any Error)
    /// A one-time password failed before there was a request.
    ///
    /// If the app does not implement this, ``userClient(_:didFailToHandleRequest:authenticator:error:)`` is called with
    /// an empty request.
    func userClient(
        _ userClient: any UserClient, didFailToHandleOTPMobileAuthRequest otp: String, error: any Error)
}

extension MobileAuthRequestDelegate {
    /// Calls the method of the other name.
    public func userClient(
        _ userClient: any UserClient, didReceiveConfirmation confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest
    ) {
        self.userClient(userClient, didReceiveConfirmationChallenge: confirmation, for: request)
    }

    /// Lets go of the request, which fails and is not denied.
    public func userClient(
        _ userClient: any UserClient, didReceiveConfirmationChallenge confirmation: @escaping (Bool) -> Void,
        for request: any MobileAuthRequest
    ) {}

    /// Lets go of the request, which fails and is not denied.
    public func userClient(
        _ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge,
        for request: any MobileAuthRequest
    ) {}

    /// Goes on with the PIN.
    public func userClient(
        _ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge,
        for request: any MobileAuthRequest
    ) {
        challenge.sender.respondWithPinFallback(to: challenge)
    }

    /// Goes on with the PIN.
    public func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge,
        for request: any MobileAuthRequest
    ) {
        challenge.sender.respondWithPinFallback(to: challenge)
    }

    /// Calls the method of the other name.
    public func userClient(
        _ userClient: any UserClient, didHandleRequest request: any MobileAuthRequest, authenticator: Authenticator?,
        info customAuthenticatorInfo: (any CustomInfo)?
    ) {
        self.userClient(
            userClient, didHandle: request, authenticator: authenticator, info: customAuthenticatorInfo)
    }

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didHandle request: any MobileAuthRequest, authenticator: Authenticator?,
        info customAuthenticatorInfo: (any CustomInfo)?
    ) {}

    /// Calls the method of the next name.
    public func userClient(
        _ userClient: any UserClient, didFailToHandleRequest request: any MobileAuthRequest,
        authenticator: Authenticator?, error: any Error
    ) {
        self.userClient(userClient, didFailToHandle: request, authenticator: authenticator, error: error)
    }

    /// Calls the method of the next name.
    public func userClient(
        _ userClient: any UserClient, didFailToHandle request: any MobileAuthRequest, authenticator: Authenticator?,
        error: any Error
    ) {
        self.userClient(
            userClient, didFailToHandleMobileAuthenticationRequest: request, authenticator: authenticator,
            error: error)
    }

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToHandleMobileAuthenticationRequest request: any MobileAuthRequest,
        authenticator: Authenticator?, error: any Error
    ) {}

    /// Tells of it as of a request.
    public func userClient(
        _ userClient: any UserClient, didFailToHandleOTPMobileAuthRequest otp: String, error: any Error
    ) {
        let nothing = TranslatedRequest("", UserProfileImplementation(profileId: ""))
        self.userClient(userClient, didFailToHandleRequest: nothing, authenticator: nil, error: error)
    }
}

/// What the app does while a user is registered.
///
/// Each registration ends in one call: ``userClient(_:didRegisterUser:with:info:)`` or
/// ``userClient(_:didFailToRegisterUserWith:error:)``.
@MainActor
public protocol RegistrationDelegate: AnyObject, Sendable {
    /// The person is to choose a PIN.
    func userClient(_ userClient: any UserClient, didReceiveCreatePinChallenge challenge: any CreatePinChallenge)
    /// The person is to sign in at the issuer.
    func userClient(
        _ userClient: any UserClient,
        didReceiveBrowserRegistrationChallenge challenge: any BrowserRegistrationChallenge)
    /// Never called: there is nothing to begin with.
    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomRegistrationInitChallenge challenge: any CustomRegistrationChallenge)
    /// The person is to scan a ticket.
    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomRegistrationFinishChallenge challenge: any CustomRegistrationChallenge)
    /// The person has another device, which is to approve this one: they type this number there.
    ///
    /// The original has no such call. The number has six digits; it is nil if no other device can approve this one,
    /// which then only waits. The registration ends when this device is let in, which may take a day.
    func userClient(_ userClient: any UserClient, didBeginWaitingForApproval number: String?)
    /// The user is registered and logged in.
    func userClient(
        _ userClient: any UserClient, didRegisterUser profile: any UserProfile,
        with identityProvider: any IdentityProvider, info: (any CustomInfo)?)
    /// Nobody was registered.
    func userClient(
        _ userClient: any UserClient, didFailToRegisterUserWith identityProvider: any IdentityProvider,
        error: any Error)
}

extension RegistrationDelegate {
    /// Gives up.
    public func userClient(
        _ userClient: any UserClient, didReceiveCreatePinChallenge challenge: any CreatePinChallenge
    ) {}

    /// Gives up.
    public func userClient(
        _ userClient: any UserClient, didReceiveBrowserRegistrationChallenge challenge: any BrowserRegistrationChallenge
    ) {}

    /// Gives up.
    public func userClient(
        _ userClient: any UserClient,
        didReceiveCustomRegistrationInitChallenge challenge: any CustomRegistrationChallenge
    ) {}

    /// Gives up.
    public func userClient(
        _ userClient: any UserClient,
        didReceiveCustomRegistrationFinishChallenge challenge: any CustomRegistrationChallenge
    ) {}

    /// Shows nothing.
    public func userClient(_ userClient: any UserClient, didBeginWaitingForApproval number: String?) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didRegisterUser profile: any UserProfile,
        with identityProvider: any IdentityProvider, info: (any CustomInfo)?
    ) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToRegisterUserWith identityProvider: any IdentityProvider,
        error: any Error
    ) {}
}

/// What the app does while a user is authenticated.
///
/// Each authentication ends in one call: ``userClient(_:didAuthenticateUser:authenticator:info:)`` or
/// ``userClient(_:didFailToAuthenticateUser:authenticator:error:)``.
@MainActor
public protocol AuthenticationDelegate: AnyObject, Sendable {
    /// The person is to type the PIN.
    func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge)
    /// The person is to show their biometrics; the PIN is asked for if the app does not implement this.
    func userClient(_ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge)
    /// Never called: a custom authenticator signs nobody in.
    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge)
    /// The user is logged in.
    func userClient(
        _ userClient: any UserClient, didAuthenticateUser userProfile: any UserProfile, authenticator: Authenticator,
        info customAuthInfo: (any CustomInfo)?)
    /// The user is not logged in.
    func userClient(
        _ userClient: any UserClient, didFailToAuthenticateUser userProfile: any UserProfile,
        authenticator: Authenticator, error: any Error)
}

extension AuthenticationDelegate {
    /// Gives up.
    public func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge) {}

    /// Goes on with the PIN.
    public func userClient(_ userClient: any UserClient, didReceiveBiometricChallenge challenge: any BiometricChallenge)
    {
        challenge.sender.respondWithPinFallback(to: challenge)
    }

    /// Goes on with the PIN.
    public func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishAuthenticationChallenge challenge: any CustomAuthFinishAuthenticationChallenge
    ) {
        challenge.sender.respondWithPinFallback(to: challenge)
    }

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didAuthenticateUser userProfile: any UserProfile, authenticator: Authenticator,
        info customAuthInfo: (any CustomInfo)?
    ) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToAuthenticateUser userProfile: any UserProfile,
        authenticator: Authenticator, error: any Error
    ) {}
}

/// What the app does while the PIN is changed.
///
/// Each change ends in one call: ``userClient(_:didChangePinForUser:)`` or
/// ``userClient(_:didFailToChangePinForUser:error:)``.
@MainActor
public protocol ChangePinDelegate: AnyObject, Sendable {
    /// The person is to type the PIN that there is.
    func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge)
    /// The person is to choose a new PIN.
    func userClient(_ userClient: any UserClient, didReceiveCreatePinChallenge challenge: any CreatePinChallenge)
    /// The PIN is changed.
    func userClient(_ userClient: any UserClient, didChangePinForUser profile: any UserProfile)
    /// The PIN is not changed.
    func userClient(
        _ userClient: any UserClient, didFailToChangePinForUser profile: any UserProfile, error: any Error)
}

extension ChangePinDelegate {
    /// Gives up.
    public func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge) {}

    /// Gives up.
    public func userClient(
        _ userClient: any UserClient, didReceiveCreatePinChallenge challenge: any CreatePinChallenge
    ) {}

    /// Does nothing.
    public func userClient(_ userClient: any UserClient, didChangePinForUser profile: any UserProfile) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToChangePinForUser profile: any UserProfile, error: any Error
    ) {}
}

/// What the app does while an authenticator is registered.
///
/// Each registration ends in one call: ``userClient(_:didRegister:for:info:)`` or
/// ``userClient(_:didFailToRegister:for:error:)``.
@MainActor
public protocol AuthenticatorRegistrationDelegate: AnyObject, Sendable {
    /// The person is to type the PIN, which every change needs.
    func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge)
    /// The person is to give the data for the custom authenticator.
    func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishRegistrationChallenge challenge: any CustomAuthFinishRegistrationChallenge)
    /// The authenticator is registered.
    func userClient(
        _ userClient: any UserClient, didRegister authenticator: Authenticator, for userProfile: any UserProfile,
        info customAuthInfo: (any CustomInfo)?)
    /// The authenticator is not registered.
    func userClient(
        _ userClient: any UserClient, didFailToRegister authenticator: Authenticator,
        for userProfile: any UserProfile, error: any Error)
}

extension AuthenticatorRegistrationDelegate {
    /// Gives up.
    public func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge) {}

    /// Gives up.
    public func userClient(
        _ userClient: any UserClient,
        didReceiveCustomAuthFinishRegistrationChallenge challenge: any CustomAuthFinishRegistrationChallenge
    ) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didRegister authenticator: Authenticator, for userProfile: any UserProfile,
        info customAuthInfo: (any CustomInfo)?
    ) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToRegister authenticator: Authenticator,
        for userProfile: any UserProfile, error: any Error
    ) {}
}

/// What the app does while an authenticator is deregistered.
///
/// Each deregistration ends in one call: ``userClient(_:didDeregister:forUser:)`` or
/// ``userClient(_:didFailToDeregister:forUser:error:)``.
@MainActor
public protocol AuthenticatorDeregistrationDelegate: AnyObject, Sendable {
    /// The person is to type the PIN, which every change needs; the original asks for nothing.
    func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge)
    /// The authenticator is deregistered.
    func userClient(
        _ userClient: any UserClient, didDeregister authenticator: Authenticator, forUser userProfile: any UserProfile)
    /// The authenticator is not deregistered.
    func userClient(
        _ userClient: any UserClient, didFailToDeregister authenticator: Authenticator,
        forUser userProfile: any UserProfile, error: any Error)
}

extension AuthenticatorDeregistrationDelegate {
    /// Gives up.
    public func userClient(_ userClient: any UserClient, didReceivePinChallenge challenge: any PinChallenge) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didDeregister authenticator: Authenticator, forUser userProfile: any UserProfile
    ) {}

    /// Does nothing.
    public func userClient(
        _ userClient: any UserClient, didFailToDeregister authenticator: Authenticator,
        forUser userProfile: any UserProfile, error: any Error
    ) {}
}
