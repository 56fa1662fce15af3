extension PromptTexts {
    /// The texts in English.
    static let english: [PromptWord: String] = [
        // Frame.
        .askedBy: "Asked by",
        .factAs: "As",
        .factFrom: "From",
        .factAt: "At",
        .factSigningData: "Signing data",
        .factEnrolled: "Enrolled",
        .timeLeft: "{{left}} left",
        .sayMinute: "1 minute left.",
        .sayHalfMinute: "30 seconds left.",
        .sayTenSeconds: "10 seconds left.",
        .loadingHeading: "One moment",
        .loadingText: "The question is fetched and checked.",
        .sendingHeading: "One moment",

        // Buttons.
        .approve: "Approve",
        .decline: "Decline",
        .notMe: "This was not me",
        .yesGoOn: "Yes, go on",
        .continueButton: "Continue",
        .tryAgain: "Try again",
        .back: "Back",
        .cancel: "Cancel",
        .cancelSignIn: "Cancel sign-in",
        .close: "Close",
        .remove: "Remove",
        .undo: "Undo",
        .keepIt: "Keep it",
        .useTap: "Approve by tapping",
        .usePIN: "Use the PIN",
        .useBiometric: "Use fingerprint or face",
        .useCustom: "Use {{name}}",

        // Failures.
        .failedHeading: "That did not work",
        .failedNetwork: "There is no network. Try again when there is one.",
        .failedService: "Our service did not answer as it should. Try again in a minute.",
        .failedClock: "The date and time of this device are wrong. Set them, then try again.",
        .failedStorage: "The keys on this device cannot be read. Unlock it, free some space, then try again.",
        .failedRemoved: "This device is not enrolled any more. Enroll it anew to approve with it.",
        .failedSuspended: "This device is suspended. Resume it with another device.",
        .failedWaiting: "This device still waits. Approve it with a device that you have.",
        .failedMethodNeeded: "You have a PIN, or use your fingerprint or face, on another device. Do it there.",
        .failedOther: "This cannot be done ({{code}}).",

        // Question.
        .unreachableHeading: "The question cannot be fetched",
        .unverifiedHeading: "This question is not shown",
        .forgedText: """
        It is not signed by the service that this app belongs to. Somebody may want to deceive you. Nothing was \
        approved.
        """,
        .unreadableText: """
        It does not pass our checks, or this app is too old for it. Update the app, then start again where you \
        began. Nothing was approved.
        """,
        .codeOriginHeading: "Did you scan this code yourself?",
        .codeOriginText: "Go on only if you saw the code on a screen of your own, where you started this yourself.",
        .linkOriginHeading: "Did you follow this link yourself?",
        .linkOriginText: "Go on only if you followed the link yourself, on this device, where you started this.",
        .originWarning: "Whoever has sent it to you, or told you to open it, wants you to approve something of theirs.",
        .askHeading: "Do you approve this?",
        .signedWithAnswer: "Signed with your answer",
        .numberLabel: "Number shown where you started this",
        .numberMissing: "Type all {{count}} digits of the number.",
        .approvingHeading: "Approving",
        .decliningHeading: "Declining",
        .reportingHeading: "Reporting",
        .sendingText: "Your answer is on its way.",
        .unsentHeading: "Your answer has not arrived",
        .approvedHeading: "Approved",
        .goBackSoon: "Go back to where you began, within two minutes.",
        .declinedHeading: "Declined",
        .reportedHeading: "Reported",
        .reportedText: "We have noted that somebody else started this.",
        .nothingApproved: "Nothing was approved.",
        .startAgain: "If you still want it, start again where you began.",
        .expiredHeading: "Not approved in time",
        .unknownHeading: "We do not know whether it was approved",
        .unknownText: "No reply to your answer has come. Look where you began before you start again.",
        .answeredHeading: "Answered already",
        .answeredText: "It was answered before, here or on another device.",
        .takenBackHeading: "The question was taken back",
        .wrongNumberHeading: "That was not the number shown",
        .wrongNumberText: """
        Start again where you began, and type the new number. If you began nothing, somebody else did.
        """,
        .failedQuestionHeading: "The question has failed",
        .goneHeading: "There is no such question any more",
        .goneText: "Nothing is left to answer.",
        .methodMissingHeading: "This device cannot approve it",
        .methodMissingText: "It wants a method that is not set up on this device. Set it up, then try again.",
        .deviceCannotHeading: "This device cannot answer",

        // PIN.
        .pinHeading: "Type your PIN",
        .pinLabel: "PIN",
        .pinForChange: "Without it nothing changes.",
        .pinMalformed: "A PIN has 4 to 32 digits.",
        .pinWrong: "This is not your PIN. {{count}} tries are left.",
        .pinWrongOnce: "This is not your PIN. 1 try is left.",
        .pinLockedHeading: "The PIN is locked",
        .pinLockedText: "It was typed wrong too often. To have a PIN again, enroll this device anew.",
        .choosePINHeading: "Choose a PIN",
        .oldPINHeading: "Type your PIN of today",
        .newPINHeading: "Choose a new PIN",
        .repeatPINHeading: "Type the new PIN once more",
        .newPINLabel: "New PIN",
        .setPIN: "Set PIN",
        .savingPINHeading: "Setting the PIN",
        .unsavedPINHeading: "The PIN was not set",
        .pinSetHeading: "The PIN is set",
        .pinChangedHeading: "The PIN is changed",
        .pinUnchangedHeading: "The PIN stays as it was",
        .pinMismatch: "The two were not the same. Choose a PIN, then type it once more.",
        .breaksLength: "It has {{least}} to {{most}} digits.",
        .breaksExactLength: "It has {{count}} digits.",
        .breaksRepeats: "No digit stands in it more than {{count}} times.",
        .breaksRepeatsOnce: "No digit stands in it twice.",
        .breaksSequence: "Its digits do not simply follow one another, as in 12345.",
        .breaksCommon: "Too many people choose this one. Choose another.",
        .authorityHeading: "This takes a new sign-in",
        .authorityText: """
        This device was enrolled too long ago to set its first PIN by itself. Sign in anew, or have a new ticket \
        made.
        """,

        // Fingerprint and face.
        .biometricHeading: "Fingerprint or face did not work",
        .biometricUnavailable: "This device has no fingerprint and no face, or none is set up.",
        .biometricFailed: "It was not recognised. Try again, or choose another way.",
        .biometricCancelled: "You have closed it. Nothing was approved yet.",
        .biometricCancelledForChange: "You have closed it. Nothing was changed yet.",
        .biometricFallback: "You wanted another way, and there is none for this question.",
        .biometricFallbackForChange: "You wanted another way, and there is none for this change.",
        .biometricLockout: "It was not recognised too often. Unlock this device with its passcode first.",
        .biometricChanged: "The fingerprints or faces of this device have changed. Set this up anew in the app.",
        .biometricNotRegistered: "It is not set up in this app.",

        // Custom authenticators.
        .customHeading: "Approve with {{name}}",
        .customLabel: "{{name}}",
        .customSays: "It says: {{payload}}",
        .customAgain: "That was not enough. {{count}} tries are left.",
        .customAgainOnce: "That was not enough. 1 try is left.",
        .customAgainUnlimited: "That was not enough. Try again.",
        .customUnavailable: "It cannot be asked now. Try again in a minute, or choose another way.",
        .customRefusedHeading: "{{name}} refuses",
        .customRefusedText: "It is not set up any more. Choose another way, or set it up anew.",
        .customRegisterHeading: "Set up {{name}}",
        .customRegister: "Set up",
        .customRegisterUnavailable: "It cannot be asked now. Try again in a minute.",
        .customRegisteredHeading: "{{name}} is set up",
        .customRemoveHeading: "Remove {{name}}?",
        .customRemoveText: "You can approve with it no more. You can set it up again at any time.",
        .customRemovedHeading: "{{name}} is removed",
        .customNotThereHeading: "{{name}} is not set up",
        .nothingChangedHeading: "Nothing was changed",

        // Signing in elsewhere.
        .waitingStartText: "Your phone is asked.",
        .waitingNumberHeading: "Type this number on your phone",
        .waitingNumberText: """
        Your phone asks for it. If it shows anything that you do not know, choose “This was not me” there.
        """,
        .waitingCodeHeading: "Type this code on another device",
        .waitingCodeText: "Open {{page}} there, or scan the picture.",
        .signedInHeading: "You are signed in",
        .nobodySignedIn: "Nobody was signed in.",
        .waitingDeclinedHeading: "Declined on your phone",
        .signInFailedHeading: "The sign-in did not work",
        .signInCancelledHeading: "The sign-in was cancelled",

        // Codes.
        .scanHeading: "Scan the code",
        .scanText: "Scan only a code on a screen of your own, where you started something yourself.",
        .scanAgain: "Scan again",
        .noCameraHeading: "This app may not use the camera",
        .noCameraText: "Allow it in the settings of this device, then try again.",
        .openSettings: "Open the settings",
        .ticketHeading: "Enrolling this device",
        .ticketText: "The ticket is good for one device.",
        .codeRefusedHeading: "This code is of no use here",
        .codeUnknown: "It is no code of ours. Scan the one on the page where you began.",
        .codeInvalid: "Nobody waits for it, or it is for somebody else.",
        .codeExpired: "It was shown too long ago. Scan the one that is shown now.",
        .codeTaken: "Another device has scanned it. If that was not yours, start again where you began.",
        .codeNotLinked: "Whoever shows it does not know you yet. Enroll this device there first.",
        .codeOver: "What it stands for has ended. Start again where you began.",
        .scanCancelledHeading: "Cancelled",
        .showCodeHeading: "Scan this code with your phone",
        .showCodeText: "Open the app there and choose “Scan”. Check what it shows, then approve there.",
        .codeRenews: "The code renews itself.",
        .codeGoneHeading: "The code is no longer good",
        .showNewCode: "Show a new code",
        .scannedHeading: "Scanned",
        .scannedText: "Go on in the app.",

        // Further devices.
        .furtherNumberHeading: "Type this number on the device that you have",
        .furtherNumberText: "It asks whether this one may be added.",
        .furtherWaitHeading: "This device still waits",
        .furtherOrWait: "It can approve from {{until}}, unless somebody refuses it.",
        .furtherActiveHeading: "This device is ready",
        .furtherActiveText: "You can approve with it from now on.",
        .furtherRefusedHeading: "This device was refused",
        .furtherRefusedText: "It cannot approve. If that was a slip, enroll it anew.",
        .undoThisHeading: "Undo this device?",
        .undoThisText: "It can approve nothing, now or later. To use it, it must be enrolled anew.",
        .undoingHeading: "Undoing",
        .notUndoneHeading: "This device was not undone",
        .furtherUndoneHeading: "This device was undone",

        // Pending questions.
        .pendingHeading: "Waiting for your answer",
        .pendingRow: "{{client}}: {{message}} ({{moment}})",
        .pendingEmptyHeading: "Nothing is waiting",
        .pendingEmptyText: "Questions appear here by themselves.",

        // Devices.
        .devicesHeading: "Trusted devices",
        .thisDevice: "{{device}} (this one)",
        .noOtherDevices: "There is no other device.",
        .tagWaiting: "Waiting",
        .methodPIN: "PIN",
        .methodBiometric: "Fingerprint or face",
        .methodBoth: "PIN, fingerprint or face",
        .methodNone: "Approves by tapping",
        .enrolledAt: "Enrolled {{moment}}",
        .canApproveFrom: "Can approve from {{until}}",
        .approvesNothing: "Approves nothing until you resume it, with another device",
        .waitingPIN: "A PIN was set, which counts from {{until}}. If that was not you, undo it.",
        .waitingBiometric: """
        A fingerprint or a face was set up, which counts from {{until}}. If that was not you, undo it.
        """,
        .waitingCustom: """
        A further way to approve was set up, which counts from {{until}}. If that was not you, undo it.
        """,
        .undoPIN: "Undo the PIN on {{device}}",
        .undoBiometric: "Undo the fingerprint or face on {{device}}",
        .undoCustom: "Undo the further way on {{device}}",
        .suspendDevice: "Suspend {{device}}",
        .resumeDevice: "Resume {{device}}",
        .undoDevice: "Undo {{device}}",
        .removeDevice: "Remove {{device}}",
        .suspendHeading: "Suspend {{device}}?",
        .suspendText: "It approves nothing until you resume it, with another device.",
        .undoHeading: "Undo {{device}}?",
        .undoText: """
        It can approve nothing, now or later. All your addresses are told. To use it, it must be enrolled anew.
        """,
        .removeHeading: "Remove {{device}}?",
        .removeText: """
        It can approve nothing from now on. All your addresses are told. To use it again, it must be enrolled \
        anew.
        """,
        .removeSuspendedText: """
        It can no longer be resumed. All your addresses are told. To use it again, it must be enrolled anew.
        """,
        .removeThisText: """
        It is this device. You can approve nothing with it from now on. To use it again, you must enroll it \
        anew.
        """,
        .notDoneHeading: "Nothing was changed",
        .deviceGone: "What you wanted to change is not there any more, or cannot be changed now.",
        .saySuspended: "{{device}} was suspended. It approves nothing until you resume it, with another device.",
        .sayResumed: "{{device}} was resumed. It can approve again.",
        .sayRemoved: "{{device}} was removed.",
        .sayMethodUndone: "What waited on {{device}} was undone.",
        .thisOneRemovedHeading: "This device was removed",
        .thisOneRemovedText: "You can approve nothing with it any more.",
    ]
}
