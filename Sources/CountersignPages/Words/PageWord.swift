/// The name of a text in the pages.
///
/// Each language has a text for each: see ``PageText``.
enum PageWord: String, CaseIterable, Sendable {
    // Frame.
    case skipToMain
    case errorTitle
    case signInTo
    case askedBy
    case signedOutOf
    case factAs
    case factFrom
    case factAt
    case change
    case youAreAt
    case help
    case privacy
    case useAnotherWay
    case cancelSignIn
    case continueButton
    case backToClient

    // Identifier.
    case identifierHeading
    case identifierLabel
    case identifierProblem
    case nothingToType
    case signInWithQR

    // Ways.
    case chooseHeading
    case confirmHeading
    case deviceWay
    case deviceWayHint
    case passkeyWay
    case passkeyWayHint
    case qrWay
    case qrWayHint
    case emailWay
    case emailWayHint
    case textWay
    case textWayHint

    // Number.
    case numberHeading
    case timeLeft
    case goodUntil
    case looksAgain
    case phoneNames
    case noNotification
    case lookAgain
    case lookByItself
    case sayMinute
    case sayHalfMinute
    case sayTenSeconds
    case sayApproved
    case sayDeclined
    case sayEnded
    case sayScanned

    // Approved.
    case approvedHeading
    case goingOn
    case goingOnSentence
    case continueTo
    case goesOnByItself
    case signedInHeading
    case signedInText
    case goOnAs
    case useAnotherAddress

    // Code.
    case codeHeadingEmail
    case codeHeadingText
    case codeTextEmail
    case codeTextText
    case codeLabel
    case codeMalformed
    case codeWrong
    case codeWrongOnce
    case codeGone
    case resendTooEarly
    case resendTooEarlyOnce
    case nothingThereEmail
    case nothingThereText
    case resendWait
    case sayResend
    case sendNewCode

    // Link.
    case linkHereHeading
    case linkHereText
    case linkSignIn
    case linkElsewhereHeading
    case linkElsewhereText
    case linkFor
    case linkFrom
    case linkTypeIn
    case linkShowCode
    case linkNotAsked
    case linkCodeHeading
    case linkCodeUntil
    case linkCodeWarning

    // QR.
    case qrHeading
    case qrImage
    case qrStepOpen
    case qrStepCheck
    case qrStepApprove
    case qrTimeLeft
    case showNewCode
    case openHeading
    case openText
    case openApp
    case scanWithAnother

    // Consent.
    case consentHeading
    case scopeEmail
    case scopePhone
    case verified
    case unverified
    case noneKnown
    case scopeIdentity
    case scopeIdentityDetail
    case scopeStay
    case scopeStayDetail
    case learnsNothingElse
    case endInAccount
    case allow
    case doNotAllow
    case eitherWay

    // Ended.
    case endedHeading
    case endedNumber
    case endedCode
    case declinedHeading
    case declinedText
    case declinedHint
    case startAgain

    // Errors.
    case noReturnHeading
    case noReturnText
    case noClientHeading
    case noClientText
    case notUnderstoodHeading
    case notUnderstoodText
    case tooOldHeading
    case tooOldText
    case tooOldTextNobody
    case tooManyHeading
    case tooManyText
    case brokenHeading
    case brokenText
    case whatYouCanDo
    case goBack
    case sendLines
    case factRequest
    case factAtUTC
    case factWhy

    // Signing out.
    case signedOutHeading
    case signedOutText
    case signedOutTextNobody
    case signInAgain
    case closeWindows
    case signOutHeading
    case signOutHeadingNobody
    case signOutText
    case signOut
    case staySignedIn
    case signOutOfAll
}
