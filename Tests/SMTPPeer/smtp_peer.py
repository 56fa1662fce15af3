"""A mail server for tests: aiosmtpd, which keeps SMTP's rules, in a process of its own.

    smtp_peer.py [--security starttls|implicit|none] [--certificate FILE --key FILE]
                 [--user NAME --password PASSWORD] [--smtputf8]

The first line it prints is {"port": N}. Each mail it takes is a line, too: the envelope, the bytes, and what Python's own
parser of mail makes of them. A line on standard input is an order: {"rcpt": "550 5.1.1 no"} has it answer so to RCPT from
now on, {"data": …} to the message itself, {"rcpt": null} as usual again. It ends with its standard input.
"""

import argparse
import asyncio
import base64
import email
import email.header
import email.policy
import email.utils
import json
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult


def say(members):
    print(json.dumps(members), flush=True)


def sender(content):
    """The name before the address; Python's newer parser puts blanks between encoded words, against RFC 2047 §6.2."""
    name, _ = email.utils.parseaddr(email.message_from_bytes(content)["from"])
    return str(email.header.make_header(email.header.decode_header(name)))


def described(content):
    """What a reader of mail sees."""
    message = email.message_from_bytes(content, policy=email.policy.default)
    parts = list(message.iter_parts())
    defects = list(message.defects)
    for part in [message, *parts]:
        defects += part.defects
        for value in part.values():
            defects += getattr(value, "defects", ())
    return {
        "headers": {name.lower(): str(value) for name, value in message.items()},
        "sender": sender(content),
        "type": message.get_content_type(),
        "parts": [{"type": part.get_content_type(), "text": part.get_content()} for part in parts],
        "date": int(message["date"].datetime.timestamp()),
        "defects": [repr(defect) for defect in defects],
    }


class Handler:
    def __init__(self):
        self.orders = {}

    async def handle_RCPT(self, server, session, envelope, address, options):
        if self.orders.get("rcpt"):
            return self.orders["rcpt"]
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if self.orders.get("data"):
            return self.orders["data"]
        say({
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "options": envelope.mail_options,
            "name": session.host_name,
            "tls": session.ssl is not None or server.transport.get_extra_info("sslcontext") is not None,
            "user": session.auth_data.login.decode() if session.auth_data else None,
            "bytes": base64.b64encode(envelope.content).decode(),
            "connection": id(session),
            **described(envelope.content),
        })
        return "250 OK"


async def obey(handler):
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        handler.orders.update(json.loads(line))
        say({"done": True})


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--security", choices=["starttls", "implicit", "none"], default="none")
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--user")
    parser.add_argument("--password")
    parser.add_argument("--smtputf8", action="store_true")
    options = parser.parse_args()

    context = None
    if options.certificate:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(options.certificate, options.key)
    handler = Handler()

    def judge(server, session, envelope, mechanism, data):
        isRight = data.login == options.user.encode() and data.password == options.password.encode()
        # Not handled: the server answers itself when it is wrong.
        return AuthResult(success=isRight, handled=False, auth_data=data)

    def make():
        return SMTP(
            handler,
            hostname="localhost",
            enable_SMTPUTF8=options.smtputf8,
            tls_context=context if options.security == "starttls" else None,
            require_starttls=options.security == "starttls",
            authenticator=judge if options.user else None,
            auth_required=bool(options.user),
            auth_require_tls=options.security == "starttls",
        )

    loop = asyncio.get_running_loop()
    implicit = context if options.security == "implicit" else None
    server = await loop.create_server(make, "127.0.0.1", 0, ssl=implicit)
    say({"port": server.sockets[0].getsockname()[1]})
    await obey(handler)


asyncio.run(main())
