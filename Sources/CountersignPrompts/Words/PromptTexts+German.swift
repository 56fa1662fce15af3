extension PromptTexts {
    /// The texts in German.
    static let german: [PromptWord: String] = [
        // Frame.
        .askedBy: "Gefragt von",
        .factAs: "Als",
        .factFrom: "Von",
        .factAt: "Um",
        .factSigningData: "Signierte Daten",
        .factEnrolled: "Eingerichtet",
        .timeLeft: "{{left}} übrig",
        .sayMinute: "Noch 1 Minute.",
        .sayHalfMinute: "Noch 30 Sekunden.",
        .sayTenSeconds: "Noch 10 Sekunden.",
        .loadingHeading: "Einen Moment",
        .loadingText: "Die Frage wird geholt und geprüft.",
        .sendingHeading: "Einen Moment",

        // Buttons.
        .approve: "Zustimmen",
        .decline: "Ablehnen",
        .notMe: "Das war ich nicht",
        .yesGoOn: "Ja, weiter",
        .continueButton: "Weiter",
        .tryAgain: "Noch einmal versuchen",
        .back: "Zurück",
        .cancel: "Abbrechen",
        .cancelSignIn: "Anmeldung abbrechen",
        .close: "Schließen",
        .remove: "Entfernen",
        .undo: "Zurücknehmen",
        .keepIt: "Behalten",
        .useTap: "Durch Antippen zustimmen",
        .usePIN: "PIN verwenden",
        .useBiometric: "Fingerabdruck oder Gesicht verwenden",
        .useCustom: "{{name}} verwenden",

        // Failures.
        .failedHeading: "Das hat nicht geklappt",
        .failedNetwork: "Es gibt kein Netz. Versuchen Sie es noch einmal, wenn es wieder da ist.",
        .failedService: "Unser Dienst hat nicht richtig geantwortet. Versuchen Sie es in einer Minute noch einmal.",
        .failedClock: """
        Datum und Uhrzeit dieses Geräts stimmen nicht. Stellen Sie sie ein und versuchen Sie es noch einmal.
        """,
        .failedStorage: """
        Die Schlüssel auf diesem Gerät lassen sich nicht lesen. Entsperren Sie es, schaffen Sie etwas Platz und \
        versuchen Sie es noch einmal.
        """,
        .failedRemoved: "Dieses Gerät ist nicht mehr eingerichtet. Richten Sie es neu ein, um damit zuzustimmen.",
        .failedSuspended: "Dieses Gerät ist gesperrt. Entsperren Sie es mit einem anderen Gerät.",
        .failedWaiting: "Dieses Gerät wartet noch. Stimmen Sie ihm mit einem Gerät zu, das Sie schon haben.",
        .failedMethodNeeded: """
        Auf einem anderen Gerät haben Sie eine PIN, einen Fingerabdruck oder ein Gesicht eingerichtet. Tun Sie \
        es dort.
        """,
        .failedOther: "Das ist nicht möglich ({{code}}).",

        // Question.
        .unreachableHeading: "Die Frage lässt sich nicht holen",
        .unverifiedHeading: "Diese Frage wird nicht gezeigt",
        .forgedText: """
        Sie ist nicht von dem Dienst signiert, zu dem diese App gehört. Vielleicht will jemand Sie täuschen. Es \
        wurde nicht zugestimmt.
        """,
        .unreadableText: """
        Sie besteht unsere Prüfung nicht, oder diese App ist zu alt dafür. Aktualisieren Sie die App und \
        beginnen Sie dort neu, wo Sie begonnen haben. Es wurde nicht zugestimmt.
        """,
        .codeOriginHeading: "Haben Sie diesen Code selbst gescannt?",
        .codeOriginText: """
        Fahren Sie nur fort, wenn Sie den Code auf einem eigenen Bildschirm gesehen haben, wo Sie das selbst \
        begonnen haben.
        """,
        .linkOriginHeading: "Sind Sie diesem Link selbst gefolgt?",
        .linkOriginText: """
        Fahren Sie nur fort, wenn Sie dem Link selbst gefolgt sind, auf diesem Gerät, wo Sie das begonnen haben.
        """,
        .originWarning: """
        Wer Ihnen das geschickt oder Sie dazu aufgefordert hat, will Ihre Zustimmung zu einer eigenen Sache.
        """,
        .askHeading: "Stimmen Sie zu?",
        .signedWithAnswer: "Mit Ihrer Antwort signiert",
        .numberLabel: "Zahl, die dort steht, wo Sie das begonnen haben",
        .numberMissing: "Geben Sie alle {{count}} Ziffern der Zahl ein.",
        .approvingHeading: "Zustimmung wird gesendet",
        .decliningHeading: "Ablehnung wird gesendet",
        .reportingHeading: "Meldung wird gesendet",
        .sendingText: "Ihre Antwort ist unterwegs.",
        .unsentHeading: "Ihre Antwort ist nicht angekommen",
        .approvedHeading: "Zugestimmt",
        .goBackSoon: "Kehren Sie innerhalb von zwei Minuten dorthin zurück, wo Sie begonnen haben.",
        .declinedHeading: "Abgelehnt",
        .reportedHeading: "Gemeldet",
        .reportedText: "Wir haben vermerkt, dass jemand anderes das begonnen hat.",
        .nothingApproved: "Es wurde nicht zugestimmt.",
        .startAgain: "Wollen Sie es noch, beginnen Sie dort neu, wo Sie begonnen haben.",
        .expiredHeading: "Nicht rechtzeitig zugestimmt",
        .unknownHeading: "Wir wissen nicht, ob zugestimmt wurde",
        .unknownText: """
        Auf Ihre Antwort kam keine Rückmeldung. Sehen Sie dort nach, wo Sie begonnen haben, bevor Sie neu beginnen.
        """,
        .answeredHeading: "Schon beantwortet",
        .answeredText: "Das wurde schon beantwortet, hier oder auf einem anderen Gerät.",
        .takenBackHeading: "Die Frage wurde zurückgenommen",
        .wrongNumberHeading: "Das war nicht die gezeigte Zahl",
        .wrongNumberText: """
        Beginnen Sie dort neu, wo Sie begonnen haben, und geben Sie die neue Zahl ein. Haben Sie nichts \
        begonnen, dann war es jemand anderes.
        """,
        .failedQuestionHeading: "Die Frage ist gescheitert",
        .goneHeading: "Diese Frage gibt es nicht mehr",
        .goneText: "Es ist nichts mehr zu beantworten.",
        .methodMissingHeading: "Dieses Gerät kann nicht zustimmen",
        .methodMissingText: """
        Verlangt wird etwas, das auf diesem Gerät nicht eingerichtet ist. Richten Sie es ein und versuchen Sie \
        es noch einmal.
        """,
        .deviceCannotHeading: "Dieses Gerät kann nicht antworten",

        // PIN.
        .pinHeading: "Geben Sie Ihre PIN ein",
        .pinLabel: "PIN",
        .pinForChange: "Ohne sie ändert sich nichts.",
        .pinMalformed: "Eine PIN hat 4 bis 32 Ziffern.",
        .pinWrong: "Das ist nicht Ihre PIN. Sie haben noch {{count}} Versuche.",
        .pinWrongOnce: "Das ist nicht Ihre PIN. Sie haben noch 1 Versuch.",
        .pinLockedHeading: "Die PIN ist gesperrt",
        .pinLockedText: """
        Sie wurde zu oft falsch eingegeben. Um wieder eine PIN zu haben, richten Sie dieses Gerät neu ein.
        """,
        .choosePINHeading: "Wählen Sie eine PIN",
        .oldPINHeading: "Geben Sie Ihre bisherige PIN ein",
        .newPINHeading: "Wählen Sie eine neue PIN",
        .repeatPINHeading: "Geben Sie die neue PIN noch einmal ein",
        .newPINLabel: "Neue PIN",
        .setPIN: "PIN festlegen",
        .savingPINHeading: "Die PIN wird festgelegt",
        .unsavedPINHeading: "Die PIN wurde nicht festgelegt",
        .pinSetHeading: "Die PIN ist festgelegt",
        .pinChangedHeading: "Die PIN ist geändert",
        .pinUnchangedHeading: "Mit der PIN bleibt es, wie es war",
        .pinMismatch: "Die beiden waren nicht gleich. Wählen Sie eine PIN und geben Sie sie dann noch einmal ein.",
        .breaksLength: "Sie hat {{least}} bis {{most}} Ziffern.",
        .breaksExactLength: "Sie hat {{count}} Ziffern.",
        .breaksRepeats: "Keine Ziffer kommt mehr als {{count}}-mal vor.",
        .breaksRepeatsOnce: "Keine Ziffer kommt zweimal vor.",
        .breaksSequence: "Ihre Ziffern folgen nicht einfach aufeinander wie in 12345.",
        .breaksCommon: "Diese wählen zu viele Menschen. Wählen Sie eine andere.",
        .authorityHeading: "Dafür müssen Sie sich neu anmelden",
        .authorityText: """
        Dieses Gerät wurde vor zu langer Zeit eingerichtet, um allein seine erste PIN festzulegen. Melden Sie \
        sich neu an, oder lassen Sie ein neues Ticket ausstellen.
        """,

        // Fingerprint and face.
        .biometricHeading: "Fingerabdruck oder Gesicht hat nicht geklappt",
        .biometricUnavailable: "Dieses Gerät kennt weder Fingerabdruck noch Gesicht, oder es ist keines eingerichtet.",
        .biometricFailed: "Es wurde nicht erkannt. Versuchen Sie es noch einmal, oder wählen Sie einen anderen Weg.",
        .biometricCancelled: "Sie haben es geschlossen. Es wurde noch nicht zugestimmt.",
        .biometricCancelledForChange: "Sie haben es geschlossen. Es wurde noch nichts geändert.",
        .biometricFallback: "Sie wollten einen anderen Weg, und für diese Frage gibt es keinen.",
        .biometricFallbackForChange: "Sie wollten einen anderen Weg, und für diese Änderung gibt es keinen.",
        .biometricLockout: "Es wurde zu oft nicht erkannt. Entsperren Sie dieses Gerät zuerst mit seinem Code.",
        .biometricChanged: """
        Die Fingerabdrücke oder Gesichter dieses Geräts haben sich geändert. Richten Sie das in der App neu ein.
        """,
        .biometricNotRegistered: "Es ist in dieser App nicht eingerichtet.",

        // Custom authenticators.
        .customHeading: "Mit {{name}} zustimmen",
        .customLabel: "{{name}}",
        .customSays: "Es heißt dort: {{payload}}",
        .customAgain: "Das genügt nicht. Sie haben noch {{count}} Versuche.",
        .customAgainOnce: "Das genügt nicht. Sie haben noch 1 Versuch.",
        .customAgainUnlimited: "Das genügt nicht. Versuchen Sie es noch einmal.",
        .customUnavailable: """
        Dort lässt sich jetzt nicht fragen. Versuchen Sie es in einer Minute noch einmal, oder wählen Sie einen \
        anderen Weg.
        """,
        .customRefusedHeading: "{{name}} lehnt ab",
        .customRefusedText: """
        Es ist nicht mehr eingerichtet. Wählen Sie einen anderen Weg, oder richten Sie es neu ein.
        """,
        .customRegisterHeading: "{{name}} einrichten",
        .customRegister: "Einrichten",
        .customRegisterUnavailable: """
        Dort lässt sich jetzt nicht fragen. Versuchen Sie es in einer Minute noch einmal.
        """,
        .customRegisteredHeading: "{{name}} ist eingerichtet",
        .customRemoveHeading: "{{name}} entfernen?",
        .customRemoveText: "Sie können damit nicht mehr zustimmen. Sie können es jederzeit wieder einrichten.",
        .customRemovedHeading: "{{name}} ist entfernt",
        .customNotThereHeading: "{{name}} ist nicht eingerichtet",
        .nothingChangedHeading: "Es wurde nichts geändert",

        // Signing in elsewhere.
        .waitingStartText: "Ihr Telefon wird gefragt.",
        .waitingNumberHeading: "Geben Sie diese Zahl auf Ihrem Telefon ein",
        .waitingNumberText: """
        Ihr Telefon fragt danach. Zeigt es etwas, das Sie nicht kennen, wählen Sie dort „Das war ich nicht“.
        """,
        .waitingCodeHeading: "Geben Sie diesen Code auf einem anderen Gerät ein",
        .waitingCodeText: "Öffnen Sie dort {{page}}, oder scannen Sie das Bild.",
        .signedInHeading: "Sie sind angemeldet",
        .nobodySignedIn: "Niemand wurde angemeldet.",
        .waitingDeclinedHeading: "Auf Ihrem Telefon abgelehnt",
        .signInFailedHeading: "Die Anmeldung hat nicht geklappt",
        .signInCancelledHeading: "Die Anmeldung wurde abgebrochen",

        // Codes.
        .scanHeading: "Scannen Sie den Code",
        .scanText: "Scannen Sie nur einen Code auf einem eigenen Bildschirm, wo Sie selbst etwas begonnen haben.",
        .scanAgain: "Noch einmal scannen",
        .noCameraHeading: "Diese App darf die Kamera nicht verwenden",
        .noCameraText: "Erlauben Sie es in den Einstellungen dieses Geräts und versuchen Sie es noch einmal.",
        .openSettings: "Einstellungen öffnen",
        .ticketHeading: "Dieses Gerät wird eingerichtet",
        .ticketText: "Das Ticket gilt für ein Gerät.",
        .codeRefusedHeading: "Dieser Code nützt hier nichts",
        .codeUnknown: "Es ist kein Code von uns. Scannen Sie den auf der Seite, auf der Sie begonnen haben.",
        .codeInvalid: "Niemand wartet darauf, oder er ist für jemand anderen.",
        .codeExpired: "Er wurde vor zu langer Zeit gezeigt. Scannen Sie den, der jetzt zu sehen ist.",
        .codeTaken: """
        Ein anderes Gerät hat ihn gescannt. War es nicht Ihres, beginnen Sie dort neu, wo Sie begonnen haben.
        """,
        .codeNotLinked: "Wer ihn zeigt, kennt Sie noch nicht. Richten Sie dieses Gerät zuerst dort ein.",
        .codeOver: "Wofür er steht, ist vorbei. Beginnen Sie dort neu, wo Sie begonnen haben.",
        .scanCancelledHeading: "Abgebrochen",
        .showCodeHeading: "Scannen Sie diesen Code mit Ihrem Telefon",
        .showCodeText: """
        Öffnen Sie dort die App und wählen Sie „Scannen“. Prüfen Sie, was sie zeigt, und stimmen Sie dort zu.
        """,
        .codeRenews: "Der Code erneuert sich von selbst.",
        .codeGoneHeading: "Der Code gilt nicht mehr",
        .showNewCode: "Neuen Code zeigen",
        .scannedHeading: "Gescannt",
        .scannedText: "Weiter in der App.",

        // Further devices.
        .furtherNumberHeading: "Geben Sie diese Zahl auf dem Gerät ein, das Sie schon haben",
        .furtherNumberText: "Es fragt, ob dieses hinzukommen darf.",
        .furtherWaitHeading: "Dieses Gerät wartet noch",
        .furtherOrWait: "Es kann ab {{until}} zustimmen, wenn niemand widerspricht.",
        .furtherActiveHeading: "Dieses Gerät ist bereit",
        .furtherActiveText: "Sie können damit ab sofort zustimmen.",
        .furtherRefusedHeading: "Dieses Gerät wurde abgelehnt",
        .furtherRefusedText: "Es kann nicht zustimmen. War das ein Versehen, richten Sie es neu ein.",
        .undoThisHeading: "Einrichtung dieses Geräts zurücknehmen?",
        .undoThisText: "Es kann weder jetzt noch später zustimmen. Um es zu benutzen, müssen Sie es neu einrichten.",
        .undoingHeading: "Wird zurückgenommen",
        .notUndoneHeading: "Die Einrichtung wurde nicht zurückgenommen",
        .furtherUndoneHeading: "Die Einrichtung wurde zurückgenommen",

        // Pending questions.
        .pendingHeading: "Warten auf Ihre Antwort",
        .pendingRow: "{{client}}: {{message}} ({{moment}})",
        .pendingEmptyHeading: "Es wartet nichts",
        .pendingEmptyText: "Fragen erscheinen hier von selbst.",

        // Devices.
        .devicesHeading: "Vertraute Geräte",
        .thisDevice: "{{device}} (dieses)",
        .noOtherDevices: "Es gibt kein anderes Gerät.",
        .tagWaiting: "Wartet",
        .methodPIN: "PIN",
        .methodBiometric: "Fingerabdruck oder Gesicht",
        .methodBoth: "PIN, Fingerabdruck oder Gesicht",
        .methodNone: "Zustimmung durch Antippen",
        .enrolledAt: "Eingerichtet: {{moment}}",
        .canApproveFrom: "Kann zustimmen ab {{until}}",
        .approvesNothing: "Kann nicht zustimmen, bis Sie es mit einem anderen Gerät entsperren",
        .waitingPIN: "Eine PIN wurde gesetzt. Sie gilt ab {{until}}. Waren Sie das nicht, nehmen Sie es zurück.",
        .waitingBiometric: """
        Ein Fingerabdruck oder Gesicht wurde eingerichtet. Es gilt ab {{until}}. Waren Sie das nicht, nehmen Sie \
        es zurück.
        """,
        .waitingCustom: """
        Ein weiterer Weg zum Zustimmen wurde eingerichtet. Er gilt ab {{until}}. Waren Sie das nicht, nehmen Sie \
        es zurück.
        """,
        .undoPIN: "PIN auf {{device}} zurücknehmen",
        .undoBiometric: "Fingerabdruck oder Gesicht auf {{device}} zurücknehmen",
        .undoCustom: "Weiteren Weg auf {{device}} zurücknehmen",
        .suspendDevice: "{{device}} sperren",
        .resumeDevice: "{{device}} entsperren",
        .undoDevice: "Einrichtung von {{device}} zurücknehmen",
        .removeDevice: "{{device}} entfernen",
        .suspendHeading: "{{device}} sperren?",
        .suspendText: "Es kann nicht zustimmen, bis Sie es mit einem anderen Gerät entsperren.",
        .undoHeading: "Einrichtung von {{device}} zurücknehmen?",
        .undoText: """
        Es kann weder jetzt noch später zustimmen. Alle Ihre Adressen werden benachrichtigt. Um es zu benutzen, \
        müssen Sie es neu einrichten.
        """,
        .removeHeading: "{{device}} entfernen?",
        .removeText: """
        Es kann ab sofort nicht mehr zustimmen. Alle Ihre Adressen werden benachrichtigt. Um es wieder zu \
        benutzen, müssen Sie es neu einrichten.
        """,
        .removeSuspendedText: """
        Es kann nicht mehr entsperrt werden. Alle Ihre Adressen werden benachrichtigt. Um es wieder zu benutzen, \
        müssen Sie es neu einrichten.
        """,
        .removeThisText: """
        Es ist dieses Gerät. Sie können damit ab sofort nicht mehr zustimmen. Um es wieder zu benutzen, müssen \
        Sie es neu einrichten.
        """,
        .notDoneHeading: "Es wurde nichts geändert",
        .deviceGone: "Was Sie ändern wollten, gibt es nicht mehr, oder es lässt sich jetzt nicht ändern.",
        .saySuspended: """
        {{device}} wurde gesperrt. Es kann nicht zustimmen, bis Sie es mit einem anderen Gerät entsperren.
        """,
        .sayResumed: "{{device}} wurde entsperrt. Es kann wieder zustimmen.",
        .sayRemoved: "{{device}} wurde entfernt.",
        .sayMethodUndone: "Was auf {{device}} noch wartete, wurde zurückgenommen.",
        .thisOneRemovedHeading: "Dieses Gerät wurde entfernt",
        .thisOneRemovedText: "Sie können damit nicht mehr zustimmen.",
    ]
}
