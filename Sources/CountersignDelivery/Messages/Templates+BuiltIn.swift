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

            Nobody will ever ask you for it by telephone or in a message: whoever does wants to deceive you.
            If you did not ask for a code, there is nothing to do.
            """,
            "code.html": page(
                "en",
                """
                \(digits)
                <p>This is your code for {{sender}}, good for {{minutes}} minutes. Type it where you asked for it, at \
                <strong>{{host}}</strong>.</p>
                <p>Nobody will ever ask you for it by telephone or in a message: whoever does wants to deceive you.<br>
                If you did not ask for a code, there is nothing to do.</p>
                """),
            "code.sms":
                "{{#question}}{{question}} {{/question}}{{code}} is your code for {{sender}}, good for {{minutes}} minutes. Tell it to nobody.",
        ],
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

            Niemand wird Sie je am Telefon oder in einer Nachricht danach fragen: Wer es tut, will Sie täuschen.
            Wenn Sie keinen Code angefordert haben, ist nichts zu tun.
            """,
            "code.html": page(
                "de",
                """
                \(digits)
                <p>Das ist Ihr Code für {{sender}}. Er gilt {{minutes}} Minuten. Geben Sie ihn dort ein, wo Sie ihn \
                angefordert haben, bei <strong>{{host}}</strong>.</p>
                <p>Niemand wird Sie je am Telefon oder in einer Nachricht danach fragen: Wer es tut, will Sie täuschen.<br>
                Wenn Sie keinen Code angefordert haben, ist nichts zu tun.</p>
                """),
            "code.sms":
                "{{#question}}{{question}} {{/question}}{{code}} ist Ihr Code für {{sender}} und gilt {{minutes}} Minuten. Sagen Sie ihn niemandem.",
        ],
    ]

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
