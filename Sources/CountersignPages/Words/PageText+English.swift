extension PageText {
    /// The texts in English.
    static let english = PageText(
        words: [
            // Frame.
            .skipToMain: "Skip to main content",
            .errorTitle: "Error: ",
            .signInTo: "Sign in to",
            .askedBy: "Asked by",
            .signedOutOf: "Signed out of",
            .factAs: "As",
            .namedByClient: "The person whom {{client}} has named",
            .factFrom: "From",
            .factAt: "At",
            .change: "Change",
            .youAreAt: "You are at {{issuer}}",
            .help: "Help",
            .privacy: "Privacy",
            .useAnotherWay: "Use another way",
            .cancelSignIn: "Cancel sign-in",
            .continueButton: "Continue",
            .backToClient: "Back to {{client}}",

            // Identifier.
            .identifierHeading: "Who is signing in?",
            .identifierLabel: "Email address or phone number",
            .identifierProblem: """
            Enter an email address, like name@example.com, or a phone number with its country code.
            """,
            .passkeyRefused: "This passkey does not sign you in here. Choose another way.",
            .passkeyWaits: "This passkey counts from {{until}}. Choose another way until then.",
            .nothingToType: "Nothing to type with the {{client}} app:",
            .signInWithQR: "Sign in with a QR code",
            .orWithPasskey: "Or with the screen lock of this device or a security key:",

            // Ways.
            .chooseHeading: "How do you want to sign in?",
            .confirmHeading: "Confirm it is you",
            .deviceWay: "Approve on your phone",
            .deviceWayHint: "We show a number. You type it into the {{client}} app.",
            .passkeyWay: "Use a passkey",
            .passkeyWayHint: "With the screen lock of this device or a security key.",
            .passkeyNotUsed: "Nothing happened. Try again, or choose another way.",
            .passkeyFailed: "This browser could not use a passkey. Choose another way.",
            .qrWay: "Scan a QR code",
            .qrWayHint: "With the {{client}} app on a phone nearby.",
            .emailWay: "Get a code by email",
            .emailWayHint: "To {{address}}, if we know this address.",
            .textWay: "Get a code by text message",
            .textWayHint: "To {{address}}, if we know this number.",

            // Work.
            .workHeading: "One moment",
            .workText: """
            Many people are signing in right now. We go on once this browser has solved a small puzzle. That slows \
            down programs that start thousands of sign-ins.
            """,
            .workWait: "Wait {{seconds}} seconds, then continue. After that no puzzle is needed.",
            .workEarly: "That was too early. Wait {{seconds}} seconds, then continue.",
            .workFailed: "This browser could not solve the puzzle. Wait {{seconds}} seconds, then continue.",
            .sayWorking: "Solving it takes a few seconds.",
            .saySolved: "Solved. Going on.",

            // Number.
            .numberHeading: "Type this number on your phone",
            .timeLeft: "{{left}} left, until {{until}}",
            .goodUntil: "Good until {{until}}.",
            .looksAgain: "This page looks again every 5 seconds.",
            .phoneNames: """
            Your phone names <strong>{{client}}</strong>, <strong>{{browser}}</strong> and \
            <strong>{{place}}</strong>. If it shows anything else, choose <strong>This was not me</strong> \
            there.
            """,
            .noNotification: "No notification? Open the {{client}} app: the question waits there.",
            .lookAgain: "Look again",
            .lookByItself: "Look by itself",
            .sayMinute: "1 minute left.",
            .sayHalfMinute: "30 seconds left.",
            .sayTenSeconds: "10 seconds left.",
            .sayApproved: "Approved. Going on to {{client}}.",
            .sayDeclined: "Declined.",
            .sayEnded: "Going on.",
            .sayScanned: "Scanned. Go on in the app.",

            // Approved.
            .approvedHeading: "Approved",
            .goingOn: "Going on to {{client}}",
            .goingOnSentence: "Going on to {{client}}.",
            .continueTo: "Continue to {{client}}",
            .goesOnByItself: "The page goes on by itself. If it does not, choose Continue.",
            .signedInHeading: "You are signed in already",
            .signedInText: "This browser is signed in as <strong>{{address}}</strong>.",
            .goOnAs: "Go on as {{address}}",
            .useAnotherAddress: "Use another address",

            // Code.
            .codeHeadingEmail: "Enter the code from your email",
            .codeHeadingText: "Enter the code from your text message",
            .codeTextEmail: """
            If we know <strong>{{address}}</strong>, a message is on its way. Type its six digits here, \
            or open its link in this browser, until {{until}}.
            """,
            .codeTextText: """
            If we know <strong>{{address}}</strong>, a message is on its way. Type its six digits here, until \
            {{until}}.
            """,
            .codeLabel: "Six-digit code",
            .codeMalformed: "Type the six digits of the code.",
            .codeWrong: "This is not the code we sent last. {{tries}} tries are left.",
            .codeWrongOnce: "This is not the code we sent last. 1 try is left.",
            .codeGone: "This code is no longer good. Send a new one.",
            .resendTooEarly: "Wait {{seconds}} seconds, then ask again.",
            .resendTooEarlyOnce: "Wait 1 second, then ask again.",
            .nothingThereEmail: "Nothing there? Look in the spam folder too.",
            .nothingThereText: "Nothing there? A text message can take a minute.",
            .resendWait: "You can ask for a new code in {{left}}.",
            .sayResend: "You can ask for a new code now.",
            .sendNewCode: "Send a new code",

            // Link.
            .linkHereHeading: "Go on to {{client}}?",
            .linkHereText: "The link in your email signs in this browser, which asked for it.",
            .linkSignIn: "Sign in",
            .linkElsewhereHeading: "This is not the browser you began in",
            .linkElsewhereText: """
            The link signs in only the browser that asked for it. Here you can see the code and type it there.
            """,
            .linkFor: "For",
            .linkFrom: "Asked from",
            .linkTypeIn: "Type it in",
            .linkShowCode: "Show the code",
            .linkNotAsked: "You did not ask for it? Close this page. Nobody is signed in without the code.",
            .linkCodeHeading: "Type this code where you began",
            .linkCodeUntil: "Good until {{until}}, for one sign-in",
            .linkCodeWarning: """
            Tell it to nobody. Whoever asks you for it, by telephone or in a message, wants to deceive you.
            """,

            // QR.
            .qrHeading: "Scan this code with your phone",
            .qrImage: "The QR code to scan",
            .qrStepOpen: "Open the {{client}} app and choose <strong>Scan</strong>.",
            .qrStepCheck: "Check that it shows this browser and <strong>{{place}}</strong>.",
            .qrStepApprove: "Approve there.",
            .qrTimeLeft: "{{left}} left. The code renews itself.",
            .showNewCode: "Show a new code",

            // Consent.
            .consentHeading: "Allow {{client}} to use your account?",
            .scopeEmail: "See your email address",
            .scopePhone: "See your phone number",
            .verified: "{{value}}, verified",
            .unverified: "{{value}}, not verified",
            .noneKnown: "As soon as there is one",
            .scopeIdentity: "Know you again",
            .scopeIdentityDetail: "By an identifier without your name and address",
            .scopeStay: "Stay signed in",
            .scopeStayDetail: "Until you end it, {{days}} days at the longest without use",
            .scopeDevice: "Add a device",
            .scopeDeviceDetail: "It confirms sign-ins and payments for you. A device that you have is asked first.",
            .learnsNothingElse: "{{client}} learns nothing else.",
            .endInAccount: #"You can end this at any time in <a href="{{account}}">your account</a>."#,
            .allow: "Allow",
            .doNotAllow: "Do not allow",
            .eitherWay: "Either way you return to {{clientHost}}.",

            // Devices that show a code.
            .deviceCodeHeading: "Type the code that your device shows",
            .deviceCodeText: "Eight letters, like WDJB-MJHT. Capitals and hyphens do not matter.",
            .deviceCodeLabel: "Code",
            .deviceCodeUnknown: """
            No device shows this code now. Look at it once more; codes change after ten minutes.
            """,
            .deviceCodeWarning: """
            Type only a code from a device in front of you. Whoever sends you one, or tells it to you by telephone, wants \
            to sign in as you.
            """,
            .deviceNotAsked: """
            Your trusted devices cannot be asked now, and nobody was signed in. Try again in two minutes.
            """,
            .deviceConfirmHeading: "Did you start this, on a device in front of you?",
            .deviceConfirmText: "A device wants to be signed in to {{client}} as you.",
            .deviceFactCode: "It shows",
            .deviceFactThere: "It is at",
            .deviceFactHere: "You are at",
            .deviceUnknownPlace: "Not known",
            .deviceElsewhere: "The places differ: the device is not where you are.",
            .deviceWhereabouts: "We do not know where the device is.",
            .deviceItems: "With that, {{client}} may:",
            .deviceYes: "Yes, sign it in",
            .deviceNo: "No, refuse it",
            .deviceConfirmWarning: """
            Does the device in front of you show another code, or has somebody sent you this one? Then refuse it. If you \
            have a trusted device, it asks you once more.
            """,
            .deviceDoneHeading: "Go on at your device",
            .deviceDoneText: "It is signed in in a moment. You can close this page.",
            .deviceDeniedHeading: "The device was refused",
            .deviceDeniedText: "Nobody was signed in. You can close this page.",

            // Passkey offer.
            .offerHeading: "Sign in with a passkey next time?",
            .offerText: """
            Then your fingerprint, face or screen lock is enough. A passkey works on <strong>{{issuer}}</strong> only, \
            so a false page cannot use it.
            """,
            .offerTells: "All your addresses are told.",
            .offerWaits: "It counts from {{until}}.",
            .offerOwnDevice: "Create one only on a device of your own.",
            .notNow: "Not now",
            .offerNoMore: "Do not offer this in this browser again",
            .offerMade: "Sign in with your passkey next time",
            .sayPasskeyMade: "Passkey created.",
            .offerMadeText: "Choose a passkey the next time you sign in with this browser.",
            .offerMadeWaits: "It counts from {{until}}. Until then, sign in as you did now.",
            .offerNotMade: "No passkey was created",
            .offerNotMadeText: "It took too long, or we could not use the answer of your browser.",
            .offerAgain: #"You can try again in <a href="{{account}}">your account</a>."#,

            // Ended.
            .endedHeading: "Not approved in time",
            .endedNumber: "Nobody was signed in. The number is no longer good.",
            .endedCode: "Nobody was signed in. The code is no longer good.",
            .declinedHeading: "Declined on your phone",
            .declinedText: "Nobody was signed in. It was declined at {{declinedAt}}.",
            .declinedHint: "If that was a slip, start again: this page shows a new number.",
            .startAgain: "Start again",

            // Errors.
            .noReturnHeading: "We do not know where to send you back",
            .noReturnText: """
            The site you came from named a return address that is not registered with us. To protect you, we \
            stop here. You have done nothing wrong.
            """,
            .noClientHeading: "We do not know the site you came from",
            .noClientText: "It is not registered with us. To protect you, we stop here. You have done nothing wrong.",
            .notUnderstoodHeading: "We cannot answer this site",
            .notUnderstoodText: """
            The site you came from asked in a way that we do not support. You have done nothing wrong.
            """,
            .tooOldHeading: "This page is too old",
            .tooOldText: "Start again at {{client}}.",
            .tooOldTextNobody: "Start again at the site you came from.",
            .otherBrowserHeading: "Open this link where you are signing in",
            .otherBrowserText: """
            It signs in the browser in which you asked for it, and no other. Open the mail there, or choose another \
            way there.
            """,
            .tooManyHeading: "Too many tries",
            .tooManyText: "Wait until {{until}}.",
            .brokenHeading: "Something broke here",
            .brokenText: "Try again in a minute.",
            .whatYouCanDo: "What you can do",
            .goBack: "Go back to the site and start again.",
            .sendLines: "If it happens again, send its support the lines below.",
            .factRequest: "Request",
            .factAtUTC: "At",
            .factWhy: "Why",

            // Signing out.
            .signedOutHeading: "You are signed out",
            .signedOutText: "Of {{client}} and of {{issuer}}, in this browser.",
            .signedOutTextNobody: "Of {{issuer}}, in this browser.",
            .signInAgain: "Sign in again",
            .closeWindows: "On a computer that others use too, close all its windows.",
            .signOutHeading: "Sign out of {{client}}?",
            .signOutHeadingNobody: "Sign out?",
            .signOutText: "You stay signed in to other sites in this browser unless you sign out of all.",
            .signOut: "Sign out",
            .staySignedIn: "Stay signed in",
            .closeToStay: "To stay signed in, close this page.",
            .signOutOfAll: "Sign out of all",

            // Account.
            .signedInAs: "Signed in as",
            .signedInAt: "Signed in at",
            .accountHeading: "Your account",
            .accountAddresses: "Email and phone",
            .accountDevices: "Trusted devices",
            .accountPasskeys: "Passkeys",
            .accountSessions: "Sessions",
            .accountAccess: "Access you gave",
            .accountActivity: "Recent activity",
            .noneYet: "None yet.",
            .nothingYet: "Nothing yet.",
            .end: "End",
            .sinceOnly: "Since {{since}}",

            // What was just done.
            .sayRemoved: "{{device}} was removed.",
            .sayResumed: "{{device}} was resumed. It can approve again.",
            .sayMethodUndone: "What waited on {{device}} was undone.",
            .saySuspended: "{{device}} was suspended. It approves nothing until you resume it, with another device.",
            .sayConfirmed: "{{device}} was confirmed.",
            .sayConfirmedLater: "{{device}} counts everywhere from {{until}}, unless somebody objects.",
            .sayTooWeak: """
            This needs another sign-in: with a trusted device that you have confirmed, by its PIN or fingerprint if \
            it has one, or with a passkey.
            """,
            .sayGone: "What you wanted to change is not there any more, or cannot be changed now.",
            .sayPasskeyCreated: "The passkey {{name}} was created.",
            .sayPasskeyCreatedLater: "The passkey {{name}} was created. It counts from {{until}}.",
            .sayPasskeyRemoved: "The passkey {{name}} was removed.",
            .sayPasskeyRenamed: "The passkey is now called {{name}}.",
            .sayPasskeysFull: "You have 20 passkeys, and more are not possible. To create another, remove one first.",
            .sayPasskeyNotCreated: "No passkey was created: we could not use the answer of your browser. Try again.",
            .sayAddressAdded: "{{address}} was verified. You can sign in with it.",
            .sayAddressRemoved: "{{address}} was removed.",
            .sayAddressTaken: "{{address}} belongs to another account. To use it here, remove it there first.",
            .sayAddressNeeded: "Your last address stays. To remove it, add another one first.",
            .sayAddressesFull: "You have 10 addresses, and more are not possible. To add another, remove one first.",
            .sayAddressTooNew: """
            Nothing was removed: what you have signed in with, or your other address, is too new to take its place. It \
            is possible from {{until}}.
            """,
            .sayUserCodeSet: "The request code was set. Services ask on your devices by themselves only with it.",
            .sayUserCodeRemoved: "The request code was removed.",
            .saySessionEnded: "The session was ended.",
            .sayOthersEnded: "All other sessions were ended.",
            .sayAccessEnded: "The access of {{client}} was ended.",

            // Notices.
            .reportedSignIn: "You reported a sign-in.",
            .reportStopped: "It was stopped. Nobody was signed in.",
            .factReported: "Reported",
            .reportedOn: "{{moment}}, on {{device}}",
            .strangersLocked: """
            Until {{until}} only browsers that you have used here can ask your phone. QR codes and codes by email \
            go on working.
            """,
            .strangersLockedAt: """
            Until {{until}} only browsers that you have used here can ask your phone for {{client}}. QR codes and \
            codes by email go on working.
            """,
            .seeSessions: "See your sessions",
            .waitingPIN: "A PIN was set on {{device}}. It counts from {{until}}. If that was not you, undo it.",
            .waitingBiometric: """
            A fingerprint or a face was set up on {{device}}. It counts from {{until}}. If that was not you, undo it.
            """,
            .waitingCustom: """
            A further way to approve was set up on {{device}}. It counts from {{until}}. If that was not you, undo it.
            """,
            .undoPIN: "Undo the PIN on {{device}}",
            .undoBiometric: "Undo the fingerprint or face on {{device}}",
            .undoCustom: "Undo the further way on {{device}}",
            .waitingNotice: """
            <strong>{{device}} was enrolled {{moment}}.</strong> It can approve from {{until}}. If that was not \
            you, undo it.
            """,
            .waitingNoticePlace: """
            <strong>{{device}} was enrolled {{moment}}, in {{place}}.</strong> It can approve from {{until}}. If \
            that was not you, undo it.
            """,
            .deviceQuestion: "Is {{device}} yours?",
            .enrolledOn: "It was enrolled {{onDay}} with {{client}}.",
            .countsForClient: "Until you say yes, it can approve for {{client}} only.",
            .countsForOperator: """
            Until you say yes, it can approve only for {{client}} and other sites of the same operator.
            """,
            .waitsUntil: "It can approve from {{until}}.",
            .ifUnknown: "If it is not yours, remove it.",
            .ifUnknownUndo: "If it is not yours, undo it.",
            .confirmFirst: "To say yes, sign in first with a device that you have confirmed.",
            .confirmFirstWith: "To say yes, sign in with {{other}} first.",
            .yesKeepIt: "Yes, keep it",
            .deviceCountsFrom: "{{device}} counts everywhere from {{from}}.",
            .ifNotKnown: "If you do not know it, remove it.",
            .ifNotKnownUndo: "If you do not know it, undo it.",
            .passkeyNotice: """
            <strong>The passkey {{name}} was created {{moment}}.</strong> It counts from {{until}}. If you do not \
            know it, remove it.
            """,
            .lookAtPasskey: "Look at {{name}}",

            // Addresses.
            .verifiedOn: "Verified {{day}}",
            .claimedBy: "Named by {{client}}, not verified",
            .notVerified: "Not verified",
            .verify: "Verify",
            .verifyAddress: "Verify {{address}}",
            .addAddress: "Add an address or number",

            // Adding and removing an address.
            .addAddressText: """
            We send a code there. Once you have typed it, you can sign in this way too, and your other addresses are \
            told.
            """,
            .emailLabel: "Email address",
            .phoneLabel: "Phone number",
            .emailProblem: "Enter an email address, like name@example.com.",
            .phoneProblem: "Enter a phone number with its country code.",
            .noCodesThere: "We send no codes to this address or number.",
            .verifiedAlready: "It is verified already.",
            .addressCodeText: """
            We have sent a message to <strong>{{address}}</strong>. Type its six digits here, until {{until}}.
            """,
            .factVerified: "Verified",
            .removeAddressHeading: "Remove {{mailbox}}{{domain}}?",
            .addressStays: "{{mailbox}}{{domain}} stays for now",
            .removeAddressText: """
            Once it is removed, nobody signs in with it any more, even where a site names it as yours. All your \
            addresses are told, this one too.
            """,
            .removeAddress: "Remove {{address}}",
            .onlyAddress: "This is your only address. To change it, add another one first, then remove this one.",
            .removableFrom: """
            What you have signed in with, or your other address, is too new to take its place. You can remove this one \
            from {{from}}.
            """,

            // Devices.
            .tagWaiting: "Waiting",
            .tagSuspended: "Suspended",
            .tagNotConfirmed: "Not confirmed",
            .methodPIN: "PIN",
            .methodBiometric: "Fingerprint or face",
            .methodBoth: "PIN, fingerprint or face",
            .methodNone: "Approves by tapping",
            .lastApproval: "Last approval {{lastUsed}}",
            .enrolledNote: "Enrolled {{day}} with {{client}}",
            .canApproveFrom: "Can approve from {{until}}",
            .resume: "Resume",
            .resumeDevice: "Resume {{device}}",
            .approvesNothing: "Approves nothing until you resume it, with another device",
            .countsEverywhereFrom: "Counts everywhere from {{from}}",
            .remove: "Remove",
            .removeDevice: "Remove {{device}}",
            .undo: "Undo",
            .undoDevice: "Undo {{device}}",
            .noDevices: "None yet. {{client}} shows you how to enroll one.",
            .noDevicesNobody: "None yet. The app of a site where you sign in shows you how to enroll one.",

            // Request code.
            .userCode: "Request code",
            .userCodeIsSet: "Set. Services ask on your devices by themselves only with this code",
            .userCodeIsNotSet: "Not set",
            .changeUserCode: "Change request code",
            .userCodeText: """
            Some services ask on your devices by themselves: when you call them, or at a counter. With a request code they \
            can do so only after you have told it to them. You sign in on web pages and in apps without it.
            """,
            .userCodeHint: """
            Think of a code that you use nowhere else. A service that asks for it gets to know it. It says only that you \
            want to be asked: nobody can sign in or approve with it.
            """,
            .userCodeLabel: "New code, of 6 to 32 letters and digits",
            .userCodeProblem: """
            Type 6 to 32 letters from A to Z and digits, not one of them again and again, and not simply in a row.
            """,
            .saveUserCode: "Save code",
            .removeUserCodeText: """
            Without a request code, services that need one no longer ask you. All others can ask again.
            """,
            .removeUserCode: "Remove code",

            // Passkeys.
            .countsFrom: "Counts from {{until}}",
            .synced: "Synced",
            .onOneDevice: "On one device",
            .lastUse: "Last used {{lastUsed}}",
            .createdOn: "Created {{day}}",
            .operatorsSitesOnly: "Counts only on the operator's own sites",
            .changePasskey: "Change {{name}}",
            .noPasskeys: """
            None yet. A passkey signs you in here with your fingerprint, face or screen lock, and on no false page.
            """,
            .createPasskey: "Create a passkey",
            .passkeyText: """
            A passkey is kept on this device or in your password manager, and opened with the screen lock. A false \
            page cannot use it.
            """,
            .passkeyImpossible: "This browser cannot create a passkey: it runs no scripts, or it is too old.",
            .passkeyNotMade: "Nothing happened. Try again.",
            .passkeyMakingFailed: "This browser could not create a passkey. Try another browser or device.",
            .passkeyExists: "This device has a passkey for this account already.",
            .backToAccount: "Back to your account",
            .factCreated: "Created",
            .factCountsFrom: "Counts from",
            .factKept: "Kept",
            .keptSynced: "In your password manager, on all its devices",
            .keptOnOne: "On one device only",
            .passkeyName: "Name",
            .passkeyNameProblem: "Type a name of 1 to 60 characters.",
            .rename: "Rename",
            .endsWithPasskey: "Your session in this browser ends, too.",
            .removePasskeyText: """
            Once the passkey is removed, it signs nobody in here. It stays in your browser or password manager \
            until you delete it there.
            """,
            .removePasskey: "Remove {{name}}",

            // Sessions.
            .tagThisOne: "This one",
            .tagDeviceCode: "By device code",
            .unknownBrowser: "Unknown browser",
            .sinceWithDevice: "Since {{since}}, with {{device}}",
            .sinceByEmail: "Since {{since}}, by email",
            .sinceByText: "Since {{since}}, by text message",
            .sinceWithPasskey: "Since {{since}}, with the passkey {{name}}",
            .sinceWithLostPasskey: "Since {{since}}, with a passkey",
            .sinceForClient: "Since {{since}}, for {{client}}",
            .lastSeen: "Last seen {{lastSeen}}",
            .endSession: "End the session in {{browser}}",
            .endUnknownSession: "End the session in an unknown browser",
            .endAllOthers: "End all others",

            // Access.
            .accessIdentity: "know you again",
            .accessEmail: "email address",
            .accessPhone: "phone number",
            .accessStay: "stay signed in",
            .accessDevice: "add a device",
            .endAccess: "End the access of {{client}}",
            .noAccess: "You gave none.",

            // Activity.
            .didSignIn: "<strong>Signed in</strong> to {{client}}",
            .didApprove: "<strong>Approved</strong>: request of {{client}}",
            .didDecline: "<strong>Declined</strong>: request of {{client}}",
            .didReport: "<strong>Reported</strong> by you: request of {{client}}",
            .didEnroll: "<strong>{{device}}</strong> enrolled",
            .didRemove: "<strong>{{device}}</strong> removed",
            .didSuspend: "<strong>{{device}}</strong> suspended",
            .didResume: "<strong>{{device}}</strong> resumed",
            .didConfirm: "<strong>{{device}}</strong> confirmed",
            .didBeginConfirming: "<strong>{{device}}</strong>: confirmation begun",
            .didCreatePasskey: "<strong>Passkey created</strong>: {{name}}",
            .didRemovePasskey: "<strong>Passkey removed</strong>: {{name}}",
            .didChangeMethod: "<strong>PIN or fingerprint</strong> changed on {{device}}",
            .didVerifyEmail: "<strong>Email address</strong> verified",
            .didVerifyPhone: "<strong>Phone number</strong> verified",
            .didRemoveEmail: "<strong>Email address</strong> removed",
            .didRemovePhone: "<strong>Phone number</strong> removed",
            .didGiveAccess: "<strong>Access given</strong> to {{client}}",
            .didEndAccess: "<strong>Access ended</strong>: {{client}}",
            .didEndSession: "<strong>Session</strong> ended",
            .didSetUserCode: "<strong>Request code</strong> set",
            .didRemoveUserCode: "<strong>Request code</strong> removed",
            .onDevice: "On {{device}}",
            .earlierActivity: "Earlier activity",

            // Removing a device.
            .removeHeading: "Remove {{device}}?",
            .undoHeading: "Undo {{device}}?",
            .factEnrolled: "Enrolled",
            .factLastUsed: "Last used",
            .factEnds: "Ends",
            .enrolledFact: "{{day}}, with {{client}}",
            .thisSession: "Your session in this browser",
            .removeText: """
            It can approve nothing from now on. All your addresses are told. To use it again, it must be \
            enrolled anew.
            """,
            .undoText: """
            It can approve nothing, now or later. All your addresses are told. To use it, it must be enrolled \
            anew.
            """,
            .removeSuspendedText: """
            It can no longer be resumed. All your addresses are told. To use it again, it must be enrolled anew.
            """,
            .onlyDevice: "It is the only device that can approve today.",
            .nextByPasskey: "Until {{other}} can, you sign in with a passkey.",
            .nextByEmail: "Until {{other}} can, you sign in by email.",
            .nextByText: "Until {{other}} can, you sign in by text message.",
            .nextByNothing: "Until {{other}} can, you cannot sign in here.",
            .restByPasskey: "Until you enroll another, you sign in with a passkey.",
            .restByEmail: "Until you enroll another, you sign in by email.",
            .restByText: "Until you enroll another, you sign in by text message.",
            .restByNothing: "Until you enroll another, you cannot sign in here.",
            .keepIt: "Keep it",
            .suspendInstead: "Not sure where it is? Suspend it instead",
        ],
        months: [
            "January", "February", "March", "April", "May", "June",
            "July", "August", "September", "October", "November", "December",
        ],
        days: (yesterday: "yesterday", today: "today", tomorrow: "tomorrow", on: "on "))
}
