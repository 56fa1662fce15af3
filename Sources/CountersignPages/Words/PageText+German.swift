extension PageText {
    /// The texts in German.
    static let german = PageText(
        words: [
            // Frame.
            .skipToMain: "Zum Hauptinhalt",
            .errorTitle: "Fehler: ",
            .signInTo: "Anmelden bei",
            .askedBy: "Gefragt von",
            .signedOutOf: "Abgemeldet von",
            .factAs: "Als",
            .namedByClient: "Die Person, die {{client}} genannt hat",
            .factFrom: "Von",
            .factAt: "Um",
            .change: "Ändern",
            .youAreAt: "Sie sind bei {{issuer}}",
            .help: "Hilfe",
            .privacy: "Datenschutz",
            .useAnotherWay: "Anderen Weg wählen",
            .cancelSignIn: "Anmeldung abbrechen",
            .continueButton: "Weiter",
            .backToClient: "Zurück zu {{client}}",

            // Identifier.
            .identifierHeading: "Wer meldet sich an?",
            .identifierLabel: "E-Mail-Adresse oder Telefonnummer",
            .identifierProblem: """
            Geben Sie eine E-Mail-Adresse ein, etwa name@example.com, oder eine Telefonnummer mit \
            Landesvorwahl.
            """,
            .passkeyRefused: "Dieser Passkey meldet Sie hier nicht an. Wählen Sie einen anderen Weg.",
            .passkeyWaits: "Dieser Passkey gilt ab {{until}}. Wählen Sie bis dahin einen anderen Weg.",
            .nothingToType: "Nichts einzugeben mit der App von {{client}}:",
            .signInWithQR: "Mit QR-Code anmelden",
            .orWithPasskey: """
            Oder mit der Bildschirmsperre dieses Geräts oder einem Sicherheitsschlüssel:
            """,

            // Ways.
            .chooseHeading: "Wie möchten Sie sich anmelden?",
            .confirmHeading: "Bestätigen Sie, dass Sie es sind",
            .deviceWay: "Auf Ihrem Telefon zustimmen",
            .deviceWayHint: "Wir zeigen eine Zahl. Sie geben sie in die App von {{client}} ein.",
            .passkeyWay: "Passkey verwenden",
            .passkeyWayHint: "Mit der Bildschirmsperre dieses Geräts oder einem Sicherheitsschlüssel.",
            .passkeyNotUsed: """
            Es ist nichts geschehen. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.
            """,
            .passkeyFailed: "Dieser Browser konnte keinen Passkey verwenden. Wählen Sie einen anderen Weg.",
            .qrWay: "QR-Code scannen",
            .qrWayHint: "Mit der App von {{client}} auf einem Telefon in der Nähe.",
            .emailWay: "Code per E-Mail erhalten",
            .emailWayHint: "An {{address}}, wenn wir diese Adresse kennen.",
            .textWay: "Code per SMS erhalten",
            .textWayHint: "An {{address}}, wenn wir diese Nummer kennen.",

            // Work.
            .workHeading: "Einen Moment",
            .workText: """
            Gerade melden sich viele Menschen an. Es geht weiter, sobald dieser Browser eine kleine Aufgabe gelöst \
            hat. Das bremst Programme, die Tausende Anmeldungen beginnen.
            """,
            .workWait: "Warten Sie {{seconds}} Sekunden, dann fahren Sie fort. Danach ist keine Aufgabe mehr zu lösen.",
            .workEarly: "Das war zu früh. Warten Sie {{seconds}} Sekunden, dann fahren Sie fort.",
            .workFailed:
                "Dieser Browser konnte die Aufgabe nicht lösen. Warten Sie {{seconds}} Sekunden, dann fahren Sie fort.",
            .sayWorking: "Sie zu lösen dauert ein paar Sekunden.",
            .saySolved: "Gelöst. Es geht weiter.",

            // Number.
            .numberHeading: "Geben Sie diese Zahl auf Ihrem Telefon ein",
            .timeLeft: "{{left}} übrig, bis {{until}}",
            .goodUntil: "Gültig bis {{until}}.",
            .looksAgain: "Diese Seite sieht alle 5 Sekunden wieder nach.",
            .phoneNames: """
            Ihr Telefon nennt <strong>{{client}}</strong>, <strong>{{browser}}</strong> und \
            <strong>{{place}}</strong>. Zeigt es etwas anderes, wählen Sie dort <strong>Das war ich \
            nicht</strong>.
            """,
            .noNotification: "Keine Benachrichtigung? Öffnen Sie die App von {{client}}: Dort wartet die Frage.",
            .lookAgain: "Nachsehen",
            .lookByItself: "Von selbst nachsehen",
            .sayMinute: "Noch 1 Minute.",
            .sayHalfMinute: "Noch 30 Sekunden.",
            .sayTenSeconds: "Noch 10 Sekunden.",
            .sayApproved: "Zugestimmt. Es geht weiter zu {{client}}.",
            .sayDeclined: "Abgelehnt.",
            .sayEnded: "Es geht weiter.",
            .sayScanned: "Gescannt. Weiter in der App.",

            // Approved.
            .approvedHeading: "Zugestimmt",
            .goingOn: "Es geht weiter zu {{client}}",
            .goingOnSentence: "Es geht weiter zu {{client}}.",
            .continueTo: "Weiter zu {{client}}",
            .goesOnByItself: "Die Seite geht von selbst weiter. Tut sie es nicht, wählen Sie Weiter.",
            .signedInHeading: "Sie sind schon angemeldet",
            .signedInText: "In diesem Browser ist <strong>{{address}}</strong> angemeldet.",
            .goOnAs: "Weiter als {{address}}",
            .useAnotherAddress: "Andere Adresse verwenden",

            // Code.
            .codeHeadingEmail: "Geben Sie den Code aus Ihrer E-Mail ein",
            .codeHeadingText: "Geben Sie den Code aus Ihrer SMS ein",
            .codeTextEmail: """
            Wenn wir <strong>{{address}}</strong> kennen, ist eine Nachricht unterwegs. Geben Sie ihre sechs \
            Ziffern hier ein, oder öffnen Sie ihren Link in diesem Browser, bis {{until}}.
            """,
            .codeTextText: """
            Wenn wir <strong>{{address}}</strong> kennen, ist eine Nachricht unterwegs. Geben Sie ihre sechs \
            Ziffern hier ein, bis {{until}}.
            """,
            .codeLabel: "Sechsstelliger Code",
            .codeMalformed: "Geben Sie die sechs Ziffern des Codes ein.",
            .codeWrong: "Das ist nicht der Code, den wir zuletzt gesendet haben. Sie haben noch {{tries}} Versuche.",
            .codeWrongOnce: "Das ist nicht der Code, den wir zuletzt gesendet haben. Sie haben noch 1 Versuch.",
            .codeGone: "Dieser Code gilt nicht mehr. Senden Sie einen neuen.",
            .resendTooEarly: "Warten Sie {{seconds}} Sekunden, dann fordern Sie noch einmal an.",
            .resendTooEarlyOnce: "Warten Sie 1 Sekunde, dann fordern Sie noch einmal an.",
            .nothingThereEmail: "Nichts da? Sehen Sie auch im Spam-Ordner nach.",
            .nothingThereText: "Nichts da? Eine SMS kann eine Minute brauchen.",
            .resendWait: "Sie können in {{left}} einen neuen Code anfordern.",
            .sayResend: "Sie können jetzt einen neuen Code anfordern.",
            .sendNewCode: "Neuen Code senden",

            // Link.
            .linkHereHeading: "Weiter zu {{client}}?",
            .linkHereText: "Der Link in Ihrer E-Mail meldet diesen Browser an, der ihn angefordert hat.",
            .linkSignIn: "Anmelden",
            .linkElsewhereHeading: "Hier haben Sie nicht begonnen",
            .linkElsewhereText: """
            Der Link meldet nur den Browser an, der ihn angefordert hat. Hier können Sie den Code sehen und dort eingeben.
            """,
            .linkFor: "Für",
            .linkFrom: "Angefragt von",
            .linkTypeIn: "Eingeben in",
            .linkShowCode: "Code zeigen",
            .linkNotAsked: """
            Sie haben ihn nicht angefordert? Schließen Sie diese Seite. Ohne den Code wird niemand angemeldet.
            """,
            .linkCodeHeading: "Geben Sie diesen Code dort ein, wo Sie begonnen haben",
            .linkCodeUntil: "Gültig bis {{until}}, für eine Anmeldung",
            .linkCodeWarning: """
            Sagen Sie ihn niemandem. Wer am Telefon oder in einer Nachricht danach fragt, will Sie täuschen.
            """,

            // QR.
            .qrHeading: "Scannen Sie diesen Code mit Ihrem Telefon",
            .qrImage: "Der QR-Code zum Scannen",
            .qrStepOpen: "Öffnen Sie die App von {{client}} und wählen Sie <strong>Scannen</strong>.",
            .qrStepCheck: "Prüfen Sie, dass sie diesen Browser und <strong>{{place}}</strong> nennt.",
            .qrStepApprove: "Stimmen Sie dort zu.",
            .qrTimeLeft: "{{left}} übrig. Der Code erneuert sich von selbst.",
            .showNewCode: "Neuen Code zeigen",

            // Consent.
            .consentHeading: "{{client}} erlauben, Ihr Konto zu nutzen?",
            .scopeEmail: "Ihre E-Mail-Adresse sehen",
            .scopePhone: "Ihre Telefonnummer sehen",
            .verified: "{{value}}, bestätigt",
            .unverified: "{{value}}, nicht bestätigt",
            .noneKnown: "Sobald es eine gibt",
            .scopeIdentity: "Sie wiedererkennen",
            .scopeIdentityDetail: "An einer Kennung ohne Ihren Namen und Ihre Adresse",
            .scopeStay: "Angemeldet bleiben",
            .scopeStayDetail: "Bis Sie es beenden, ohne Nutzung höchstens {{days}} Tage",
            .scopeDevice: "Ein Gerät hinzufügen",
            .scopeDeviceDetail: "Es bestätigt Anmeldungen und Zahlungen für Sie. Ein vorhandenes wird vorher gefragt.",
            .learnsNothingElse: "{{client}} erfährt sonst nichts.",
            .endInAccount: #"Sie können das jederzeit in <a href="{{account}}">Ihrem Konto</a> beenden."#,
            .allow: "Erlauben",
            .doNotAllow: "Nicht erlauben",
            .eitherWay: "In beiden Fällen kehren Sie zu {{clientHost}} zurück.",

            // Devices that show a code.
            .deviceCodeHeading: "Geben Sie den Code ein, den Ihr Gerät zeigt",
            .deviceCodeText: "Acht Buchstaben, etwa WDJB-MJHT. Großschreibung und Striche sind gleichgültig.",
            .deviceCodeLabel: "Code",
            .deviceCodeUnknown: """
            Diesen Code zeigt jetzt kein Gerät. Sehen Sie noch einmal nach; Codes wechseln nach zehn Minuten.
            """,
            .deviceCodeWarning: """
            Geben Sie nur den Code eines Geräts ein, das vor Ihnen steht. Wer Ihnen einen schickt oder am Telefon nennt, \
            will sich als Sie anmelden.
            """,
            .deviceNotAsked: """
            Ihre vertrauten Geräte können jetzt nicht gefragt werden, und niemand wurde angemeldet. Versuchen Sie es in \
            zwei Minuten noch einmal.
            """,
            .deviceConfirmHeading: "Haben Sie das begonnen, auf einem Gerät vor Ihnen?",
            .deviceConfirmText: "Ein Gerät möchte als Sie bei {{client}} angemeldet werden.",
            .deviceFactCode: "Es zeigt",
            .deviceFactThere: "Es ist bei",
            .deviceFactHere: "Sie sind bei",
            .deviceUnknownPlace: "Nicht bekannt",
            .deviceElsewhere: "Die Orte sind verschieden: Das Gerät ist nicht dort, wo Sie sind.",
            .deviceWhereabouts: "Wir wissen nicht, wo das Gerät ist.",
            .deviceItems: "Damit darf {{client}}:",
            .deviceYes: "Ja, anmelden",
            .deviceNo: "Nein, ablehnen",
            .deviceConfirmWarning: """
            Zeigt das Gerät vor Ihnen einen anderen Code, oder hat Ihnen jemand diesen geschickt? Dann lehnen Sie ab. Wenn \
            Sie ein vertrautes Gerät haben, fragt es Sie noch einmal.
            """,
            .deviceDoneHeading: "Weiter auf Ihrem Gerät",
            .deviceDoneText: "Es ist gleich angemeldet. Sie können diese Seite schließen.",
            .deviceDeniedHeading: "Das Gerät wurde abgelehnt",
            .deviceDeniedText: "Niemand wurde angemeldet. Sie können diese Seite schließen.",

            // Passkey offer.
            .offerHeading: "Nächstes Mal mit einem Passkey anmelden?",
            .offerText: """
            Dann genügen Fingerabdruck, Gesicht oder Bildschirmsperre. Ein Passkey gilt nur auf \
            <strong>{{issuer}}</strong>, sodass eine falsche Seite ihn nicht verwenden kann.
            """,
            .offerTells: "Alle Ihre Adressen werden benachrichtigt.",
            .offerWaits: "Er gilt ab {{until}}.",
            .offerOwnDevice: "Erstellen Sie einen nur auf einem eigenen Gerät.",
            .notNow: "Jetzt nicht",
            .offerNoMore: "In diesem Browser nicht mehr anbieten",
            .offerMade: "Melden Sie sich nächstes Mal mit Ihrem Passkey an",
            .sayPasskeyMade: "Passkey erstellt.",
            .offerMadeText: "Wählen Sie einen Passkey, wenn Sie sich das nächste Mal in diesem Browser anmelden.",
            .offerMadeWaits: "Er gilt ab {{until}}. Melden Sie sich bis dahin so an wie eben.",
            .offerNotMade: "Es wurde kein Passkey erstellt",
            .offerNotMadeText:
                "Es hat zu lange gedauert, oder wir konnten die Antwort Ihres Browsers nicht verwenden.",
            .offerAgain: #"Sie können es in <a href="{{account}}">Ihrem Konto</a> noch einmal versuchen."#,

            // Ended.
            .endedHeading: "Nicht rechtzeitig zugestimmt",
            .endedNumber: "Niemand wurde angemeldet. Die Zahl gilt nicht mehr.",
            .endedCode: "Niemand wurde angemeldet. Der Code gilt nicht mehr.",
            .declinedHeading: "Auf Ihrem Telefon abgelehnt",
            .declinedText: "Niemand wurde angemeldet. Abgelehnt wurde um {{declinedAt}}.",
            .declinedHint: "War das ein Versehen, beginnen Sie neu: Diese Seite zeigt eine neue Zahl.",
            .startAgain: "Neu beginnen",

            // Errors.
            .noReturnHeading: "Wir wissen nicht, wohin wir Sie zurückschicken sollen",
            .noReturnText: """
            Die Website, von der Sie kommen, hat eine Rückkehradresse genannt, die bei uns nicht eingetragen \
            ist. Um Sie zu schützen, halten wir hier an. Sie haben nichts falsch gemacht.
            """,
            .noClientHeading: "Wir kennen die Website nicht, von der Sie kommen",
            .noClientText: """
            Sie ist bei uns nicht eingetragen. Um Sie zu schützen, halten wir hier an. Sie haben nichts \
            falsch gemacht.
            """,
            .notUnderstoodHeading: "Wir können dieser Website nicht antworten",
            .notUnderstoodText: """
            Die Website, von der Sie kommen, hat auf eine Weise gefragt, die wir nicht unterstützen. Sie \
            haben nichts falsch gemacht.
            """,
            .tooOldHeading: "Diese Seite ist zu alt",
            .tooOldText: "Beginnen Sie bei {{client}} neu.",
            .tooOldTextNobody: "Beginnen Sie bei der Website neu, von der Sie kommen.",
            .otherBrowserHeading: "Öffnen Sie diesen Link dort, wo Sie sich anmelden",
            .otherBrowserText: """
            Er meldet nur den Browser an, in dem Sie ihn angefordert haben. Öffnen Sie die E-Mail dort, oder wählen Sie \
            dort einen anderen Weg.
            """,
            .tooManyHeading: "Zu viele Versuche",
            .tooManyText: "Warten Sie bis {{until}}.",
            .brokenHeading: "Hier ist etwas kaputtgegangen",
            .brokenText: "Versuchen Sie es in einer Minute noch einmal.",
            .whatYouCanDo: "Was Sie tun können",
            .goBack: "Gehen Sie zur Website zurück und beginnen Sie neu.",
            .sendLines: "Geschieht es wieder, senden Sie deren Support die Zeilen unten.",
            .factRequest: "Anfrage",
            .factAtUTC: "Um",
            .factWhy: "Grund",

            // Signing out.
            .signedOutHeading: "Sie sind abgemeldet",
            .signedOutText: "Von {{client}} und von {{issuer}}, in diesem Browser.",
            .signedOutTextNobody: "Von {{issuer}}, in diesem Browser.",
            .signInAgain: "Neu anmelden",
            .closeWindows: "Schließen Sie an einem Computer, den auch andere nutzen, alle Fenster.",
            .signOutHeading: "Von {{client}} abmelden?",
            .signOutHeadingNobody: "Abmelden?",
            .signOutText: """
            Bei anderen Websites bleiben Sie in diesem Browser angemeldet, außer Sie melden sich überall ab.
            """,
            .signOut: "Abmelden",
            .staySignedIn: "Angemeldet bleiben",
            .closeToStay: "Um angemeldet zu bleiben, schließen Sie diese Seite.",
            .signOutOfAll: "Überall abmelden",

            // Account.
            .signedInAs: "Angemeldet als",
            .signedInAt: "Angemeldet bei",
            .accountHeading: "Ihr Konto",
            .accountAddresses: "E-Mail und Telefon",
            .accountDevices: "Vertraute Geräte",
            .accountPasskeys: "Passkeys",
            .accountSessions: "Sitzungen",
            .accountAccess: "Erteilte Zugriffe",
            .accountActivity: "Letzte Aktivität",
            .noneYet: "Noch nichts.",
            .nothingYet: "Noch nichts.",
            .end: "Beenden",
            .sinceOnly: "Seit {{since}}",

            // What was just done.
            .sayRemoved: "{{device}} wurde entfernt.",
            .sayResumed: "{{device}} wurde entsperrt. Es kann wieder zustimmen.",
            .sayMethodUndone: "Was auf {{device}} noch wartete, wurde zurückgenommen.",
            .saySuspended: """
            {{device}} wurde gesperrt. Es kann nicht zustimmen, bis Sie es mit einem anderen Gerät entsperren.
            """,
            .sayConfirmed: "{{device}} wurde bestätigt.",
            .sayConfirmedLater: "{{device}} gilt überall ab {{until}}, wenn niemand widerspricht.",
            .sayTooWeak: """
            Dafür müssen Sie sich anders anmelden: mit einem vertrauten Gerät, das Sie bestätigt haben, mit PIN \
            oder Fingerabdruck, falls eingerichtet, oder mit einem Passkey.
            """,
            .sayGone: "Was Sie ändern wollten, gibt es nicht mehr, oder es lässt sich jetzt nicht ändern.",
            .sayPasskeyCreated: "Der Passkey {{name}} wurde erstellt.",
            .sayPasskeyCreatedLater: "Der Passkey {{name}} wurde erstellt. Er gilt ab {{until}}.",
            .sayPasskeyRemoved: "Der Passkey {{name}} wurde entfernt.",
            .sayPasskeyRenamed: "Der Passkey heißt jetzt {{name}}.",
            .sayPasskeysFull: """
            Sie haben 20 Passkeys, und mehr sind nicht möglich. Um einen anderen zu erstellen, entfernen Sie zuerst \
            einen.
            """,
            .sayPasskeyNotCreated: """
            Es wurde kein Passkey erstellt: Wir konnten die Antwort Ihres Browsers nicht verwenden. Versuchen Sie es \
            noch einmal.
            """,
            .sayAddressAdded: "{{address}} wurde bestätigt. Sie können sich damit anmelden.",
            .sayAddressRemoved: "{{address}} wurde entfernt.",
            .sayAddressTaken: """
            {{address}} gehört zu einem anderen Konto. Wollen Sie sie hier verwenden, entfernen Sie sie zuerst dort.
            """,
            .sayAddressNeeded: "Ihre letzte Adresse bleibt. Um sie zu entfernen, fügen Sie zuerst eine andere hinzu.",
            .sayAddressesFull:
                "Sie haben 10 Adressen, mehr sind nicht möglich. Um eine weitere hinzuzufügen, entfernen Sie zuerst eine.",
            .sayAddressTooNew: """
            Es wurde nichts entfernt: Womit Sie sich angemeldet haben, oder Ihre andere Adresse, ist zu neu, um sie zu \
            ersetzen. Möglich ist es ab {{until}}.
            """,
            .sayUserCodeSet: """
            Der Anfragecode ist festgelegt. Dienste fragen von sich aus nur noch mit ihm auf Ihren Geräten an.
            """,
            .sayUserCodeRemoved: "Der Anfragecode wurde entfernt.",
            .saySessionEnded: "Die Sitzung wurde beendet.",
            .sayOthersEnded: "Alle anderen Sitzungen wurden beendet.",
            .sayAccessEnded: "Der Zugriff von {{client}} wurde beendet.",

            // Notices.
            .reportedSignIn: "Sie haben eine Anmeldung gemeldet.",
            .reportStopped: "Sie wurde gestoppt. Niemand wurde angemeldet.",
            .factReported: "Gemeldet",
            .reportedOn: "{{moment}}, auf {{device}}",
            .strangersLocked: """
            Bis {{until}}, können nur Browser, die Sie hier schon benutzt haben, auf Ihrem Telefon anfragen. \
            QR-Codes und Codes per E-Mail funktionieren weiter.
            """,
            .strangersLockedAt: """
            Bis {{until}}, können für {{client}} nur Browser, die Sie hier schon benutzt haben, auf Ihrem Telefon \
            anfragen. QR-Codes und Codes per E-Mail funktionieren weiter.
            """,
            .seeSessions: "Sitzungen ansehen",
            .waitingPIN: """
            Auf {{device}} wurde eine PIN gesetzt. Sie gilt ab {{until}}. Waren Sie das nicht, nehmen Sie es zurück.
            """,
            .waitingBiometric: """
            Auf {{device}} wurde ein Fingerabdruck oder Gesicht eingerichtet. Es gilt ab {{until}}. Waren Sie das nicht, \
            nehmen Sie es zurück.
            """,
            .waitingCustom: """
            Auf {{device}} wurde ein weiterer Weg zum Zustimmen eingerichtet. Er gilt ab {{until}}. Waren Sie das nicht, \
            nehmen Sie es zurück.
            """,
            .undoPIN: "PIN auf {{device}} zurücknehmen",
            .undoBiometric: "Fingerabdruck oder Gesicht auf {{device}} zurücknehmen",
            .undoCustom: "Weiteren Weg auf {{device}} zurücknehmen",
            .waitingNotice: """
            <strong>{{device}} wurde {{moment}}, eingerichtet.</strong> Es kann ab {{until}}, zustimmen. Waren \
            Sie das nicht, nehmen Sie die Einrichtung zurück.
            """,
            .waitingNoticePlace: """
            <strong>{{device}} wurde {{moment}}, in {{place}} eingerichtet.</strong> Es kann ab {{until}}, \
            zustimmen. Waren Sie das nicht, nehmen Sie die Einrichtung zurück.
            """,
            .deviceQuestion: "Gehört {{device}} Ihnen?",
            .enrolledOn: "Es wurde {{onDay}} bei {{client}} eingerichtet.",
            .countsForClient: "Bis Sie Ja sagen, kann es nur bei {{client}} zustimmen.",
            .countsForOperator: """
            Bis Sie Ja sagen, kann es nur bei {{client}} und anderen Websites desselben Betreibers zustimmen.
            """,
            .waitsUntil: "Es kann ab {{until}}, zustimmen.",
            .ifUnknown: "Gehört es Ihnen nicht, entfernen Sie es.",
            .ifUnknownUndo: "Gehört es Ihnen nicht, nehmen Sie die Einrichtung zurück.",
            .confirmFirst: "Um Ja zu sagen, melden Sie sich zuerst mit einem Gerät an, das Sie bestätigt haben.",
            .confirmFirstWith: "Um Ja zu sagen, melden Sie sich zuerst mit {{other}} an.",
            .yesKeepIt: "Ja, behalten",
            .deviceCountsFrom: "{{device}} gilt überall ab {{from}}.",
            .ifNotKnown: "Kennen Sie es nicht, entfernen Sie es.",
            .ifNotKnownUndo: "Kennen Sie es nicht, nehmen Sie die Einrichtung zurück.",
            .passkeyNotice: """
            <strong>Der Passkey {{name}} wurde {{moment}}, erstellt.</strong> Er gilt ab {{until}}. Kennen Sie ihn \
            nicht, entfernen Sie ihn.
            """,
            .lookAtPasskey: "{{name}} ansehen",

            // Addresses.
            .verifiedOn: "Bestätigt: {{day}}",
            .claimedBy: "Von {{client}} genannt, nicht bestätigt",
            .notVerified: "Nicht bestätigt",
            .verify: "Bestätigen",
            .verifyAddress: "{{address}} bestätigen",
            .addAddress: "Adresse oder Nummer hinzufügen",

            // Adding and removing an address.
            .addAddressText: """
            Wir senden einen Code dorthin. Sobald Sie ihn eingegeben haben, können Sie sich auch auf diesem Weg \
            anmelden, und Ihre anderen Adressen werden benachrichtigt.
            """,
            .emailLabel: "E-Mail-Adresse",
            .phoneLabel: "Telefonnummer",
            .emailProblem: "Geben Sie eine E-Mail-Adresse ein, etwa name@example.com.",
            .phoneProblem: "Geben Sie eine Telefonnummer mit Landesvorwahl ein.",
            .noCodesThere: "An diese Adresse oder Nummer senden wir keine Codes.",
            .verifiedAlready: "Sie ist schon bestätigt.",
            .addressCodeText: """
            Wir haben eine Nachricht an <strong>{{address}}</strong> gesendet. Geben Sie ihre sechs Ziffern hier ein, \
            bis {{until}}.
            """,
            .factVerified: "Bestätigt",
            .removeAddressHeading: "{{mailbox}}{{domain}} entfernen?",
            .addressStays: "{{mailbox}}{{domain}} bleibt vorerst",
            .removeAddressText: """
            Ist sie entfernt, meldet sich niemand mehr damit an, auch wo eine Website sie als Ihre nennt. Alle Ihre \
            Adressen werden benachrichtigt, auch diese.
            """,
            .removeAddress: "{{address}} entfernen",
            .onlyAddress: """
            Dies ist Ihre einzige Adresse. Um sie zu ändern, fügen Sie zuerst eine andere hinzu und entfernen dann \
            diese.
            """,
            .removableFrom: """
            Womit Sie sich angemeldet haben, oder Ihre andere Adresse, ist zu neu, um diese zu ersetzen. Sie können sie \
            ab {{from}} entfernen.
            """,

            // Devices.
            .tagWaiting: "Wartet",
            .tagSuspended: "Gesperrt",
            .tagNotConfirmed: "Nicht bestätigt",
            .methodPIN: "PIN",
            .methodBiometric: "Fingerabdruck oder Gesicht",
            .methodBoth: "PIN, Fingerabdruck oder Gesicht",
            .methodNone: "Zustimmung durch Antippen",
            .lastApproval: "Letzte Zustimmung: {{lastUsed}}",
            .enrolledNote: "Eingerichtet: {{day}}, bei {{client}}",
            .canApproveFrom: "Kann zustimmen ab {{until}}",
            .resume: "Entsperren",
            .resumeDevice: "{{device}} entsperren",
            .approvesNothing: "Kann nicht zustimmen, bis Sie es mit einem anderen Gerät entsperren",
            .countsEverywhereFrom: "Gilt überall ab {{from}}",
            .remove: "Entfernen",
            .removeDevice: "{{device}} entfernen",
            .undo: "Zurücknehmen",
            .undoDevice: "Einrichtung von {{device}} zurücknehmen",
            .noDevices: "Noch keine. {{client}} zeigt Ihnen, wie Sie eines einrichten.",
            .noDevicesNobody: """
            Noch keine. Die App einer Website, bei der Sie sich anmelden, zeigt Ihnen, wie Sie eines einrichten.
            """,

            // Request code.
            .userCode: "Anfragecode",
            .userCodeIsSet: "Festgelegt. Dienste fragen von sich aus nur mit diesem Code auf Ihren Geräten an",
            .userCodeIsNotSet: "Nicht festgelegt",
            .changeUserCode: "Anfragecode ändern",
            .userCodeText: """
            Manche Dienste fragen von sich aus auf Ihren Geräten an: wenn Sie dort anrufen oder am Schalter stehen. Mit einem \
            Anfragecode können sie das nur, nachdem Sie ihn genannt haben. Auf Webseiten und in Apps melden Sie sich ohne \
            ihn an.
            """,
            .userCodeHint: """
            Denken Sie sich einen Code aus, den Sie sonst nirgends verwenden. Ein Dienst, der danach fragt, erfährt ihn. Er \
            sagt nur, dass Sie gefragt werden wollen: Anmelden oder zustimmen kann damit niemand.
            """,
            .userCodeLabel: "Neuer Code aus 6 bis 32 Buchstaben und Ziffern",
            .userCodeProblem: """
            Geben Sie 6 bis 32 Buchstaben von A bis Z und Ziffern ein, nicht immer dasselbe Zeichen und nicht einfach der \
            Reihe nach.
            """,
            .saveUserCode: "Code speichern",
            .removeUserCodeText: """
            Ohne Anfragecode fragen Dienste, die einen brauchen, nicht mehr bei Ihnen an. Alle anderen können wieder anfragen.
            """,
            .removeUserCode: "Code entfernen",

            // Passkeys.
            .countsFrom: "Gilt ab {{until}}",
            .synced: "Synchronisiert",
            .onOneDevice: "Auf einem Gerät",
            .lastUse: "Zuletzt benutzt: {{lastUsed}}",
            .createdOn: "Erstellt: {{day}}",
            .operatorsSitesOnly: "Gilt nur auf den eigenen Websites des Betreibers",
            .changePasskey: "{{name}} ändern",
            .noPasskeys: """
            Noch keine. Ein Passkey meldet Sie hier mit Fingerabdruck, Gesicht oder Bildschirmsperre an, und auf \
            keiner falschen Seite.
            """,
            .createPasskey: "Passkey erstellen",
            .passkeyText: """
            Ein Passkey liegt auf diesem Gerät oder in Ihrem Passwortmanager, und die Bildschirmsperre öffnet ihn. \
            Eine falsche Seite kann ihn nicht verwenden.
            """,
            .passkeyImpossible: """
            Dieser Browser kann keinen Passkey erstellen: Er führt keine Skripte aus, oder er ist zu alt.
            """,
            .passkeyNotMade: "Es ist nichts geschehen. Versuchen Sie es noch einmal.",
            .passkeyMakingFailed: """
            Dieser Browser konnte keinen Passkey erstellen. Versuchen Sie es mit einem anderen Browser oder Gerät.
            """,
            .passkeyExists: "Dieses Gerät hat schon einen Passkey für dieses Konto.",
            .backToAccount: "Zurück zu Ihrem Konto",
            .factCreated: "Erstellt",
            .factCountsFrom: "Gilt ab",
            .factKept: "Gespeichert",
            .keptSynced: "In Ihrem Passwortmanager, auf allen seinen Geräten",
            .keptOnOne: "Nur auf einem Gerät",
            .passkeyName: "Name",
            .passkeyNameProblem: "Geben Sie einen Namen mit 1 bis 60 Zeichen ein.",
            .rename: "Umbenennen",
            .endsWithPasskey: "Auch Ihre Sitzung in diesem Browser endet.",
            .removePasskeyText: """
            Ist der Passkey entfernt, meldet er hier niemanden mehr an. In Ihrem Browser oder Passwortmanager \
            bleibt er, bis Sie ihn dort löschen.
            """,
            .removePasskey: "{{name}} entfernen",

            // Sessions.
            .tagThisOne: "Diese",
            .tagDeviceCode: "Per Gerätecode",
            .unknownBrowser: "Unbekannter Browser",
            .sinceWithDevice: "Seit {{since}}, mit {{device}}",
            .sinceByEmail: "Seit {{since}}, per E-Mail",
            .sinceByText: "Seit {{since}}, per SMS",
            .sinceWithPasskey: "Seit {{since}}, mit dem Passkey {{name}}",
            .sinceWithLostPasskey: "Seit {{since}}, mit einem Passkey",
            .sinceForClient: "Seit {{since}}, für {{client}}",
            .lastSeen: "Zuletzt gesehen: {{lastSeen}}",
            .endSession: "Sitzung in {{browser}} beenden",
            .endUnknownSession: "Sitzung in einem unbekannten Browser beenden",
            .endAllOthers: "Alle anderen beenden",

            // Access.
            .accessIdentity: "Sie wiedererkennen",
            .accessEmail: "E-Mail-Adresse",
            .accessPhone: "Telefonnummer",
            .accessStay: "angemeldet bleiben",
            .accessDevice: "ein Gerät hinzufügen",
            .endAccess: "Zugriff von {{client}} beenden",
            .noAccess: "Sie haben keine erteilt.",

            // Activity.
            .didSignIn: "<strong>Angemeldet</strong> bei {{client}}",
            .didApprove: "<strong>Zugestimmt</strong>: Anfrage von {{client}}",
            .didDecline: "<strong>Abgelehnt</strong>: Anfrage von {{client}}",
            .didReport: "<strong>Gemeldet</strong> von Ihnen: Anfrage von {{client}}",
            .didEnroll: "<strong>{{device}}</strong> eingerichtet",
            .didRemove: "<strong>{{device}}</strong> entfernt",
            .didSuspend: "<strong>{{device}}</strong> gesperrt",
            .didResume: "<strong>{{device}}</strong> entsperrt",
            .didConfirm: "<strong>{{device}}</strong> bestätigt",
            .didBeginConfirming: "<strong>{{device}}</strong>: Bestätigung begonnen",
            .didCreatePasskey: "<strong>Passkey erstellt</strong>: {{name}}",
            .didRemovePasskey: "<strong>Passkey entfernt</strong>: {{name}}",
            .didChangeMethod: "<strong>PIN oder Fingerabdruck</strong> geändert auf {{device}}",
            .didVerifyEmail: "<strong>E-Mail-Adresse</strong> bestätigt",
            .didVerifyPhone: "<strong>Telefonnummer</strong> bestätigt",
            .didRemoveEmail: "<strong>E-Mail-Adresse</strong> entfernt",
            .didRemovePhone: "<strong>Telefonnummer</strong> entfernt",
            .didGiveAccess: "<strong>Zugriff erteilt</strong> an {{client}}",
            .didEndAccess: "<strong>Zugriff beendet</strong>: {{client}}",
            .didEndSession: "<strong>Sitzung</strong> beendet",
            .didSetUserCode: "<strong>Anfragecode</strong> festgelegt",
            .didRemoveUserCode: "<strong>Anfragecode</strong> entfernt",
            .onDevice: "Auf {{device}}",
            .earlierActivity: "Frühere Aktivität",

            // Removing a device.
            .removeHeading: "{{device}} entfernen?",
            .undoHeading: "Einrichtung von {{device}} zurücknehmen?",
            .factEnrolled: "Eingerichtet",
            .factLastUsed: "Zuletzt benutzt",
            .factEnds: "Beendet",
            .enrolledFact: "{{day}}, bei {{client}}",
            .thisSession: "Ihre Sitzung in diesem Browser",
            .removeText: """
            Es kann ab sofort nicht mehr zustimmen. Alle Ihre Adressen werden benachrichtigt. Um es wieder zu \
            benutzen, müssen Sie es neu einrichten.
            """,
            .undoText: """
            Es kann weder jetzt noch später zustimmen. Alle Ihre Adressen werden benachrichtigt. Um es zu \
            benutzen, müssen Sie es neu einrichten.
            """,
            .removeSuspendedText: """
            Es kann nicht mehr entsperrt werden. Alle Ihre Adressen werden benachrichtigt. Um es wieder zu \
            benutzen, müssen Sie es neu einrichten.
            """,
            .onlyDevice: "Es ist das einzige Gerät, das heute zustimmen kann.",
            .nextByPasskey: "Bis {{other}} es kann, melden Sie sich mit einem Passkey an.",
            .nextByEmail: "Bis {{other}} es kann, melden Sie sich per E-Mail an.",
            .nextByText: "Bis {{other}} es kann, melden Sie sich per SMS an.",
            .nextByNothing: "Bis {{other}} es kann, können Sie sich hier nicht anmelden.",
            .restByPasskey: "Bis Sie ein anderes einrichten, melden Sie sich mit einem Passkey an.",
            .restByEmail: "Bis Sie ein anderes einrichten, melden Sie sich per E-Mail an.",
            .restByText: "Bis Sie ein anderes einrichten, melden Sie sich per SMS an.",
            .restByNothing: "Bis Sie ein anderes einrichten, können Sie sich hier nicht anmelden.",
            .keepIt: "Behalten",
            .suspendInstead: "Sie wissen nicht, wo es ist? Stattdessen sperren",
        ],
        months: [
            "Januar", "Februar", "März", "April", "Mai", "Juni",
            "Juli", "August", "September", "Oktober", "November", "Dezember",
        ],
        days: (yesterday: "gestern", today: "heute", tomorrow: "morgen", on: "am "))
}
