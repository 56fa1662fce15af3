#!/usr/bin/env python3
"""Plays a relying party and a device against a running server, and checks what it gets.

The issuer is the server's URL, to which it must listen, too: only a server in development mode takes pushes to this
machine. The client must use the OpenID provider without a secret (`--profile native`). With `--callback` and
`--return-uri`, which the operator has registered, it also listens for callbacks, and approves by a link. It makes a
user of its own. It prints a line for each step, then how many passed, and exits with 1 if one failed.
"""
from __future__ import annotations

import argparse
import http.server
import json
import queue
import secrets
import sys
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from typing import Any, Callable

import countersign_client as client

PIN = "83517"


class Listener(http.server.ThreadingHTTPServer):
    """Takes POSTs on a port of this machine, a free one for 0."""

    def __init__(self, port: int = 0):
        self.calls: queue.Queue[tuple[str, dict[str, str], bytes]] = queue.Queue()
        super().__init__(("127.0.0.1", port), Call)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"

    def take(self, path: str, seconds: float = 20) -> tuple[dict[str, str], bytes]:
        """Fields and body of the next call to a path."""
        end = time.monotonic() + seconds
        while True:
            called, fields, body = self.calls.get(timeout=max(end - time.monotonic(), 0.01))
            if called == path:
                return fields, body


class Call(http.server.BaseHTTPRequestHandler):
    """One call to the listener."""

    server: Listener

    def do_POST(self) -> None:
        """Notes the call, and replies that it was received."""
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        self.server.calls.put((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


@dataclass
class RelyingParty:
    """A client of the server; relying-party.md."""

    issuer: str
    client_id: str
    secret: str
    callback: str | None = None
    callback_secret: str | None = None
    return_uri: str | None = None

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request with the client's id and secret; relying-party.md, Authentication."""
        credential = ":".join(urllib.parse.quote_plus(each) for each in (self.client_id, self.secret))
        fields = {"Authorization": f"Basic {client.encode64(credential.encode())}"}
        data = b"" if body is None else json.dumps(body).encode()
        return client.exchange(self.issuer, method, path, data, fields)

    def verify(self, challenge: str, request: dict[str, Any], fingerprint: str, method: str | None,
               number: str | None) -> str:
        """Verifies the receipt of a challenge, and that it says what was asked; receipts.md, Verify a receipt."""
        path = f"/v1/challenges/{challenge}/receipt"
        message = self.call("GET", path)
        certificate = client.Certificate.parse(
            client.dearmor("PUBLIC KEY BLOCK", self.call("GET", path + "?format=certificate")))
        receipt = client.verify_receipt(message, certificate, time.time())
        client.require(receipt.device == fingerprint, "the receipt is of another device")
        said = (receipt.issuer, receipt.client, receipt.challenge, receipt.type, receipt.message, receipt.method,
                receipt.number)
        ours = (self.issuer, self.client_id, challenge, request["type"], request["message"], method, number)
        client.require(said == ours, f"the receipt says {said}")
        details = tuple((each["label"], each["value"]) for each in request["details"])
        client.require(receipt.details == details, "other details")
        return f"{receipt.decision} by {receipt.method or 'no method'}, {len(certificate.subkeys)} subkeys"

    def called_back(self, listener: Listener, challenge: str, method: str) -> str:
        """Awaits the callback of an approval, and verifies it; relying-party.md, Callbacks."""
        fields, body = listener.take(urllib.parse.urlsplit(self.callback or "").path)
        client.verify_webhook(fields, body, self.callback_secret or "", time.time())
        told = json.loads(body)
        said = told["type"], told["challenge"]["id"], told["challenge"]["method"], told["challenge"]["client_state"]
        client.require(said == ("challenge.approved", challenge, method, "order-4711"), f"the callback says {said}")
        return f"{told['type']}, {fields['webhook-id']}"


def refusal(code: str, action: Callable[[], Any]) -> str:
    """Performs an action that the server must refuse with a code; errors.md."""
    try:
        action()
    except client.Problem as problem:
        client.require(problem.code == code, f"refused, but with {problem}")
        return str(problem)
    raise client.Refused("it was not refused")


def play(party: RelyingParty, listener: Listener, type_name: str = "confirm", pin_type: str = "pin",
         code_type: str = "qr") -> int:
    """All steps; returns how many failed."""
    issuer, known, results = party.issuer, {}, []

    def step(name: str, action: Callable[[], Any], show: Callable[[Any], Any] = lambda value: value) -> Any:
        """One step: performs it, and prints how it went."""
        try:
            known[name] = action()
            results.append(True)
            print(f"ok    {name}: {show(known[name])}")
        except Exception as error:  # every error fails the step; those after it fail, too
            results.append(False)
            print(f"FAIL  {name}: {type(error).__name__}: {error}")

    def request(type_: str) -> dict[str, Any]:
        """What the relying party asks."""
        return {"type": type_, "message": "Pay EUR 1,250.00 to ACME GmbH?",
                "details": [{"label": "Amount", "value": "EUR 1,250.00"}, {"label": "Payee", "value": "ACME GmbH"}]}

    def ask(type_: str, **further: Any) -> dict[str, Any]:
        """Asks; relying-party.md, Ask."""
        return party.call("POST", "/v1/challenges", {**request(type_), **further})

    def device() -> client.Device:
        """The device, when it has enrolled."""
        return known["enroll"]

    def fingerprint() -> str:
        """The device's fingerprint."""
        return device().keys.primary.public.name

    def listed(challenge: str | None = None) -> dict[str, Any]:
        """Polls until a challenge is listed, the only one without an id, and opens what the list brings of it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            for entry in device().poll(wait=10):
                if challenge in (None, entry.challenge):
                    client.require(entry.body, "the list brings no message")
                    return entry.body or {}
        raise client.Refused("the challenge is not in the list")

    def removed() -> str:
        """The reason in the notice that the device gets after its removal."""
        try:
            device().poll()
        except client.Problem as problem:
            enrolled = device()
            return client.verify_removal_notice(
                problem.members["notice"], enrolled.server, issuer, enrolled.enrollment, time.time())
        raise client.Refused("it was not refused")

    def round_of(name: str, type_: str, method: str | None, decision: str = "approved", pin: str | None = None,
                 fetches: bool = False, **further: Any) -> None:
        """Asks, polls, opens what the poll has brought or what is fetched, answers and verifies."""
        step(f"{name}: ask", lambda: ask(type_, user=known["user"]["id"], **further), lambda value: value["id"])
        step(f"{name}: poll", lambda: listed(known[f"{name}: ask"]["id"]), lambda value: value["message"])
        if fetches:
            step(f"{name}: fetch", lambda: device().fetch(known[f"{name}: ask"]["id"]), lambda value: value["message"])
        opened = f"{name}: fetch" if fetches else f"{name}: poll"
        if method == "pin":
            step(f"{name}: wrong PIN", lambda: refusal("pin_incorrect", lambda: device().answer(
                known[opened], decision, method, known[f"{name}: ask"].get("number"), "90210")))
        number = known.get(f"{name}: ask", {}).get("number") if decision == "approved" else None
        step(f"{name}: answer", lambda: device().answer(known[opened], decision, method, number, pin),
             lambda value: value["state"])
        step(f"{name}: receipt", lambda: party.verify(
            known[f"{name}: ask"]["id"], request(type_), fingerprint(), method, number))

    def claimed(name: str, via: str) -> None:
        """Claims a code, and opens its challenge; codes-and-links.md, Claim."""
        step(f"{name}: claim", lambda: device().claim(known[f"{name}: ask"]["code"][via], via))
        step(f"{name}: fetch", lambda: device().fetch(known[f"{name}: claim"]),
             lambda value: f"claimed {value['claimed']}")

    def by_code() -> None:
        """Approves by a scanned code; codes-and-links.md."""
        step("code: ask", lambda: ask(code_type), lambda value: value["id"])
        claimed("code", "qr")
        step("code: answer", lambda: device().answer(known["code: fetch"], "approved", "confirm"),
             lambda value: value["state"])
        step("code: receipt", lambda: party.verify(
            known["code: ask"]["id"], request(code_type), fingerprint(), "confirm", None))

    def by_link() -> None:
        """Approves by a link, and comes back in the browser; codes-and-links.md, Approval by a link."""
        step("link: ask", lambda: ask(code_type, return_uri=party.return_uri), lambda value: value["id"])
        claimed("link", "link")
        step("link: answer", lambda: device().answer(known["link: fetch"], "approved", "confirm"),
             lambda value: value["state"])
        step("link: place", lambda: device().place_of_return(known["link: fetch"], known["link: answer"]))
        path = f"/v1/challenges/{known.get('link: ask', {}).get('id')}"
        step("link: until then", lambda: party.call("GET", path)["state"])
        step("link: no receipt yet", lambda: refusal("no_receipt", lambda: party.call("GET", f"{path}/receipt")))
        step("link: another code", lambda: refusal("return_code_invalid", lambda: party.call(
            "POST", f"{path}/return", {"return_code": "AAAA"})))
        step("link: return", lambda: party.call("POST", f"{path}/return", {"return_code": urllib.parse.parse_qs(
            urllib.parse.urlsplit(known["link: place"]).query)["return_code"][0]}), lambda value: value["state"])
        step("link: receipt", lambda: party.verify(
            known["link: ask"]["id"], request(code_type), fingerprint(), "confirm", None))

    def by_push() -> None:
        """Gets a push to a port of this machine; pushes.md."""
        path = secrets.token_hex(16)

        def pushed() -> dict[str, Any]:
            keys = client.exchange(issuer, "GET", "/v1/push-keys")
            payload = json.loads(listener.take(f"/{path}")[1])
            claims = client.verify_push(payload, issuer, device().enrollment, keys, time.time())
            ours = known["push: ask"]["id"], type_name, payload["countersign"]["id"]
            client.require((claims["jti"], claims["type"], claims["jti"]) == ours, "a push of another challenge")
            client.require(payload["aps"]["alert"]["body"] == request(type_name)["message"], "another text")
            return payload

        step("push: register", lambda: device().take_pushes(listener.server_port, path), lambda _: "200")
        step("push: ask", lambda: ask(type_name, user=known["user"]["id"]), lambda value: value["id"])
        step("push: verify", pushed, lambda value: value["aps"]["category"])
        step("push: fetch", lambda: device().fetch(known["push: ask"]["id"]), lambda value: value["message"])
        step("push: answer", lambda: device().answer(known["push: fetch"], "denied"), lambda value: value["state"])

    def another_device() -> None:
        """Enrolls a second device, which the first one approves; enrollment.md, devices.md."""
        def state() -> str:
            """How the other device stands, which is the only one."""
            listed_ = device().others()
            client.require(listed_["needs_method"] is True and len(listed_["enrollments"]) == 1, "another list")
            other, one = known["other"], listed_["enrollments"][0]
            said = one["enrollment"], one["fingerprint"], one["device"]["name"]
            client.require(said == (other.enrollment, other.keys.primary.public.name, "Python, too"), "another device")
            return one["state"]

        def asked() -> dict[str, Any]:
            """The question whether it may be added, which names the key that it has."""
            body = listed()
            values = [each["value"] for each in body["details"]]
            client.require(body["type"] == "new-device" and known["other"].keys.primary.public.name in values, "others")
            return body

        step("other: ticket", lambda: party.call("POST", f"/v1/users/{known['user']['id']}/enrollment-tickets"),
             lambda value: value["enrollment"])
        step("other", lambda: client.Device.enroll(known["other: ticket"]["qr"], issuer, "Python, too"),
             lambda value: f"waits until {value.approval['expires_at']}")
        step("others", state)
        step("other: poll", asked, lambda value: value["message"])
        step("other: approve", lambda: device().answer(
            known["other: poll"], "approved", "pin", known["other"].approval["number"], PIN),
            lambda value: value["state"])
        step("others, then", state)
        step("other: remove", lambda: known["other"].call("DELETE", "/v1/enrollments/self"), lambda _: "204")

    step("user", lambda: party.call("POST", "/v1/users", {"external_id": f"play-{uuid.uuid4()}"}),
         lambda value: value["id"])
    step("ticket", lambda: party.call("POST", f"/v1/users/{known['user']['id']}/enrollment-tickets"),
         lambda value: value["enrollment"])
    step("enroll", lambda: client.Device.enroll(known["ticket"]["qr"], issuer, "Python"),
         lambda value: value.keys.primary.public.name)
    round_of("confirm", type_name, "confirm")
    round_of("fetched", type_name, "confirm", fetches=True)
    round_of("deny", type_name, None, "denied")
    by_code()
    if party.return_uri:
        by_link()
    if party.callback:
        round_of("callback", type_name, "confirm", callback_uri=party.callback, state="order-4711")
        step("callback", lambda: party.called_back(listener, known["callback: ask"]["id"], "confirm"))
    by_push()
    step("sign in", lambda: device().sign_in(party.client_id), lambda value: f"{value['acr']} by {value['amr']}")
    step("set a PIN", lambda: device().set_pin(PIN), lambda _: "204")
    step("methods", lambda: device().call("GET", "/v1/enrollments/self/methods")["pin"],
         lambda value: f"{value['state']}, {value['attempts_left']} attempts left")
    round_of("pin", pin_type, "pin", pin=PIN)
    step("sign in with the PIN", lambda: device().sign_in(party.client_id, PIN),
         lambda value: f"{value['acr']} by {value['amr']}")
    another_device()
    step("remove", lambda: device().call("DELETE", "/v1/enrollments/self"), lambda _: "204")
    step("removal notice", removed)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return results.count(False)


def main() -> int:
    """Plays by the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("issuer", "client_id", "client_secret"):
        parser.add_argument(name)
    parser.add_argument("type", nargs="?", default="confirm")
    parser.add_argument("type_with_pin", nargs="?", default="pin")
    parser.add_argument("type_with_code", nargs="?", default="qr")
    parser.add_argument("--callback", help="one of the client's callbacks, http://127.0.0.1:<port>/<path>")
    parser.add_argument("--callback-secret", help="the secret that signs callbacks, whsec_…")
    parser.add_argument("--return-uri", help="one of the URLs to which devices of the client's users return")
    given = parser.parse_args()
    listener = Listener(urllib.parse.urlsplit(given.callback).port if given.callback else 0)
    party = RelyingParty(given.issuer, given.client_id, given.client_secret, given.callback, given.callback_secret,
                         given.return_uri)
    return play(party, listener, given.type, given.type_with_pin, given.type_with_code)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
