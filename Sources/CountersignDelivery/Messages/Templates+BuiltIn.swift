extension MessageTemplates {
    /// The built-in templates, by language and by the name of the file that can replace each.
    static let builtIn: [String: [String: String]] = [
        "en": [
            "test.subject": "A message from {{sender}}",
            "test.text": """
            This message shows that mail from {{host}} arrives. There is nothing to do.
            """,
            "test.html": page(
                "en",
                "<p>This message shows that mail from <strong>{{host}}</strong> arrives. There is nothing to do.</p>"),
            "test.sms": "This message shows that text messages from {{host}} arrive.",
            "code.subject": "Your code for {{sender}}",
            "code.text": """
            {{code}}

            This is your code for {{sender}}, good for {{minutes}} minutes. Type it where you asked for it, at {{host}}.
            {{#adding}}

            Whoever types it adds this address to their account.{{#place}} It was asked for from: {{place}}{{/place}}
            {{/adding}}

            Nobody will ever ask you for it by telephone or in a message: whoever does wants to deceive you.
            If you did not ask for a code, there is nothing to do.
            """,
            "code.html": page(
                "en",
                """
                \(digits)
                <p>This is your code for {{sender}}, good for {{minutes}} minutes. Type it where you asked for it, at \
                <strong>{{host}}</strong>.</p>
                {{#adding}}<p>Whoever types it adds this address to their account.{{#place}} It was asked for from: \
                <strong>{{place}}</strong>{{/place}}</p>{{/adding}}
                <p>Nobody will ever ask you for it by telephone or in a message: whoever does wants to deceive you.<br>
                If you did not ask for a code, there is nothing to do.</p>
                """),
            "code.sms":
                "{{#question}}{{question}} {{/question}}{{code}} is your code for {{sender}}{{#adding}}, to add this number to an account{{/adding}}, good for {{minutes}} minutes. Tell it to nobody.",
            "sign-in.subject": "{{#code}}Your code for {{sender}}{{/code}}{{^code}}Sign in to {{sender}}{{/code}}",
            "sign-in.text": """
            {{#code}}
            {{code}}

            Type this code where you are signing in to {{sender}}. It is good for {{minutes}} minutes.
            {{#link}}

            Or open this link in the same browser:

            {{link}}
            {{/link}}
            {{/code}}
            {{^code}}
            Open this link in the browser in which you are signing in to {{sender}}. It is good for {{minutes}} minutes.

            {{link}}

            There is no code this time, since too many wrong ones were typed for your address. You need not do anything about it.
            {{/code}}
            {{#place}}

            It was asked for from: {{place}}
            {{/place}}

            Nobody will ever ask you for {{#code}}the code{{/code}}{{^code}}the link{{/code}} by telephone or in a message: whoever does wants to deceive you.
            If you are not signing in, there is nothing to do: without {{#code}}the code{{/code}}{{^code}}the link{{/code}} nobody gets in.
            """,
            "sign-in.html": page(
                "en",
                """
                {{#code}}\(digits)
                <p>Type this code where you are signing in to {{sender}}. It is good for {{minutes}} minutes.</p>
                {{#link}}<p>Or open this link in the same browser:<br><a href="{{link}}">Sign in to {{sender}}</a></p>{{/link}}{{/code}}
                {{^code}}<p>Open this link in the browser in which you are signing in to {{sender}}. It is good for \
                {{minutes}} minutes:<br><a href="{{link}}">Sign in to {{sender}}</a></p>
                <p>There is no code this time, since too many wrong ones were typed for your address. You need not do \
                anything about it.</p>{{/code}}
                {{#place}}<p>It was asked for from: <strong>{{place}}</strong></p>{{/place}}
                <p>Nobody will ever ask you for {{#code}}the code{{/code}}{{^code}}the link{{/code}} by telephone or in a \
                message: whoever does wants to deceive you.<br>If you are not signing in, there is nothing to do: without \
                {{#code}}the code{{/code}}{{^code}}the link{{/code}} nobody gets in.</p>
                """),
            "sign-in.sms":
                "{{code}} is your code to sign in to {{sender}}, good for {{minutes}} minutes. Tell it to nobody.",
        ]
        .merging(english("device", change, changeText, lookAt: "devices")) { $1 }
        .merging(english("passkey", passkeyChange, passkeyText, lookAt: "passkeys")) { $1 }
        .merging(english("address", addressChange, addressText, lookAt: "addresses")) { $1 }
        .merging(english("user-code", userCodeChange, userCodeText, lookAt: "devices")) { $1 }
        .merging(english("signed-in", signedIn, signedInText, lookAt: "devices")) { $1 },
        "de": [
            "test.subject": "Eine Nachricht von {{sender}}",
            "test.text": """
            Diese Nachricht zeigt, dass E-Mails von {{host}} ankommen. Es ist nichts zu tun.
            """,
            "test.html": page(
                "de",
                "<p>Diese Nachricht zeigt, dass E-Mails von <strong>{{host}}</strong> ankommen. Es ist nichts zu tun.</p>"
            ),
            "test.sms": "Diese Nachricht zeigt, dass SMS von {{host}} ankommen.",
            "code.subject": "Ihr Code für {{sender}}",
            "code.text": """
            {{code}}

            Das ist Ihr Code für {{sender}}. Er gilt {{minutes}} Minuten. Geben Sie ihn dort ein, wo Sie ihn angefordert
            haben, bei {{host}}.
            {{#adding}}

            Wer ihn eingibt, fügt diese Adresse seinem Konto hinzu.{{#place}} Angefordert wurde er von: {{place}}{{/place}}
            {{/adding}}

            Niemand wird Sie je am Telefon oder in einer Nachricht danach fragen: Wer es tut, will Sie täuschen.
            Wenn Sie keinen Code angefordert haben, ist nichts zu tun.
            """,
            "code.html": page(
                "de",
                """
                \(digits)
                <p>Das ist Ihr Code für {{sender}}. Er gilt {{minutes}} Minuten. Geben Sie ihn dort ein, wo Sie ihn \
                angefordert haben, bei <strong>{{host}}</strong>.</p>
                {{#adding}}<p>Wer ihn eingibt, fügt diese Adresse seinem Konto hinzu.{{#place}} Angefordert wurde er von: \
                <strong>{{place}}</strong>{{/place}}</p>{{/adding}}
                <p>Niemand wird Sie je am Telefon oder in einer Nachricht danach fragen: Wer es tut, will Sie täuschen.<br>
                Wenn Sie keinen Code angefordert haben, ist nichts zu tun.</p>
                """),
            "code.sms":
                "{{#question}}{{question}} {{/question}}{{code}} ist Ihr Code für {{sender}}{{#adding}}, um diese Nummer einem Konto hinzuzufügen,{{/adding}} und gilt {{minutes}} Minuten. Sagen Sie ihn niemandem.",
            "sign-in.subject": "{{#code}}Ihr Code für {{sender}}{{/code}}{{^code}}Bei {{sender}} anmelden{{/code}}",
            "sign-in.text": """
            {{#code}}
            {{code}}

            Geben Sie diesen Code dort ein, wo Sie sich bei {{sender}} anmelden. Er gilt {{minutes}} Minuten.
            {{#link}}

            Oder öffnen Sie diesen Link im selben Browser:

            {{link}}
            {{/link}}
            {{/code}}
            {{^code}}
            Öffnen Sie diesen Link in dem Browser, in dem Sie sich bei {{sender}} anmelden. Er gilt {{minutes}} Minuten.

            {{link}}

            Dieses Mal ist kein Code dabei, weil für Ihre Adresse zu viele falsche eingegeben wurden. Sie müssen deshalb nichts tun.
            {{/code}}
            {{#place}}

            Angefordert wurde er von: {{place}}
            {{/place}}

            Niemand wird Sie je am Telefon oder in einer Nachricht nach dem {{#code}}Code{{/code}}{{^code}}Link{{/code}} fragen: Wer es tut, will Sie täuschen.
            Wenn Sie sich nicht anmelden, ist nichts zu tun: Ohne den {{#code}}Code{{/code}}{{^code}}Link{{/code}} kommt niemand hinein.
            """,
            "sign-in.html": page(
                "de",
                """
                {{#code}}\(digits)
                <p>Geben Sie diesen Code dort ein, wo Sie sich bei {{sender}} anmelden. Er gilt {{minutes}} Minuten.</p>
                {{#link}}<p>Oder öffnen Sie diesen Link im selben Browser:<br><a href="{{link}}">Bei {{sender}} \
                anmelden</a></p>{{/link}}{{/code}}
                {{^code}}<p>Öffnen Sie diesen Link in dem Browser, in dem Sie sich bei {{sender}} anmelden. Er gilt \
                {{minutes}} Minuten:<br><a href="{{link}}">Bei {{sender}} anmelden</a></p>
                <p>Dieses Mal ist kein Code dabei, weil für Ihre Adresse zu viele falsche eingegeben wurden. Sie müssen \
                deshalb nichts tun.</p>{{/code}}
                {{#place}}<p>Angefordert wurde er von: <strong>{{place}}</strong></p>{{/place}}
                <p>Niemand wird Sie je am Telefon oder in einer Nachricht nach dem \
                {{#code}}Code{{/code}}{{^code}}Link{{/code}} fragen: Wer es tut, will Sie täuschen.<br>Wenn Sie sich nicht \
                anmelden, ist nichts zu tun: Ohne den {{#code}}Code{{/code}}{{^code}}Link{{/code}} kommt niemand hinein.</p>
                """),
            "sign-in.sms":
                "{{code}} ist Ihr Code für die Anmeldung bei {{sender}} und gilt {{minutes}} Minuten. Sagen Sie ihn niemandem.",
        ]
        .merging(german("device", germanChange, germanChangeText, lookAt: "Geräten")) { $1 }
        .merging(german("passkey", germanPasskeyChange, germanPasskeyText, lookAt: "Passkeys")) { $1 }
        .merging(german("address", germanAddressChange, germanAddressText, lookAt: "Adressen")) { $1 }
        .merging(german("user-code", germanUserCodeChange, germanUserCodeText, lookAt: "Geräten")) { $1 }
        .merging(german("signed-in", germanSignedIn, germanSignedInText, lookAt: "Geräten")) { $1 },
    ]

    /// The parts of a template that tells a person what was done: in a few words, and as a sentence.
    private static func english(
        _ template: String, _ change: String, _ sentence: String, lookAt part: String
    ) -> [String: String] {
        [
            "\(template).subject": "{{sender}}: \(change)",
            "\(template).text": """
            \(sentence)

            {{time}}{{#place}}, from {{place}}{{/place}}

            Was that you? Then there is nothing to do. If it was not, {{#page}}open your account and look at your \(part), your
            sessions and what you allowed:

            {{page}}{{/page}}{{^page}}tell {{sender}}.{{/page}}
            """,
            "\(template).html": page(
                "en",
                """
                <p><strong>\(sentence)</strong></p>
                <p>{{time}}{{#place}}, from {{place}}{{/place}}</p>
                <p>Was that you? Then there is nothing to do. If it was not, {{#page}}<a href="{{page}}">open your account</a> \
                and look at your \(part), your sessions and what you allowed.{{/page}}{{^page}}tell {{sender}}.{{/page}}</p>
                """),
            "\(template).sms": """
            {{sender}}: \(change). If that was not you, {{#page}}open {{page}}{{/page}}{{^page}}tell {{sender}}.{{/page}}
            """,
        ]
    }

    /// The same in German.
    private static func german(
        _ template: String, _ change: String, _ sentence: String, lookAt part: String
    ) -> [String: String] {
        [
            "\(template).subject": "{{sender}}: \(change)",
            "\(template).text": """
            \(sentence)

            {{time}}{{#place}}, von {{place}}{{/place}}

            Waren Sie das? Dann ist nichts zu tun. Wenn nicht, {{#page}}öffnen Sie Ihr Konto und sehen Sie nach Ihren \(part), Ihren
            Sitzungen und dem, was Sie erlaubt haben:

            {{page}}{{/page}}{{^page}}wenden Sie sich an {{sender}}.{{/page}}
            """,
            "\(template).html": page(
                "de",
                """
                <p><strong>\(sentence)</strong></p>
                <p>{{time}}{{#place}}, von {{place}}{{/place}}</p>
                <p>Waren Sie das? Dann ist nichts zu tun. Wenn nicht, {{#page}}<a href="{{page}}">öffnen Sie Ihr Konto</a> \
                und sehen Sie nach Ihren \(part), Ihren Sitzungen und dem, was Sie erlaubt haben.{{/page}}\
                {{^page}}wenden Sie sich an {{sender}}.{{/page}}</p>
                """),
            "\(template).sms": """
            {{sender}}: \(change). Waren Sie das nicht? {{#page}}{{page}}{{/page}}\
            {{^page}}Wenden Sie sich an {{sender}}.{{/page}}
            """,
        ]
    }

    /// What was done with a device, in a few words, and as a sentence.
    private static let change =
        """
        {{device}} {{#removed}}was removed{{/removed}}{{#suspended}}was suspended{{/suspended}}\
        {{#resumed}}was resumed{{/resumed}}{{#confirmed}}was confirmed{{/confirmed}}{{#confirming}}is to be confirmed{{/confirming}}
        """
    private static let changeText =
        """
        {{#removed}}Your device {{device}} was removed. It can approve nothing any more.{{/removed}}\
        {{#suspended}}Your device {{device}} was suspended. It can approve nothing until it is resumed.{{/suspended}}\
        {{#resumed}}Your device {{device}} was resumed. It can approve again.{{/resumed}}\
        {{#confirmed}}Your device {{device}} was confirmed. It can approve everywhere now.{{/confirmed}}\
        {{#confirming}}Somebody at this address says that the device {{device}} is yours. It can approve everywhere from \
        the time below on, unless it is removed before.{{/confirming}}
        """
    private static let germanChange =
        """
        {{device}} {{#removed}}wurde entfernt{{/removed}}{{#suspended}}wurde gesperrt{{/suspended}}\
        {{#resumed}}wurde entsperrt{{/resumed}}\
        {{#confirmed}}wurde bestätigt{{/confirmed}}{{#confirming}}soll bestätigt werden{{/confirming}}
        """
    private static let germanChangeText =
        """
        {{#removed}}Ihr Gerät {{device}} wurde entfernt. Es kann nichts mehr bestätigen.{{/removed}}\
        {{#suspended}}Ihr Gerät {{device}} wurde gesperrt. Es kann nichts bestätigen, bis es entsperrt wird.{{/suspended}}\
        {{#resumed}}Ihr Gerät {{device}} wurde entsperrt. Es kann wieder zustimmen.{{/resumed}}\
        {{#confirmed}}Ihr Gerät {{device}} wurde bestätigt. Es kann jetzt überall zustimmen.{{/confirmed}}\
        {{#confirming}}Jemand, der diese Nachrichten liest, sagt, dass das Gerät {{device}} Ihres ist. Ab der Zeit unten \
        kann es überall zustimmen, wenn es nicht vorher entfernt wird.{{/confirming}}
        """

    /// What was done with a passkey, in a few words, and as a sentence.
    private static let passkeyChange =
        """
        {{#created}}new passkey{{/created}}{{#waiting}}new passkey, which waits{{/waiting}}\
        {{#removed}}passkey removed{{/removed}} ({{passkey}})
        """
    private static let passkeyText =
        """
        {{#created}}You have a new passkey: {{passkey}}. It signs you in from now on.{{/created}}\
        {{#waiting}}Somebody who reads messages to you has created a passkey: {{passkey}}. It signs in from the time below \
        on, unless it is removed before.{{/waiting}}\
        {{#removed}}Your passkey {{passkey}} was removed. It signs nobody in any more.{{/removed}}
        """
    private static let germanPasskeyChange =
        """
        {{#created}}neuer Passkey{{/created}}{{#waiting}}neuer Passkey, der noch wartet{{/waiting}}\
        {{#removed}}Passkey entfernt{{/removed}} ({{passkey}})
        """
    private static let germanPasskeyText =
        """
        {{#created}}Sie haben einen neuen Passkey: {{passkey}}. Mit ihm melden Sie sich ab jetzt an.{{/created}}\
        {{#waiting}}Jemand, der diese Nachrichten liest, hat einen Passkey für Sie erstellt: {{passkey}}. Ab der Zeit \
        unten meldet er an, wenn er nicht vorher entfernt wird.{{/waiting}}\
        {{#removed}}Ihr Passkey {{passkey}} wurde entfernt. Er meldet niemanden mehr an.{{/removed}}
        """

    /// What was done with an address, in a few words, and as a sentence.
    private static let addressChange =
        """
        {{#added}}new address{{/added}}{{#removed}}address removed{{/removed}} ({{address}})
        """
    private static let addressText =
        """
        {{#added}}Your account has a new address: {{address}}. Whoever reads what is sent there can sign in as you.\
        {{/added}}\
        {{#removed}}The address {{address}} was removed from your account. Nobody signs in with it any more.{{/removed}}
        """
    private static let germanAddressChange =
        """
        {{#added}}neue Adresse{{/added}}{{#removed}}Adresse entfernt{{/removed}} ({{address}})
        """
    private static let germanAddressText =
        """
        {{#added}}Ihr Konto hat eine neue Adresse: {{address}}. Wer liest, was dorthin geschickt wird, kann sich als Sie \
        anmelden.{{/added}}\
        {{#removed}}Die Adresse {{address}} wurde aus Ihrem Konto entfernt. Mit ihr meldet sich niemand mehr an.{{/removed}}
        """

    /// What was done with a person's request code, in a few words, and as a sentence.
    private static let userCodeChange =
        """
        {{#set}}request code set{{/set}}{{#removed}}request code removed{{/removed}}
        """
    private static let userCodeText =
        """
        {{#set}}Your account has a new request code. Services that ask on your devices by themselves can do so only with this \
        code.{{/set}}\
        {{#removed}}The request code was removed from your account. Services that need none can ask on your devices \
        again.{{/removed}}
        """
    private static let germanUserCodeChange =
        """
        {{#set}}Anfragecode festgelegt{{/set}}{{#removed}}Anfragecode entfernt{{/removed}}
        """
    private static let germanUserCodeText =
        """
        {{#set}}Ihr Konto hat einen neuen Anfragecode. Dienste, die von sich aus auf Ihren Geräten anfragen, können das nur \
        noch mit diesem Code.{{/set}}\
        {{#removed}}Der Anfragecode wurde aus Ihrem Konto entfernt. Dienste, die keinen brauchen, können wieder auf Ihren \
        Geräten anfragen.{{/removed}}
        """

    /// Why a person is told of a sign-in, in a few words, and as a sentence.
    private static let signedIn =
        """
        {{#elsewhere}}sign-in from a new browser{{/elsewhere}}{{#guessed}}sign-in after wrong codes{{/guessed}}\
        {{#bycode}}sign-in on a device{{/bycode}}
        """
    private static let signedInText =
        """
        {{#elsewhere}}Somebody has signed in to {{sender}} as you, in a browser that we do not know as yours.{{/elsewhere}}\
        {{#guessed}}Somebody has signed in to {{sender}} as you by a message to this address. Before that, wrong codes \
        were typed for it, perhaps by somebody who guessed.{{/guessed}}\
        {{#bycode}}A device without a browser of yours is signed in to {{sender}} as you, since you or somebody in your \
        name has approved it.{{/bycode}}
        """
    private static let germanSignedIn =
        """
        {{#elsewhere}}Anmeldung in einem neuen Browser{{/elsewhere}}\
        {{#guessed}}Anmeldung nach falschen Codes{{/guessed}}{{#bycode}}Anmeldung auf einem Gerät{{/bycode}}
        """
    private static let germanSignedInText =
        """
        {{#elsewhere}}Jemand hat sich als Sie bei {{sender}} angemeldet, in einem Browser, den wir nicht als Ihren kennen.\
        {{/elsewhere}}\
        {{#guessed}}Jemand hat sich mit einer Nachricht an diese Adresse als Sie bei {{sender}} angemeldet. Vorher \
        wurden dafür falsche Codes eingegeben, vielleicht von jemandem, der geraten hat.{{/guessed}}\
        {{#bycode}}Ein Gerät ist als Sie bei {{sender}} angemeldet, ohne einen Browser von Ihnen. Sie oder jemand in Ihrem \
        Namen hat dem zugestimmt.{{/bycode}}
        """

    private static let digits = #"<p style="font-size: 2em; letter-spacing: 0.15em"><strong>{{code}}</strong></p>"#

    private static func page(_ language: String, _ content: String) -> String {
        """
        <!doctype html>
        <html lang="\(language)"><head><meta charset="utf-8"></head>
        <body style="font-family: sans-serif; line-height: 1.5">
        \(content)
        </body></html>
        """
    }
}
