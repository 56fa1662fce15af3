#!/usr/bin/env python3
"""Plays a relying party and a device against a running server, and checks what it gets.

    play.py ISSUER CLIENT_ID CLIENT_SECRET [TYPE [TYPE_WITH_PIN]]

The issuer is the server's URL, to which it must listen, too. The types are `confirm` and `pin` unless they are named.
The client must use the OpenID provider without a secret (`--profile native`).
It makes a user of its own. It prints a line for each step, then how many passed, and exits with 1 if one failed.
"""
from __future__ import annotations

import sys
import time
import urllib.parse
import uuid
from dataclasses import dataclass
from typing import Any, Callable

import countersign_client as client

PIN = "83517"


@dataclass
class RelyingParty:
    """A client of the server; relying-party.md."""

    issuer: str
    client_id: str
    secret: str

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request with the client's id and secret; relying-party.md, Authentication."""
        credential = ":".join(urllib.parse.quote_plus(each) for each in (self.client_id, self.secret))
        fields = {"Authorization": f"Basic {client.encode64(credential.encode())}"}
        data = b"" if body is None else client.json.dumps(body).encode()
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


def refusal(code: str, action: Callable[[], Any]) -> str:
    """Performs an action that the server must refuse with a code; errors.md."""
    try:
        action()
    except client.Problem as problem:
        client.require(problem.code == code, f"refused, but with {problem}")
        return str(problem)
    raise client.Refused("it was not refused")


def play(issuer: str, client_id: str, secret: str, type_name: str, pin_type: str) -> int:
    """All steps; returns how many failed."""
    party, known, results = RelyingParty(issuer, client_id, secret), {}, []

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
        return {"user": known["user"]["id"], "type": type_, "message": "Pay EUR 1,250.00 to ACME GmbH?",
                "details": [{"label": "Amount", "value": "EUR 1,250.00"}, {"label": "Payee", "value": "ACME GmbH"}]}

    def device() -> client.Device:
        """The device, when it has enrolled."""
        return known["enroll"]

    def listed(challenge: str) -> str:
        """Polls, and finds the challenge."""
        client.require(challenge in device().poll(wait=10), "the challenge is not in the list")
        return "listed"

    def removed() -> str:
        """The reason in the notice that the device gets after its removal."""
        try:
            device().poll()
        except client.Problem as problem:
            enrolled = device()
            return client.verify_removal_notice(
                problem.members["notice"], enrolled.server, issuer, enrolled.enrollment, time.time())
        raise client.Refused("it was not refused")

    def round_of(name: str, type_: str, method: str | None, decision: str = "approved", pin: str | None = None) -> None:
        """Asks, polls, opens, answers and verifies."""
        step(f"{name}: ask", lambda: party.call("POST", "/v1/challenges", request(type_)), lambda value: value["id"])
        step(f"{name}: poll", lambda: listed(known[f"{name}: ask"]["id"]))
        step(f"{name}: open", lambda: device().fetch(known[f"{name}: ask"]["id"]), lambda value: value["message"])
        if method == "pin":
            step(f"{name}: wrong PIN", lambda: refusal("pin_incorrect", lambda: device().answer(
                known[f"{name}: open"], decision, method, known[f"{name}: ask"].get("number"), "90210")))
        number = known.get(f"{name}: ask", {}).get("number") if decision == "approved" else None
        step(f"{name}: answer", lambda: device().answer(known[f"{name}: open"], decision, method, number, pin),
             lambda value: value["state"])
        step(f"{name}: receipt", lambda: party.verify(
            known[f"{name}: ask"]["id"], request(type_), device().keys.primary.public.name, method, number))

    step("user", lambda: party.call("POST", "/v1/users", {"external_id": f"play-{uuid.uuid4()}"}),
         lambda value: value["id"])
    step("ticket", lambda: party.call("POST", f"/v1/users/{known['user']['id']}/enrollment-tickets"),
         lambda value: value["enrollment"])
    step("enroll", lambda: client.Device.enroll(known["ticket"]["qr"], issuer, "Python"),
         lambda value: value.keys.primary.public.name)
    round_of("confirm", type_name, "confirm")
    round_of("deny", type_name, None, "denied")
    step("sign in", lambda: device().sign_in(client_id), lambda value: f"{value['acr']} by {value['amr']}")
    step("set a PIN", lambda: device().set_pin(PIN), lambda _: "204")
    step("methods", lambda: device().call("GET", "/v1/enrollments/self/methods")["pin"],
         lambda value: f"{value['state']}, {value['attempts_left']} attempts left")
    round_of("pin", pin_type, "pin", pin=PIN)
    step("sign in with the PIN", lambda: device().sign_in(client_id, PIN),
         lambda value: f"{value['acr']} by {value['amr']}")
    step("remove", lambda: device().call("DELETE", "/v1/enrollments/self"), lambda _: "204")
    step("removal notice", removed)
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return results.count(False)


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 6:
        sys.exit(__doc__)
    named = [*sys.argv[1:], *["confirm", "pin"][len(sys.argv) - 4:]]
    sys.exit(1 if play(*named) else 0)
