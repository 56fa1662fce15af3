/// The name of a text of the prompts.
///
/// Each language has a text for each: see ``PromptTexts``. An app can replace it by its own.
public enum PromptWord: String, CaseIterable, Sendable {
    // Frame.
    /// In English: Asked by
    case askedBy
    /// In English: As
    case factAs
    /// In English: From
    case factFrom
    /// In English: At
    case factAt
    /// In English: Signing data
    case factSigningData
    /// In English: Enrolled
    case factEnrolled
    /// In English: {{left}} left
    case timeLeft
    /// In English: 1 minute left.
    case sayMinute
    /// In English: 30 seconds left.
    case sayHalfMinute
    /// In English: 10 seconds left.
    case sayTenSeconds
    /// In English: One moment
    case loadingHeading
    /// In English: The question is fetched and checked.
    case loadingText
    /// In English: One moment
    case sendingHeading

    // Buttons.
    /// In English: Approve
    case approve
    /// In English: Decline
    case decline
    /// In English: This was not me
    case notMe
    /// In English: Yes, go on
    case yesGoOn
    /// In English: Continue
    case continueButton
    /// In English: Try again
    case tryAgain
    /// In English: Back
    case back
    /// In English: Cancel
    case cancel
    /// In English: Cancel sign-in
    case cancelSignIn
    /// In English: Close
    case close
    /// In English: Remove
    case remove
    /// In English: Undo
    case undo
    /// In English: Keep it
    case keepIt
    /// In English: Approve by tapping
    case useTap
    /// In English: Use the PIN
    case usePIN
    /// In English: Use fingerprint or face
    case useBiometric
    /// In English: Use {{name}}
    case useCustom

    // Failures.
    /// In English: That did not work
    case failedHeading
    /// In English: There is no network. Try again when there is one.
    case failedNetwork
    /// In English: Our service did not answer as it should. Try again in a minute.
    case failedService
    /// In English: The date and time of this device are wrong. Set them, then try again.
    case failedClock
    /// In English: The keys on this device cannot be read. Unlock it, free some space, then try again.
    case failedStorage
    /// In English: This device is not enrolled any more. Enroll it anew to approve with it.
    case failedRemoved
    /// In English: This device is suspended. Resume it with another device.
    case failedSuspended
    /// In English: This device still waits. Approve it with a device that you have.
    case failedWaiting
    /// In English: You have a PIN, or use your fingerprint or face, on another device. Do it there.
    case failedMethodNeeded
    /// In English: This cannot be done ({{code}}).
    case failedOther

    // Question.
    /// In English: The question cannot be fetched
    case unreachableHeading
    /// In English: This question is not shown
    case unverifiedHeading
    /// In English: It is not signed by the service that this app belongs to. Somebody may want to deceive you.
    /// Nothing was approved.
    case forgedText
    /// In English: It does not pass our checks, or this app is too old for it. Update the app, then start again where
    /// you began. Nothing was approved.
    case unreadableText
    /// In English: Did you scan this code yourself?
    case codeOriginHeading
    /// In English: Go on only if you saw the code on a screen of your own, where you started this yourself.
    case codeOriginText
    /// In English: Did you follow this link yourself?
    case linkOriginHeading
    /// In English: Go on only if you followed the link yourself, on this device, where you started this.
    case linkOriginText
    /// In English: Whoever has sent it to you, or told you to open it, wants you to approve something of theirs.
    case originWarning
    /// In English: Do you approve this?
    case askHeading
    /// In English: Signed with your answer
    case signedWithAnswer
    /// In English: Number shown where you started this
    case numberLabel
    /// In English: Type all {{count}} digits of the number.
    case numberMissing
    /// In English: Approving
    case approvingHeading
    /// In English: Declining
    case decliningHeading
    /// In English: Reporting
    case reportingHeading
    /// In English: Your answer is on its way.
    case sendingText
    /// In English: Your answer has not arrived
    case unsentHeading
    /// In English: Approved
    case approvedHeading
    /// In English: Go back to where you began, within two minutes.
    case goBackSoon
    /// In English: Declined
    case declinedHeading
    /// In English: Reported
    case reportedHeading
    /// In English: We have noted that somebody else started this.
    case reportedText
    /// In English: Nothing was approved.
    case nothingApproved
    /// In English: If you still want it, start again where you began.
    case startAgain
    /// In English: Not approved in time
    case expiredHeading
    /// In English: We do not know whether it was approved
    case unknownHeading
    /// In English: No reply to your answer has come. Look where you began before you start again.
    case unknownText
    /// In English: Answered already
    case answeredHeading
    /// In English: It was answered before, here or on another device.
    case answeredText
    /// In English: The question was taken back
    case takenBackHeading
    /// In English: That was not the number shown
    case wrongNumberHeading
    /// In English: Start again where you began, and type the new number. If you began nothing, somebody else did.
    case wrongNumberText
    /// In English: The question has failed
    case failedQuestionHeading
    /// In English: There is no such question any more
    case goneHeading
    /// In English: Nothing is left to answer.
    case goneText
    /// In English: This device cannot approve it
    case methodMissingHeading
    /// In English: It wants a method that is not set up on this device. Set it up, then try again.
    case methodMissingText
    /// In English: This device cannot answer
    case deviceCannotHeading

    // PIN.
    /// In English: Type your PIN
    case pinHeading
    /// In English: PIN
    case pinLabel
    /// In English: Without it nothing changes.
    case pinForChange
    /// In English: A PIN has 4 to 32 digits.
    case pinMalformed
    /// In English: This is not your PIN. {{count}} tries are left.
    case pinWrong
    /// In English: This is not your PIN. 1 try is left.
    case pinWrongOnce
    /// In English: The PIN is locked
    case pinLockedHeading
    /// In English: It was typed wrong too often. To have a PIN again, enroll this device anew.
    case pinLockedText
    /// In English: Choose a PIN
    case choosePINHeading
    /// In English: Type your PIN of today
    case oldPINHeading
    /// In English: Choose a new PIN
    case newPINHeading
    /// In English: Type the new PIN once more
    case repeatPINHeading
    /// In English: New PIN
    case newPINLabel
    /// In English: Set PIN
    case setPIN
    /// In English: Setting the PIN
    case savingPINHeading
    /// In English: The PIN was not set
    case unsavedPINHeading
    /// In English: The PIN is set
    case pinSetHeading
    /// In English: The PIN is changed
    case pinChangedHeading
    /// In English: The PIN stays as it was
    case pinUnchangedHeading
    /// In English: The two were not the same. Choose a PIN, then type it once more.
    case pinMismatch
    /// In English: It has {{least}} to {{most}} digits.
    case breaksLength
    /// In English: It has {{count}} digits.
    case breaksExactLength
    /// In English: No digit stands in it more than {{count}} times.
    case breaksRepeats
    /// In English: No digit stands in it twice.
    case breaksRepeatsOnce
    /// In English: Its digits do not simply follow one another, as in 12345.
    case breaksSequence
    /// In English: Too many people choose this one. Choose another.
    case breaksCommon
    /// In English: This takes a new sign-in
    case authorityHeading
    /// In English: This device was enrolled too long ago to set its first PIN by itself. Sign in anew, or have a new
    /// ticket made.
    case authorityText

    // Fingerprint and face.
    /// In English: Fingerprint or face did not work
    case biometricHeading
    /// In English: This device has no fingerprint and no face, or none is set up.
    case biometricUnavailable
    /// In English: It was not recognised. Try again, or choose another way.
    case biometricFailed
    /// In English: You have closed it. Nothing was approved yet.
    case biometricCancelled
    /// In English: You have closed it. Nothing was changed yet.
    case biometricCancelledForChange
    /// In English: You wanted another way, and there is none for this question.
    case biometricFallback
    /// In English: You wanted another way, and there is none for this change.
    case biometricFallbackForChange
    /// In English: It was not recognised too often. Unlock this device with its passcode first.
    case biometricLockout
    /// In English: The fingerprints or faces of this device have changed. Set this up anew in the app.
    case biometricChanged
    /// In English: It is not set up in this app.
    case biometricNotRegistered

    // Custom authenticators.
    /// In English: Approve with {{name}}
    case customHeading
    /// In English: {{name}}
    case customLabel
    /// In English: It says: {{payload}}
    case customSays
    /// In English: That was not enough. {{count}} tries are left.
    case customAgain
    /// In English: That was not enough. 1 try is left.
    case customAgainOnce
    /// In English: That was not enough. Try again.
    case customAgainUnlimited
    /// In English: It cannot be asked now. Try again in a minute, or choose another way.
    case customUnavailable
    /// In English: {{name}} refuses
    case customRefusedHeading
    /// In English: It is not set up any more. Choose another way, or set it up anew.
    case customRefusedText
    /// In English: Set up {{name}}
    case customRegisterHeading
    /// In English: Set up
    case customRegister
    /// In English: It cannot be asked now. Try again in a minute.
    case customRegisterUnavailable
    /// In English: {{name}} is set up
    case customRegisteredHeading
    /// In English: Remove {{name}}?
    case customRemoveHeading
    /// In English: You can approve with it no more. You can set it up again at any time.
    case customRemoveText
    /// In English: {{name}} is removed
    case customRemovedHeading
    /// In English: {{name}} is not set up
    case customNotThereHeading
    /// In English: Nothing was changed
    case nothingChangedHeading

    // Signing in elsewhere.
    /// In English: Your phone is asked.
    case waitingStartText
    /// In English: Type this number on your phone
    case waitingNumberHeading
    /// In English: Your phone asks for it. If it shows anything that you do not know, choose “This was not me” there.
    case waitingNumberText
    /// In English: Type this code on another device
    case waitingCodeHeading
    /// In English: Open {{page}} there, or scan the picture.
    case waitingCodeText
    /// In English: You are signed in
    case signedInHeading
    /// In English: Nobody was signed in.
    case nobodySignedIn
    /// In English: Declined on your phone
    case waitingDeclinedHeading
    /// In English: The sign-in did not work
    case signInFailedHeading
    /// In English: The sign-in was cancelled
    case signInCancelledHeading

    // Codes.
    /// In English: Scan the code
    case scanHeading
    /// In English: Scan only a code on a screen of your own, where you started something yourself.
    case scanText
    /// In English: Scan again
    case scanAgain
    /// In English: This app may not use the camera
    case noCameraHeading
    /// In English: Allow it in the settings of this device, then try again.
    case noCameraText
    /// In English: Open the settings
    case openSettings
    /// In English: Enrolling this device
    case ticketHeading
    /// In English: The ticket is good for one device.
    case ticketText
    /// In English: This code is of no use here
    case codeRefusedHeading
    /// In English: It is no code of ours. Scan the one on the page where you began.
    case codeUnknown
    /// In English: Nobody waits for it, or it is for somebody else.
    case codeInvalid
    /// In English: It was shown too long ago. Scan the one that is shown now.
    case codeExpired
    /// In English: Another device has scanned it. If that was not yours, start again where you began.
    case codeTaken
    /// In English: Whoever shows it does not know you yet. Enroll this device there first.
    case codeNotLinked
    /// In English: What it stands for has ended. Start again where you began.
    case codeOver
    /// In English: Cancelled
    case scanCancelledHeading
    /// In English: Scan this code with your phone
    case showCodeHeading
    /// In English: Open the app there and choose “Scan”. Check what it shows, then approve there.
    case showCodeText
    /// In English: The code renews itself.
    case codeRenews
    /// In English: The code is no longer good
    case codeGoneHeading
    /// In English: Show a new code
    case showNewCode
    /// In English: Scanned
    case scannedHeading
    /// In English: Go on in the app.
    case scannedText

    // Further devices.
    /// In English: Type this number on the device that you have
    case furtherNumberHeading
    /// In English: It asks whether this one may be added.
    case furtherNumberText
    /// In English: This device still waits
    case furtherWaitHeading
    /// In English: It can approve from {{until}}, unless somebody refuses it.
    case furtherOrWait
    /// In English: This device is ready
    case furtherActiveHeading
    /// In English: You can approve with it from now on.
    case furtherActiveText
    /// In English: This device was refused
    case furtherRefusedHeading
    /// In English: It cannot approve. If that was a slip, enroll it anew.
    case furtherRefusedText
    /// In English: Undo this device?
    case undoThisHeading
    /// In English: It can approve nothing, now or later. To use it, it must be enrolled anew.
    case undoThisText
    /// In English: Undoing
    case undoingHeading
    /// In English: This device was not undone
    case notUndoneHeading
    /// In English: This device was undone
    case furtherUndoneHeading

    // Pending questions.
    /// In English: Waiting for your answer
    case pendingHeading
    /// In English: {{client}}: {{message}} ({{moment}})
    case pendingRow
    /// In English: Nothing is waiting
    case pendingEmptyHeading
    /// In English: Questions appear here by themselves.
    case pendingEmptyText

    // Devices.
    /// In English: Trusted devices
    case devicesHeading
    /// In English: {{device}} (this one)
    case thisDevice
    /// In English: There is no other device.
    case noOtherDevices
    /// In English: Waiting
    case tagWaiting
    /// In English: PIN
    case methodPIN
    /// In English: Fingerprint or face
    case methodBiometric
    /// In English: PIN, fingerprint or face
    case methodBoth
    /// In English: Approves by tapping
    case methodNone
    /// In English: Enrolled {{moment}}
    case enrolledAt
    /// In English: Can approve from {{until}}
    case canApproveFrom
    /// In English: Approves nothing until you resume it, with another device
    case approvesNothing
    /// In English: A PIN was set, which counts from {{until}}. If that was not you, undo it.
    case waitingPIN
    /// In English: A fingerprint or a face was set up, which counts from {{until}}. If that was not you, undo it.
    case waitingBiometric
    /// In English: A further way to approve was set up, which counts from {{until}}. If that was not you, undo it.
    case waitingCustom
    /// In English: Undo the PIN on {{device}}
    case undoPIN
    /// In English: Undo the fingerprint or face on {{device}}
    case undoBiometric
    /// In English: Undo the further way on {{device}}
    case undoCustom
    /// In English: Suspend {{device}}
    case suspendDevice
    /// In English: Resume {{device}}
    case resumeDevice
    /// In English: Undo {{device}}
    case undoDevice
    /// In English: Remove {{device}}
    case removeDevice
    /// In English: Suspend {{device}}?
    case suspendHeading
    /// In English: It approves nothing until you resume it, with another device.
    case suspendText
    /// In English: Undo {{device}}?
    case undoHeading
    /// In English: It can approve nothing, now or later. All your addresses are told. To use it, it must be enrolled
    /// anew.
    case undoText
    /// In English: Remove {{device}}?
    case removeHeading
    /// In English: It can approve nothing from now on. All your addresses are told. To use it again, it must be
    /// enrolled anew.
    case removeText
    /// In English: It can no longer be resumed. All your addresses are told. To use it again, it must be enrolled anew.
    case removeSuspendedText
    /// In English: It is this device. You can approve nothing with it from now on. To use it again, you must enroll
    /// it anew.
    case removeThisText
    /// In English: Nothing was changed
    case notDoneHeading
    /// In English: What you wanted to change is not there any more, or cannot be changed now.
    case deviceGone
    /// In English: {{device}} was suspended. It approves nothing until you resume it, with another device.
    case saySuspended
    /// In English: {{device}} was resumed. It can approve again.
    case sayResumed
    /// In English: {{device}} was removed.
    case sayRemoved
    /// In English: What waited on {{device}} was undone.
    case sayMethodUndone
    /// In English: This device was removed
    case thisOneRemovedHeading
    /// In English: You can approve nothing with it any more.
    case thisOneRemovedText
}
