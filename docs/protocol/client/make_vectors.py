#!/usr/bin/env python3
"""Writes the vectors in docs/protocol/vectors: `make_vectors.py [FOLDER]`. The same files come out each time.

All keys are hashes of names, made for these vectors, and are used for nothing else.
"""
from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse
from typing import Any

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

import countersign_client as c
from countersign_client import ECDH, ECDSA, DeviceKeys, Receipt, SecretKey, encode64url, packet, subpacket

ISSUER = "https://login.example.com"
USER, ENROLLMENT = "usr_01m7yfdvnpkhd3v12ptm49g5wv", "enr_01m7yfdvpt5prmr79m8dcgymep"
CHALLENGE, OTHER_CHALLENGE = "chl_01m7yfdxsqjqckvr59wm88r0ae", "chl_01m7yfdr6fvs8f877d8cax65sf"
ASKED = int(c.seconds("2026-11-20T10:15:02Z"))
MADE = ASKED - 86400  # when the keys of device and server were made
OTHER_ISSUER, OTHER_USER, OTHER_ENROLLMENT = (
    "https://other.example.com", "usr_01m7yfdqyqp13z41p674ccbct7", "enr_01m7yfdr0njy8w340sc732d1nk")
NONCE = "0000019abad54244a1b2c3d4e5f607180f1e2d3c4b5a69788796a5b4c3d2e1f0"
NOTE = "All keys were made for these vectors and are used for nothing else."


def seed(name: str, length: int = 32) -> bytes:
    """Octets that look random."""
    return hashlib.shake_256(f"countersign protocol vectors {name}".encode()).digest(length)


def private(name: str) -> c.PRIVATE:
    """A private key of the curve."""
    return c.scalar((int.from_bytes(seed(name), "big") % (c.ORDER - 1) + 1).to_bytes(32, "big"))


def number(key: c.PRIVATE) -> str:
    """A private key as 64 hexadecimal digits."""
    return key.private_numbers().private_value.to_bytes(32, "big").hex()


def key(name: str, algorithm: int = ECDSA, created: int = MADE) -> SecretKey:
    """A key of a name."""
    return SecretKey.of(private(name), algorithm, created)


def flipped(data: bytes, at: int) -> bytes:
    """Octets of which one is altered."""
    at %= len(data)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def present(members: dict[str, Any]) -> dict[str, Any]:
    """The members that have a value."""
    return {name: value for name, value in members.items() if value is not None}


def compact(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def statement(primary: SecretKey, kind: int, subkey: SecretKey, at: int, further: bytes) -> bytes:
    """A signature about a subkey."""
    return packet(2, c.sign(primary, kind, primary.public.hashed + subkey.public.hashed, at, further))


def compromised(primary: SecretKey, subkey: SecretKey, at: int) -> bytes:
    """The revocation of a subkey that somebody else may have."""
    return statement(primary, c.SUBKEY_REVOKED, subkey, at, subpacket(29, b"\x02"))


def server_certificate(*after_signing: bytes) -> bytes:
    """The server's certificate, with what follows the signing subkey."""
    user_id = b"Countersign <countersign@login.example.com>"
    certification = c.sign(
        SERVER, c.POSITIVE, c.user_id_content(SERVER.public, user_id), MADE, subpacket(27, b"\x01"))
    return (packet(6, SERVER.public.body) + packet(13, user_id) + packet(2, certification)
            + c.bind_subkey(SERVER, SERVER_SIGNING, 0x02, MADE) + b"".join(after_signing)
            + c.bind_subkey(SERVER, SERVER_ENCRYPTION, 0x0C, MADE))


DEVICE = DeviceKeys(key("device primary"), key("device authentication"), key("device encryption", ECDH))
DEVICE_CERTIFICATE = DEVICE.certificate(USER, ENROLLMENT, ISSUER, MADE)
PIN_KEY = key("device PIN", created=MADE + 60)
PIN_COMPONENT = c.bind_subkey(DEVICE.primary, PIN_KEY, 0x02, MADE + 60, c.method_notation("pin", ISSUER))
SERVER, SERVER_SIGNING = key("server primary"), key("server signing")
SERVER_ENCRYPTION = key("server encryption", ECDH)
SERVER_CERTIFICATE = server_certificate()


def keys_of(device: DeviceKeys) -> dict[str, str]:
    """The private keys of a device."""
    return {name: number(getattr(device, name).private) for name in ("primary", "authentication", "encryption")}


def armored(data: bytes) -> str:
    """A certificate in armor."""
    return c.armor("PUBLIC KEY BLOCK", data)


# PINs

def pin_cases() -> list[dict[str, Any]]:
    """The derivation of a PIN's key, with every value in between."""
    cases = []
    for name, pin, inputs, cost in [
            ("five digits", "83517", "a", 15), ("leading zeros", "0000", "b", 15), ("six digits", "471932", "c", 15),
            ("thirty-two digits", "12345678901234567890123456789012", "d", 15), ("a greater cost", "83517", "a", 16),
            ("another PIN of the same device", "83518", "a", 15)]:
        other = SecretKey.of(private(f"pin {inputs} point"), ECDH, 0)
        stored = c.StoredPIN(private(f"pin {inputs} agreement"), seed(f"pin {inputs} salt"), other.public.point, cost,
                             ASKED)
        primary = seed(f"pin {inputs} primary", 20)
        shared, stretched = stored.shared_secret(), stored.stretched(pin)
        candidate = stored.candidate(shared + stretched, primary, 0)
        made = stored.key(pin, primary)
        cases.append({
            "name": name, "pin": pin, "agreement_private_key": number(stored.agreement), "point": stored.point.hex(),
            "salt": stored.salt.hex(), "cost": cost, "created": stored.created,
            "primary_fingerprint": primary.hex().upper(), "shared_secret": shared.hex(),
            "stretched_pin": stretched.hex(), "input_keying_material": (shared + stretched).hex(),
            "pseudorandom_key": c.hmac.digest(stored.salt, shared + stretched, "sha256").hex(), "counter": 0,
            "info": (b"countersign pin v1" + primary + b"\0").hex(), "private_key": candidate.hex(),
            "public_key": made.public.point.hex(), "key_packet_body": made.public.body.hex(),
            "fingerprint": made.public.name})
    return cases


# Requests

PATCH_BODY = '{"push":null}'


def request_cases(keys: DeviceKeys, issuer: str, key_id: str, now: int) -> list[dict[str, Any]]:
    """Requests of a device, each right or with one fault."""
    get = "/v1/enrollments/self/challenges?wait=0"
    whole = ";created={created};nonce=\"{nonce}\";keyid=\"{key_id}\";alg=\"{alg}\";tag=\"{tag}\""
    cases: list[dict[str, Any]] = []

    def case(name: str, code: str | None = None, error: str | None = None, detail: str | None = None, *,
             method: str = "GET", path: str = get, body: str = "", names: list[str] | None = None,
             label: str = "sig", created: Any = None, nonce: str | None = None, signed_method: str | None = None,
             signed_uri: str | None = None, digest: str | None = None, parameters: str | None = None,
             signer: SecretKey | None = None, change: Any = None, **further: str) -> None:
        nonce = nonce or encode64url(seed(f"nonce {name} {now}", 18))
        values = {"@method": signed_method or method, "@target-uri": signed_uri or issuer + path}
        fields = dict(further)
        if body or digest is not None:
            fields["Content-Digest"] = values["content-digest"] = digest or c.content_digest(body.encode())
        if "Authorization" in fields:
            values["authorization"] = fields["Authorization"]
        names = list(values) if names is None else names
        listed = " ".join(f'"{each}"' for each in names)
        created = now if created is None else created
        written = f"({listed})" + (parameters or whole).format(
            created=created, nonce=nonce, key_id=key_id, alg="ecdsa-p256-sha256", tag="countersign")
        base = c.signature_base([(each, values.get(each.split('"')[0], "0")) for each in names], written)
        value = (signer or keys.authentication).raw_signature(base.encode())
        fields |= {"Signature-Input": f"{label}={written}", "Signature": f"{label}=:{c.encode64(value)}:"}
        if change:
            change(fields, value)
        cases.append({
            "name": name, "method": method, "target": path, "fields": dict(sorted(fields.items())), "body": body,
            "signature_base": base, "valid": code is None, "code": code, "error": error, "detail": detail})

    def put(name: str, make: Any) -> Any:
        def change(fields: dict[str, str], value: bytes) -> None:
            new = make(fields[name], value)
            if new is None:
                del fields[name]
            else:
                fields[name] = new
        return change

    def der(value: bytes) -> str:
        r, s = int.from_bytes(value[:32], "big"), int.from_bytes(value[32:], "big")
        return f"sig=:{c.encode64(c.utils.encode_dss_signature(r, s))}:"

    patch = {"method": "PATCH", "path": "/v1/enrollments/self", "body": PATCH_BODY}
    invalid, malformed = "signature_invalid", "the fields are not those of RFC 9421"

    def parameter(name: str) -> tuple[str, str, str]:
        return invalid, f"parameter({name})", f"the parameter {name} is not as it must be"

    def coverage(name: str) -> tuple[str, str, str]:
        return invalid, f"coverage({name})", f"{name} must be covered if and only if the request has it"

    case("a request without a body")
    case("a request with a body", **patch)
    case("components in another order", names=["content-digest", "@target-uri", "@method"], **patch)
    case("parameters in another order",
         parameters=";tag=\"{tag}\";alg=\"{alg}\";keyid=\"{key_id}\";nonce=\"{nonce}\";created={created}")
    case("another label", label="device-1")
    case("unnecessary blanks in the field", change=put("Signature-Input", lambda text, _: text.replace(
        "sig=(", "sig=(  ").replace('" "', '"   "').replace(";nonce", ";  nonce")))
    case("a second digest of another algorithm", digest="sha-512=:AAAA:, " + c.content_digest(PATCH_BODY.encode()),
        **patch)
    case("a nonce of sixteen characters", nonce="0123456789abcdef")
    case("a clock at the end of what is allowed", created=now - 60)
    case("a query that is percent-encoded", path=get + "&cursor=%61")
    case("no signature", "signature_missing", "missing", change=put("Signature", lambda *_: None))
    case("no parameters", "signature_missing", "missing", change=put("Signature-Input", lambda *_: None))
    case("a second signature", invalid, "several", "there must be exactly one signature",
         change=lambda fields, value: fields.update({
             "Signature-Input": fields["Signature-Input"] + ', proxy=("@method");created=1;keyid="proxy"',
             "Signature": fields["Signature"] + f", proxy=:{c.encode64(value)}:"}))
    case("labels that differ", invalid, "malformed", malformed, change=put("Signature", lambda text, _: "x" + text))
    case("a signature in ASN.1", invalid, "malformed", malformed, change=put("Signature", lambda _, value: der(value)))
    case("a component with a parameter", invalid, "malformed", malformed,
         change=put("Signature-Input", lambda text, _: text.replace('"@method"', '"@method";req')))
    case("a component that is listed twice", invalid, "malformed", malformed,
         names=["@method", "@target-uri", "@method"])
    case("a further component", *coverage("host"), names=["@method", "@target-uri", "host"], Host="login.example.com")
    case("the method is not covered", *coverage("@method"), names=["@target-uri"])
    case("the digest is not covered", *coverage("content-digest"), names=["@method", "@target-uri"], **patch)
    case("Authorization is not covered", *coverage("authorization"), names=["@method", "@target-uri"],
         Authorization="Basic YTpi")
    case("a body without a digest", *coverage("content-digest"), names=["@method", "@target-uri"],
         change=put("Content-Digest", lambda *_: None), **patch)
    case("a digest without a body", *coverage("content-digest"), digest=c.content_digest(b""))
    case("a further parameter", *parameter("expires"), parameters=whole + ";expires=4102444800")
    case("no time", *parameter("created"), parameters=whole.replace(";created={created}", ""))
    case("a time that is a string", *parameter("created"), parameters=whole.replace("{created}", '"{created}"'))
    case("no nonce", *parameter("nonce"), parameters=whole.replace(";nonce=\"{nonce}\"", ""))
    case("a nonce of fifteen characters", *parameter("nonce"), nonce="0123456789abcde")
    case("a nonce of sixty-five characters", *parameter("nonce"), nonce="0" * 65)
    case("no key", *parameter("keyid"), parameters=whole.replace(";keyid=\"{key_id}\"", ""))
    case("another algorithm", *parameter("alg"), parameters=whole.replace("{alg}", "ecdsa-p384-sha384"))
    case("another tag", *parameter("tag"), parameters=whole.replace("{tag}", "other"))
    case("no tag", *parameter("tag"), parameters=whole.replace(";tag=\"{tag}\"", ""))
    case("an enrollment that is not known", "unknown_enrollment",
         parameters=whole.replace("{key_id}", "enr_00000000000000000000000000"))
    wrong = (invalid, "invalid", "the signature does not verify")
    case("another method", *wrong, signed_method="POST")
    case("another host", *wrong, signed_uri=OTHER_ISSUER + get)
    case("another query", *wrong, signed_uri=issuer + get + "1")
    case("another spelling of the method", *wrong, signed_method="get")
    case("signed by the primary key", *wrong, signer=keys.primary)
    case("an altered signature", *wrong, change=put(
        "Signature", lambda _, value: f"sig=:{c.encode64(flipped(value, -1))}:"))
    case("another body", invalid, "digest", "the body is not the one that was signed",
         digest=c.content_digest(b'{"push":1}'), **patch)
    case("a digest of another algorithm alone", invalid, "digest", "the body is not the one that was signed",
         digest="sha-512=:AAAA:", **patch)
    case("a clock that is behind", "clock_skew", created=now - 61)
    case("a clock that is ahead", "clock_skew", created=now + 61)
    enrolling = {"method": "POST", "path": "/v1/enrollments", "body": compact({
        "ticket": "ctt_" + encode64url(seed("ticket")), "certificate": c.encode64(DEVICE_CERTIFICATE),
        "device": {"name": "My phone", "model": "Example 5", "system": "Example OS 17.1", "app": "ACME 3.1",
                   "storage": "software"},
        "versions": [1], "push": {
            "service": "apns", "app": "com.example.app", "environment": "production",
            "token": "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0"}})}
    fingerprint = keys.primary.public.name

    def named(name: str) -> str:
        return whole.replace("{key_id}", name)

    case("an enrollment", parameters=named(fingerprint), nonce="U7y7kVJVR79nnp1PheqXFI-k", **enrolling)
    case("an enrollment that names the id which it will have", *parameter("keyid"), **enrolling)
    case("an enrollment that names the fingerprint in lower case", *parameter("keyid"),
         parameters=named(fingerprint.lower()), **enrolling)
    case("an enrollment that names the authentication subkey", *parameter("keyid"),
         parameters=named(keys.authentication.public.name), **enrolling)
    case("an enrollment, signed by the primary key", *wrong, parameters=named(fingerprint), signer=keys.primary,
         **enrolling)
    case("a fingerprint in another request", "unknown_enrollment", parameters=named(fingerprint))
    return cases


# Challenges and receipts

def challenge_body(issuer: str = ISSUER, user: str = USER, enrollment: str = ENROLLMENT,
                   **changes: Any) -> dict[str, Any]:
    """The body of a challenge; None as a change leaves a member out."""
    body = {
        "v": 1, "kind": "challenge", "challenge": CHALLENGE,
        "nonce": "5f0c2b7d9e41a683f0c5d2b7a94e1836c7d05b2f9e1a64830f5c2d7b9ea41836", "issuer": issuer,
        "client": {"id": "cli_01m7yfdx0m5p3w9q8r7t6v5n4k", "name": "ACME Shop"}, "user": user,
        "enrollment": enrollment, "type": "payment", "methods": ["pin", "confirm"],
        "message": "Pay EUR 1,250.00 to ACME GmbH?", "details": [{"label": "Amount", "value": "EUR 1,250.00"}],
        "context": "Firefox on Windows, 203.0.113.7", "number_entry": 6, "attempts_left": 5,
        "asked_at": "2026-11-20T10:15:02Z", "expires_at": "2026-11-20T10:17:02.123Z", **changes}
    return present(body)


def receipt_cases() -> list[dict[str, Any]]:
    """Texts of receipts, texts that are none, and receipts that are signed."""
    cases: list[dict[str, Any]] = []
    answered = ASKED + 29

    def render(name: str, decision: str, method: str | None = None, number_: str | None = None,
               custom: bytes | None = None, **changes: Any) -> str:
        body = challenge_body(**changes)
        text = Receipt.of(body, DEVICE.primary.public, decision, answered, method, number_, custom).text
        cases.append({
            "name": name, "operation": "render", "body": compact(body), "device": DEVICE.primary.public.name,
            "decision": decision, "method": method, "number": number_,
            "sealed_custom_data": custom.hex() if custom else None, "answered": c.timestamp(answered), "text": text})
        return text

    plain = {"number_entry": None, "context": None, "details": []}
    good = render("approved by confirm, with a number", "approved", "confirm", "471932")
    by_pin = render("approved by PIN, with a number", "approved", "pin", "004711")
    render("approved by biometric", "approved", "biometric", methods=["biometric"], number_entry=None)
    custom = render("approved by a custom authenticator, with a number", "approved", "custom:phrase", "471932",
                    seed("sealed custom data", 40), methods=["custom:phrase"])
    render("approved by a custom authenticator, without a number", "approved", "custom:face-2", None,
           seed("sealed custom data", 40), methods=["custom:face-2"], **plain)
    render("approved, with as little as there may be", "approved", "confirm", **plain)
    denied = render("denied", "denied")
    render("reported", "reported", **plain)
    signing = render("signing data, in Unicode", "approved", "confirm", "471932", signing_data="Zahlung über 1 €\n")
    render("details in Unicode, one with an equals sign in its value", "approved", "confirm", "471932", details=[
        {"label": "Betrag", "value": "1.250,00 €"}, {"label": "Zweck", "value": "a = b = c"},
        {"label": "宛先", "value": "株式会社"}])
    tricky = render("a message of several lines that look like fields", "approved", "confirm", "471932",
                    message="decision: denied\n\n- message:\ndetail: A = B")
    render("a client's name with blanks and marks", "denied", client={
        "id": "cli_01m7yfdx0m5p3w9q8r7t6v5n4k", "name": "Café & Söhne, Nº 1"})
    render("another short message, a claim and a language, which are not signed", "approved", "confirm", "471932",
           alert="Pay ACME?", claimed=True, locale="de")

    def parse(name: str, error: str | None, text: str) -> None:
        cases.append({"name": name, "operation": "parse", "text": text, "error": error})

    def lines(text: str, old: str, new: str) -> str:
        c.require(text.count(old) == 1, f"{old!r} is not in the text once")
        return text.replace(old, new)

    parse("a message that looks like fields", None, tricky)
    parse("another version", "notAReceipt", lines(good, "receipt v1", "receipt v2"))
    parse("a removal notice", "notAReceipt", "Countersign removal notice v1\nissuer: https://login.example.com")
    parse("a blank before the first line", "notAReceipt", " " + good)
    for name, old, new in [
            ("a line for a logo after the client", "\nuser: ", "\nlogo: sha256:" + 64 * "0" + "\nuser: "),
            ("lower case in the client's id", "(cli_01", "(CLI_01")]:
        parse(name, "malformedField(user)" if "logo" in name else "malformedField(client)", lines(good, old, new))
    for field, name, old, new in [
            ("issuer", "an issuer with a path", "login.example.com", "login.example.com/"),
            ("issuer", "an issuer in upper case", "login.example.com", "LOGIN.example.com"),
            ("challenge", "an enrollment's id as the challenge", "challenge: chl_", "challenge: enr_"),
            ("nonce", "a nonce in upper case", "nonce: 5f0c2b", "nonce: 5F0C2B"),
            ("client", "a direction override in the client's name", "ACME Shop", "ACME\u202e Shop"),
            ("device", "a fingerprint that is too short", "device: ", "device: 00"),
            ("decision", "another decision", "decision: approved", "decision: maybe"),
            ("method", "an approval without a method", "method: confirm\n", ""),
            ("method", "another method", "method: confirm", "method: password"),
            ("method", "the number before the method", "method: confirm\nnumber: 471932",
             "number: 471932\nmethod: confirm"),
            ("number", "a number of five digits", "number: 471932", "number: 47193"),
            ("type", "custom data of another method", "type: payment", "custom-data: sha256:" + 64 * "0"
            + "\ntype: payment"),
            ("type", "a type in upper case", "type: payment", "type: Payment"),
            ("context", "a context that ends in a blank", "203.0.113.7\n", "203.0.113.7 \n"),
            ("asked", "two contexts", "\nasked: ", "\ncontext: twice\nasked: "),
            ("asked", "no time of asking", "asked: 2026-11-20T10:15:02Z\n", ""),
            ("answered", "a time that there is not", "answered: 2026-11-20T10:15:31Z",
            "answered: 2026-11-20T24:00:00Z"),
            ("detail", "a detail without a separator", "detail: Amount = EUR", "detail: Amount EUR"),
            ("message", "a blank after message:", "message:\n", "message: \n"),
            ("message", "no message", "message:\nPay EUR 1,250.00 to ACME GmbH?", "message:"),
            ("message", "a final line end", "ACME GmbH?", "ACME GmbH?\n"),
            ("message", "a carriage return in the message", "Pay EUR 1,250.00 to", "Pay EUR 1,250.00\r\nto"),
            ("message", "a blank at the end of a line", "Pay EUR 1,250.00 to", "Pay EUR 1,250.00 \nto"),
            ("message", "a message that is not normalized", "ACME GmbH?", "Cafe\u0301?"),
            ("message", "a zero width space", "ACME GmbH?", "ACME\u200b GmbH?"),
            ("message", "a character that Unicode 14 does not have", "ACME GmbH?", "\U0001fae8?")]:
        parse(name, f"malformedField({field})", lines(good, old, new))
    parse("a denial with a method", "malformedField(type)", lines(denied, "type: ", "method: confirm\ntype: "))
    parse("a custom authenticator without custom data", "malformedField(custom-data)",
          "\n".join(line for line in custom.split("\n") if not line.startswith("custom-data")))
    parse("a detail after the signing data", "malformedField(message)",
        lines(signing, "\nmessage:", "\ndetail: A = B\nmessage:"))
    parse("a time with milliseconds", "notCanonical", lines(good, "answered: 2026-11-20T10:15:31Z",
        "answered: 2026-11-20T10:15:31.000Z"))
    parse("a fingerprint in lower case", "notCanonical", lines(good, DEVICE.primary.public.name,
        DEVICE.primary.public.name.lower()))
    hash_ = signing.split("signing-data: sha256:")[1][:64]
    parse("a hash in upper case", "notCanonical", lines(signing, hash_, hash_.upper()))

    certificate = DEVICE_CERTIFICATE + PIN_COMPONENT
    retired = certificate + c.revocation(DEVICE.primary, PIN_KEY.public, ASKED + 60)
    stolen = certificate + compromised(DEVICE.primary, PIN_KEY, ASKED + 60)

    def verify(name: str, error: str | None, text: str, signer: SecretKey = DEVICE.primary,
               certificate_: bytes = certificate, at: int = answered, kind: int = c.TEXT,
               change: Any = lambda message: message) -> None:
        signature = c.sign(signer, kind, c.text_content(text), at, c.recipient(SERVER.public.fingerprint))
        cases.append({
            "name": name, "operation": "verify", "receipt": change(c.clear_text(text, signature)),
            "certificate": armored(certificate_), "now": ASKED + 3600, "error": error,
            "signer": signer.public.name if error is None else None})

    other = DeviceKeys(key("other primary"), key("other authentication"), key("other encryption", ECDH))
    verify("signed by the primary key, confirm", None, good)
    verify("signed by the primary key, denied", None, denied)
    verify("signed by the PIN's key", None, by_pin, PIN_KEY)
    verify("signed by a PIN's key that was superseded later", None, by_pin, PIN_KEY, retired)
    verify("lines that begin with a dash", None, tricky)
    verify("with CR LF as line ends", None, good, change=lambda message: message.replace("\n", "\r\n"))
    verify("by the PIN's key, but says confirm", "wrongSigner", good, PIN_KEY)
    verify("by the primary key, but says pin", "wrongSigner", by_pin)
    verify("by the PIN's key, but denied", "wrongSigner", denied, PIN_KEY)
    verify("by the authentication subkey", "signature(wrongKeyFlags)", good, DEVICE.authentication)
    verify("by a key that was compromised later", "signature(keyRevoked)", by_pin, PIN_KEY, stolen)
    verify("by a superseded key, after that", "signature(keyRevoked)", by_pin, PIN_KEY, retired, at=ASKED + 120)
    verify("by a key that the certificate does not have", "signature(unknownSigner)", good, other.primary)
    verify("the certificate of another device", "wrongDevice", good, other.primary,
           other.certificate(USER, ENROLLMENT, ISSUER, MADE))
    verify("an altered message", "signature(badSignature)", good,
        change=lambda text: text.replace("1,250.00 to", "9,250.00 to"))
    verify("dated before the key", "signature(badSignatureTime)", good, at=MADE - 1)
    verify("dated in the future", "signature(badSignatureTime)", good, at=ASKED + 3600 + 61)
    verify("a text that is no receipt", "text(notAReceipt)", "Hello")
    verify("another hash in the header", "signature(malformedCleartext)", good,
        change=lambda text: text.replace("SHA256", "SHA512"))
    verify("a second header", "signature(malformedCleartext)", good,
           change=lambda text: text.replace("Hash: SHA256\n", "Hash: SHA256\nHash: SHA512\n"))
    verify("no header", "signature(malformedCleartext)", good, change=lambda text: text.replace("Hash: SHA256\n", ""))
    verify("a blank at the end of a line", "signature(malformedCleartext)", good,
           change=lambda text: text.replace("type: payment\n", "type: payment \n"))
    verify("a line that begins with a dash that is not escaped", "signature(malformedCleartext)", tricky,
           change=lambda text: text.replace("\n- - message:", "\n- message:").replace("\n- message:", "\n-message:"))
    verify("text before the message", "signature(malformedCleartext)", good, change=lambda text: "Look:\n" + text)
    verify("a wrong checksum", "signature(armorChecksum)", good,
        change=lambda text: re.sub(r"\n=....\n", "\n=AAAA\n", text))
    verify("a signature over octets", "signature(unexpectedSignatureType(0))", good, kind=c.BINARY)
    return cases


# Sealed messages

def fixed(name: str) -> dict[str, Any]:
    """What is random in an encrypted message."""
    return {"session": seed(f"{name} session"), "ephemeral": private(f"{name} ephemeral"),
        "prefix": seed(f"{name} prefix", 16)}


def sealed(content: bytes, signature: bytes, signer: SecretKey, form: bytes, to: c.PublicKey, random: dict[str, Any],
           arrange: Any, change: Any) -> tuple[bytes, bytes]:
    """The packets of a message, and the message that holds them."""
    inner = c.signed_packets(content, signature, signer.public, form)
    inner = arrange(inner, content, signature) if arrange else inner
    message = c.encrypt(inner, to, **random)
    return inner, change(message) if change else message


# What can be wrong with a message besides its content.
WRAPPING = ("signer", "kind", "recipient", "at", "to", "arrange", "change")


def from_server(name: str, content: bytes, error: str | None, stage: str | None, *, signer: SecretKey = SERVER_SIGNING,
                kind: int = c.BINARY, recipient: bytes | None = DEVICE.primary.public.fingerprint, at: int = ASKED,
                to: SecretKey = DEVICE.encryption, arrange: Any = None, change: Any = None) -> dict[str, Any]:
    """The members of a case with a message of the server to the device."""
    further = c.recipient(recipient) if recipient else b""
    signature = c.sign(signer, kind, content if kind == c.BINARY else c.text_content(content.decode()), at, further)
    random = fixed(name)
    inner, message = sealed(content, signature, signer, b"b", to.public, random, arrange, change)
    return {
        "message": message.hex(), "session_key": random["session"].hex(), "packets": inner.hex(),
        "body": content.decode(errors="replace"), "valid": error is None, "stage": stage, "error": error,
        "signer": signer.public.name if error is None else None}


def challenge_message_cases() -> list[dict[str, Any]]:
    """Sealed challenges that a device must accept or refuse."""
    cases: list[dict[str, Any]] = []

    def case(name: str, error: str | None = None, stage: str | None = None, *, listed: str = CHALLENGE,
             now: int = ASKED + 10, content: bytes | None = None, **changes: Any) -> None:
        wrapping = {each: changes.pop(each) for each in WRAPPING if each in changes}
        body = compact(challenge_body(**changes)).encode() if content is None else content
        cases.append({"name": name, "challenge": listed, "now": now,
                      **from_server("challenge " + name, body, error, stage, **wrapping)})

    case("a challenge")
    case("as little as there may be", number_entry=None, attempts_left=None, context=None, details=[],
        methods=["confirm"])
    case("all members", alert="Pay ACME?", signing_data="{\"a\":1}", locale="de", claimed=True,
        methods=["confirm", "custom:phrase"])
    case("a member that is null counts as absent", content=compact({**challenge_body(), "context": None}).encode())
    case("members and methods that are not known", logo="x", methods=["retina", "confirm"])
    case("a minute after its end", now=ASKED + 120 + 59)
    other = packet(1, next(c.packets(c.encrypt(b"", key("other encryption", ECDH).public,
        **fixed("second recipient"))))[1])
    case("two recipients, of whom the second is the device", change=lambda message: other + message)
    opening = ["message"]
    case("for another recipient", "wrongIntendedRecipient", *opening, recipient=seed("nobody", 20))
    case("for the encryption subkey's fingerprint", "wrongIntendedRecipient", *opening,
         recipient=DEVICE.encryption.public.fingerprint)
    case("no recipient", "wrongIntendedRecipient", *opening, recipient=None)
    case("signed by another key", "unknownSigner", *opening, signer=key("other signing"))
    case("signed by the server's primary key", "wrongKeyFlags", *opening, signer=SERVER)
    case("dated before the key", "badSignatureTime", *opening, at=MADE - 1)
    case("dated in the future", "badSignatureTime", *opening, at=ASKED + 10 + 61)
    case("an altered octet", "decryptionFailed", *opening, change=lambda message: flipped(message, -40))
    case("an altered session key", "decryptionFailed", *opening,
         change=lambda message: flipped(message, 100))
    case("cut off", "truncated", *opening, change=lambda message: message[:-1])
    case("followed by a packet", "trailingData", *opening, change=lambda message: message + packet(60, b"x"))
    case("to another key", "notForThisKey", *opening, to=key("other encryption", ECDH))
    case("to a hidden recipient", "notForThisKey", *opening,
         change=lambda message: message.replace(DEVICE.encryption.public.key_id, bytes(8), 1))
    case("an altered text", "badSignature", *opening,
         arrange=lambda inner, body, signature: inner.replace(b"1,250.00 to", b"9,250.00 to"))
    case("not signed", "notSigned", *opening,
         arrange=lambda inner, body, signature: packet(11, b"b\0" + bytes(4) + body))
    case("signed twice", "severalSignatures", *opening,
         arrange=lambda inner, body, signature: inner + packet(2, signature))
    case("a signature before the text", "unexpectedPacket(2)", *opening,
         arrange=lambda inner, body, signature: packet(2, signature) + packet(11, b"b\0" + bytes(4) + body))
    case("compressed", "compressedData", *opening, arrange=lambda inner, body, signature: packet(8, b"\0" + inner))
    case("not encrypted", "notEncrypted", *opening, change=lambda message: packet(11, b"b\0" + bytes(4) + b"{}"))
    case("a signature over a text", "signatureType", "body", kind=c.TEXT)
    case("not JSON", "json", "body", content=b"Pay?")
    case("another version", "/v", "body", v=2)
    case("another kind", "/kind", "body", content=compact(challenge_body(kind="return")).encode())
    case("no nonce", "/nonce", "body", nonce=None)
    case("a time that is none", "/expires_at", "body", expires_at="2026-11-20T10:17:02.1Z")
    case("an invisible character in the message", "/message", "body", message="Pay\u200b?")
    case("an equals sign in a label", "/details/0", "body", details=[{"label": "a=b", "value": "c"}])
    case("a parenthesis in the client's name", "/client/name", "body",
         client={"id": "cli_01m7yfdx0m5p3w9q8r7t6v5n4k", "name": "ACME (Shop)"})
    case("another challenge than the list says", "challenge", "purpose", listed=OTHER_CHALLENGE)
    case("of another issuer", "issuer", "purpose", issuer=OTHER_ISSUER)
    case("for another user", "user", "purpose", user=OTHER_USER)
    case("for another enrollment", "enrollment", "purpose", enrollment=OTHER_ENROLLMENT)
    case("over by more than a minute", "expired", "purpose", now=ASKED + 120 + 61)
    case("only methods that are not known", "methods", "purpose", methods=["retina"])

    case("claimed by a link, with all members", alert="Pay ACME?", signing_data="{\"a\":1}", locale="pt-BR",
         claimed=True, return_uri="https://shop.example/done?order=4711")
    case("a new device", type="new-device", methods=["pin", "biometric"],
         message="A new device wants to be added to your account. Did you start this?",
         details=[{"label": "Device", "value": "My phone"}, {"label": "Model", "value": "Example 5"},
                  {"label": "System", "value": "Example OS 17.1"}, {"label": "App", "value": "ACME 3.1"},
                  {"label": "Fingerprint", "value": key("other primary").public.name}],
         context="203.0.113.7", expires_at="2026-11-21T10:15:02.345Z")
    case("no details at all", details=None)
    case("no wrong PIN left", attempts_left=0)
    for member, values in {
            "number_entry": {"five digits to type": 5, "seven digits to type": 7, "no digits to type": 0,
                             "digits to type that are a text": "6"},
            "attempts_left": {"fewer attempts than none": -1, "more attempts than a hundred": 101,
                              "attempts that are a text": "5"},
            "methods": {"methods that are a text": "confirm"}, "methods/1": {"a method that is a number": ["pin", 1]},
            "details": {"details that are an object": {"Amount": "EUR 1,250.00"}},
            "details/0/value": {"a detail without a value": [{"label": "Amount"}]},
            "locale": {"a language that is a number": 49}, "claimed": {"a claim that is a text": "true"},
            "signing_data": {"signing data that are an object": {"a": 1}},
            "return_uri": {
                "a URL to return to that is a number": 4711,
                "a URL to return to with a fragment": "https://shop.example/done#there",
                "a URL to return to with a code": "https://shop.example/done?return_code=1",
                "a URL to return to of a scheme without a dot": "javascript:alert(1)",
                "a URL to return to over http": "http://shop.example/done"}}.items():
        for name, value in values.items():
            case(name, f"/{member}", "body", **{member.split("/")[0]: value})
    case("no methods at all", "methods", "purpose", methods=None)
    case("an empty list of methods", "methods", "purpose", methods=[])
    case("a URL of an app, to which this device does not return", "return_uri", "purpose", claimed=True,
         return_uri="com.example.shop:/done")
    case("a URL of this machine, where the issuer is another", "return_uri", "purpose", claimed=True,
         return_uri="http://127.0.0.1:8080/done")
    return cases


def poll_cases() -> list[dict[str, Any]]:
    """Replies to a poll, and what a device reads in them."""
    cases: list[dict[str, Any]] = []
    bodies = {each: compact(challenge_body(challenge=each)) for each in (CHALLENGE, OTHER_CHALLENGE)}
    # The first message is that of the case "a challenge" of challenge.json.
    messages = {CHALLENGE: from_server("challenge a challenge", bodies[CHALLENGE].encode(), None, None)["message"],
                OTHER_CHALLENGE: from_server("poll", bodies[OTHER_CHALLENGE].encode(), None, None)["message"]}
    over = compact(challenge_body(challenge=OTHER_CHALLENGE, expires_at="2026-11-20T10:14:02.122Z"))

    def sealed_(message: str) -> str:
        return c.encode64(bytes.fromhex(message))

    def entry(challenge: str, **changes: Any) -> dict[str, Any]:
        listed = {"id": challenge, "expires_at": "2026-11-20T10:17:02.123Z", "message": sealed_(messages[challenge])}
        return {name: value for name, value in {**listed, **changes}.items() if value != ""}  # "" leaves one out

    def case(name: str, entries: list[Any], opened: list[str], fetched: tuple[str, ...] = (),
             cursor: str = "IIwE8sT0gs01KAU-", **further: Any) -> None:
        cases.append({
            "name": name, "reply": compact({"challenges": entries, "cursor": cursor, **further}), "cursor": cursor,
            "entries": [{"challenge": each, "body": bodies[each] if each in opened else None}
                        for each in (CHALLENGE, OTHER_CHALLENGE) if each in (*opened, *fetched)]})

    one, other = entry(CHALLENGE), entry(OTHER_CHALLENGE)
    case("one challenge", [one], [CHALLENGE])
    case("nothing", [], [], cursor="47DEQpj8HBSa-_TI")
    case("two challenges", [one, other], [CHALLENGE, OTHER_CHALLENGE])
    case("one without a message", [one, entry(OTHER_CHALLENGE, message="")], [CHALLENGE], (OTHER_CHALLENGE,))
    case("a message that is null", [entry(CHALLENGE, message=None)], [], (CHALLENGE,))
    case("members that are not known", [{**one, "type": "payment"}], [CHALLENGE], total=1)
    altered = flipped(bytes.fromhex(messages[CHALLENGE]), -40).hex()
    for name, broken in {
            "that is no object": CHALLENGE, "without an id": entry(CHALLENGE, id=""),
            "with the id of an enrollment": entry(CHALLENGE, id=ENROLLMENT),
            "without a time": entry(CHALLENGE, expires_at=""),
            "with a time that is none": entry(CHALLENGE, expires_at="soon"),
            "whose message is not base64": entry(CHALLENGE, message="<>"),
            "whose message was altered": entry(CHALLENGE, message=sealed_(altered)),
            "whose message is of another challenge": entry(
                CHALLENGE, message=sealed_(messages[OTHER_CHALLENGE]))}.items():
        case(f"an entry {name}, and one more", [broken, other], [OTHER_CHALLENGE])
    case("a challenge that is over, and one more", [one, entry(OTHER_CHALLENGE, message=sealed_(
        from_server("poll over", over.encode(), None, None)["message"]))], [CHALLENGE])
    return cases


def problem_cases() -> list[dict[str, Any]]:
    """Replies without success, and what a device does about them."""
    cases: list[dict[str, Any]] = []

    def case(name: str, reaction: str, status: int, code: str | None, title: str = "Refused",
             media: str = "application/problem+json", body: str | None = None, **members: Any) -> None:
        problem = {"type": f"{ISSUER}/docs/errors#{code}", "title": title, "status": status, "code": code,
                   "request_id": "req_" + seed(f"request {name}", 8).hex(), **members}
        cases.append({"name": name, "status": status, "media_type": media,
                      "body": compact(problem) if body is None else body, "code": code, "reaction": reaction})

    def notice(enrollment: str = ENROLLMENT, signer: SecretKey = SERVER_SIGNING) -> str:
        text = (f"Countersign removal notice v1\nissuer: {ISSUER}\nenrollment: {enrollment}\n"
                "removed: 2026-11-20T10:15:02Z\nreason: removed_by_client")
        return c.clear_text(text, c.sign(signer, c.TEXT, c.text_content(text), ASKED))

    ended, wrong, removed = "The challenge has ended", "The PIN is wrong", "The enrollment was removed"
    case("ended: denied on another device", "take_off", 409, "already_ended", ended,
         request_id="req_5d20c7f3b81ea964", state="denied", reason="declined")
    case("ended: approved on another device", "take_off", 409, "already_ended", ended, state="approved")
    case("ended: too many wrong answers", "take_off", 409, "already_ended", ended, state="failed",
         reason="too_many_attempts")
    case("ended: members that are not known", "take_off", 409, "already_ended", ended, state="expired", by="nobody")
    case("never put to the device", "take_off", 404, "challenge_not_found")
    case("a wrong PIN, four attempts left", "ask_again", 422, "pin_incorrect", wrong,
         request_id="req_c1a4e8902f6b73d5", attempts_left=4)
    case("a wrong PIN, the last", "tell", 422, "pin_incorrect", wrong, attempts_left=0)
    case("removed, with the server's notice", "delete", 403, "device_deregistered", removed,
         request_id="req_94e7d05ba3f2186c", notice=notice())
    case("removed, with a notice about another enrollment", "keep", 403, "device_deregistered", removed,
         notice=notice(OTHER_ENROLLMENT))
    case("removed, with a notice by another key", "keep", 403, "device_deregistered", removed,
         notice=notice(signer=key("other signing")))
    case("removed, with a notice by the device itself", "keep", 403, "device_deregistered", removed,
         notice=notice(signer=DEVICE.primary))
    case("removed, without a notice", "keep", 403, "device_deregistered", removed)
    case("not known", "keep", 401, "unknown_enrollment")
    case("too often", "wait", 429, "rate_limited", retry_after=60)
    case("a fault of the server", "repeat", 500, "internal_error")
    case("a code that is not known, of 4xx", "tell", 422, "moon_in_wrong_phase")
    case("a code that is not known, with 429", "wait", 429, "tide_too_high", retry_after=30)
    case("a code that is not known, of 5xx", "repeat", 507, "storage_full")
    case("a page of a proxy", "repeat", 502, None, media="text/html", body="<h1>Bad Gateway</h1>")
    case("a reply of a proxy that looks like a refusal", "repeat", 403, None, media="application/json",
         body='{"error":"forbidden"}')
    return cases


def answer_cases(keys: DeviceKeys, pin: SecretKey, server: c.Certificate, body: dict[str, Any], number_: str | None,
                 now: int, random: Any = fixed) -> list[dict[str, Any]]:
    """Sealed answers that the server must accept or refuse."""
    cases: list[dict[str, Any]] = []
    primary = server.fingerprint

    def case(name: str, error: str | None = None, stage: str | None = None, *, decision: str = "approved",
             method: str | None = "confirm", signer: SecretKey = keys.primary, further: bytes | None = None,
             at: int = now, kind: int = c.TEXT, form: bytes = b"u", lf: bool = False, text: str | None = None,
             to: c.PublicKey | None = None, arrange: Any = None, change: Any = None) -> None:
        chosen = number_ if decision == "approved" else None
        if text is None:
            text = Receipt.of(body, keys.primary.public, decision, now, method if decision == "approved" else None,
                chosen).text
        content = c.text_content(text)
        further = c.recipient(primary) if further is None else further
        signature = c.sign(signer, kind, text.encode() if kind == c.BINARY and lf else content, at, further)
        values = random("answer " + name)
        inner, message = sealed(text.encode() if lf else content, signature, signer, form,
                                to or server.encryption_key(now), values, arrange, change)
        cases.append({
            "name": name, "message": message.hex(),
            "ephemeral_private_key": number(values["ephemeral"]) if values else None,
            "session_key": values["session"].hex() if values else None, "prefix": values["prefix"].hex() if values
            else None,
            "packets": inner.hex(), "text": text, "signature": signature.hex(), "signature_created": at,
            "valid": error is None, "stage": stage, "error": error, "signer": signer.public.name})

    salt = b"\0\0\0\0\0\x1c\0\x20salt@notations.openpgpjs.org" + seed("salt")
    case("approved by confirm")
    case("denied", decision="denied")
    case("reported", decision="reported")
    case("approved by PIN", method="pin", signer=pin)
    case("no recipient, as GnuPG 2.2 writes it", further=b"")
    case("format t", form=b"t")
    case("format b, with LF", form=b"b", lf=True)
    case("a salt and the signer's user ID", further=c.recipient(primary) + subpacket(20, salt) + subpacket(28, b"a"))
    form = ["form"]
    case("a signature over octets", "type", *form, kind=c.BINARY)
    case("an end of the signature", "subpacket(3)", *form, further=subpacket(3, (86400).to_bytes(4, "big")))
    case("a policy", "subpacket(26)", *form, further=subpacket(26, b"https://example.com"))
    case("another notation", "subpacket(20)", *form, further=c.notation("note@example.com", "x"))
    case("a salt that is too long", "subpacket(20)", *form,
         further=subpacket(20, b"\0\0\0\0\0\x1c\0\x21salt@notations.openpgpjs.org" + seed("salt", 33)))
    case("more than 512 octets", "size", *form, further=subpacket(28, bytes(500)))
    case("for another recipient", "recipient", *form, further=c.recipient(seed("nobody", 20)))
    case("for the server and another recipient", "recipient", *form,
         further=c.recipient(primary) + c.recipient(seed("nobody", 20)))
    case("signed two minutes before it was asked", "time", *form, at=int(c.seconds(body["asked_at"])) - 120)
    case("signed two minutes after now", "time", *form, at=now + 120)
    opening = ["message"]
    case("an altered octet", "decryptionFailed", *opening,
         change=lambda message: flipped(message, -40))
    case("to another key", "notForThisKey", *opening, to=key("other encryption", ECDH).public)
    case("signed twice", "severalSignatures", *opening,
         arrange=lambda inner, content, signature: inner + packet(2, signature))
    case("not signed", "notSigned", *opening,
         arrange=lambda inner, content, signature: packet(11, b"u\0" + bytes(4) + c.text_content("x")))
    case("a critical subpacket that is not known", "unknownCriticalSubpacket(101)", *opening,
        further=subpacket(0x80 | 101, b"x"))
    case("a packet of padding", "trailingData", *opening,
         arrange=lambda inner, content, signature: inner + packet(21, b"x"))
    case("the text of another message", "text", "text", text=Receipt.of(
        {**body, "message": "Pay nothing?"}, keys.primary.public, "approved", now, "confirm", number_).text)
    case("by a key that is not the device's", "signer", "signer",
        signer=key("other primary", created=keys.primary.public.created))
    case("confirm, by the authentication subkey", "signer", "signer", signer=keys.authentication)
    case("an altered signature", "signer", "signer",
         arrange=lambda inner, content, signature: flipped(inner, -1))
    case("approved by PIN, by the primary key", "wrongPIN", "signer", method="pin")
    return cases


# Certificates

def certificate_cases(keys: DeviceKeys, user: str, enrollment: str, issuer: str, at: int,
    now: int) -> list[dict[str, Any]]:
    """Certificates of devices, each right or with one fault."""
    cases: list[dict[str, Any]] = []
    primary, authentication, encryption = keys.primary, keys.authentication, keys.encryption
    name_ = f"{user} <{enrollment}@{c.host(issuer)}>"
    uid_content = c.user_id_content(primary.public, name_.encode())
    standard = keys.certificate(user, enrollment, issuer, at)

    def uid(further: bytes = b"", flags: bytes = b"\x03", kind: int = c.POSITIVE, time: int = at, name: str = name_,
            unhashed: bytes = b"") -> bytes:
        content = c.user_id_content(primary.public, name.encode())
        return packet(13, name.encode()) + packet(
            2, c.sign(primary, kind, content, time, subpacket(27, flags) + further, unhashed))

    def sub(subkey: SecretKey, flags: int, further: bytes = b"", time: int = at) -> bytes:
        return c.bind_subkey(primary, subkey, flags, time, further)

    def case(name: str, refusal: str | None = None, *, key_: bytes = packet(6, primary.public.body),
        user_id: bytes = uid(),
             auth: bytes = sub(authentication, 0x20), encrypt: bytes = sub(encryption, 0x0C), more: bytes = b"",
             direct: bytes = b"", canonical: bytes | None = None) -> None:
        data = key_ + direct + user_id + auth + encrypt + more
        cases.append({"name": name, "certificate": data.hex(), "valid": refusal is None, "refusal": refusal,
                      "canonical": (canonical or data).hex() if refusal is None else None})

    def legacy(data: bytes) -> bytes:
        return b"".join(bytes([0x80 | tag << 2 | 1]) + len(body).to_bytes(2, "big") + body for tag,
            body in c.packets(data))

    preferences = (subpacket(11, b"\x09") + subpacket(21, b"\x08") + subpacket(22, b"\0") + subpacket(30, b"\x01")
                   + subpacket(23, b"\x80") + subpacket(25, b"\x01"))
    other, further = key("other primary", created=at), key("further", created=at)
    by_other = packet(2, c.sign(other, 0x10, uid_content, at))
    later = at + 1
    case("the certificate of a device")
    case("with preferences and features", user_id=uid(preferences))
    case("the subkeys in the other order", auth=sub(encryption, 0x0C), encrypt=sub(authentication, 0x20))
    case("a certification of type 0x10", user_id=uid(kind=0x10))
    case("flags of two octets", user_id=uid(flags=b"\x03\0"))
    case("packets of the legacy format", key_=legacy(standard), user_id=b"", auth=b"", encrypt=b"", canonical=standard)
    case("further subpackets that are not signed", user_id=uid(unhashed=subpacket(100, b"x")), canonical=standard)
    case("no packets", "openPGP(truncated)", key_=b"", user_id=b"", auth=b"", encrypt=b"")
    case("no user ID", "openPGP(unboundComponent(13))", user_id=b"")
    case("a user ID that is not certified", "openPGP(unboundComponent(13))", user_id=packet(13, name_.encode()))
    case("a subkey that is not bound", "openPGP(unboundComponent(14))", auth=packet(14, authentication.public.body))
    case("a signature that does not verify", "openPGP(badSignature)",
         auth=flipped(sub(authentication, 0x20), -1))
    case("a signing subkey without a back signature", "openPGP(unboundComponent(14))",
         more=packet(14, further.public.body) + statement(primary, c.BINDING, further, at, subpacket(27, b"\x02")))
    case("a secret key", "openPGP(unexpectedPacket(5))", key_=packet(5, primary.public.body))
    case("a photo of the user", "openPGP(unexpectedPacket(17))", more=packet(17, b"x"))
    case("a critical subpacket that is not known", "openPGP(unknownCriticalSubpacket(101))",
        user_id=uid(subpacket(0x80 | 101, b"x")))
    case("the key on another curve", "openPGP(unsupportedCurve)",
         key_=packet(6, primary.public.body.replace(c.OID, b"\x05\x2b\x81\x04\x00\x22")))
    case("a key of version 6", "openPGP(unsupportedVersion(6, version: 6))",
        key_=packet(6, b"\x06" + primary.public.body[1:]))
    case("a key of Ed25519", "openPGP(unsupportedKeyAlgorithm(27))",
        key_=packet(6, primary.public.body[:5] + b"\x1b" + seed("ed")))
    case("another user ID", "userID", user_id=uid(name=f"{user} <{enrollment}@other.example>"))
    case("the user ID with the port", "userID", user_id=uid(name=f"{user} <{enrollment}@{c.host(issuer)}:8443>"))
    case("two user IDs", "userID", user_id=uid() + uid(name="second"))
    case("the primary key only certifies", "keys", user_id=uid(flags=b"\x01"))
    case("the primary key authenticates, too", "keys", user_id=uid(flags=b"\x23"))
    case("the primary key without flags", "keys", user_id=packet(13, name_.encode()) + packet(
        2, c.sign(primary, c.POSITIVE, uid_content, at)))
    case("no encryption subkey", "keys", encrypt=b"")
    case("only one kind of encryption", "keys", encrypt=sub(encryption, 0x04))
    case("an ECDSA subkey for encryption", "keys", encrypt=sub(further, 0x0C))
    case("a further subkey", "keys", more=sub(further, 0x20))
    case("a subkey for a PIN at enrollment", "keys",
         more=sub(further, 0x02, c.method_notation("pin", issuer)))
    case("a key that expires", "time", auth=sub(authentication, 0x20, subpacket(9, (86400).to_bytes(4, "big"))))
    case("a signature that expires", "time", auth=sub(authentication, 0x20, subpacket(3, (86400).to_bytes(4, "big"))))
    case("a lifetime of zero", "time", auth=sub(authentication, 0x20, subpacket(9, bytes(4))))
    case("a subkey of the future", "time", auth=sub(key("future", created=now + 3600), 0x20, time=now + 3600))
    case("a signature of the future", "time", auth=sub(authentication, 0x20, time=now + 3600))
    case("a signature that is older than its key", "time",
         auth=sub(SecretKey.of(authentication.private, ECDSA, later), 0x20, time=at))
    case("a revoked subkey", "time", auth=sub(authentication, 0x20) + c.revocation(primary, authentication.public, at))
    case("two certifications", "signatures", user_id=uid() + packet(2, c.sign(
        primary, c.POSITIVE, uid_content, at, subpacket(27, b"\x03") + preferences)))
    case("two bindings", "signatures", auth=sub(authentication, 0x20) + statement(
        primary, c.BINDING, authentication, later, subpacket(27, b"\x20")))
    case("a signature on the key itself", "signatures", direct=packet(2, c.sign(
        primary, c.DIRECT, primary.public.hashed, at, subpacket(27, b"\x03"))))
    case("a certification by somebody else", "foreignSignature", user_id=uid() + by_other)
    case("a subpacket that may not be there", "subpacket(26)", user_id=uid(subpacket(26, b"https://example.com")))
    case("the same point twice", "repeatedPoint", auth=sub(SecretKey.of(encryption.private, ECDSA, at), 0x20))
    case("a signature of more than 512 octets", "signatureSize(512)",
        user_id=uid(c.notation("note@example.com", "x" * 500)))
    case("more than 4096 octets", "size(4096)", user_id=uid(c.notation("note@example.com", "x" * 4000)))
    return cases


# Changes of methods

def change_cases(keys: DeviceKeys, pin: SecretKey, user: str, enrollment: str, issuer: str, nonce: str, made: int,
                 now: int) -> list[dict[str, Any]]:
    """Changes of methods: texts, and what they do to the certificate that the server has."""
    cases: list[dict[str, Any]] = []
    primary = keys.primary
    enrolled = keys.certificate(user, enrollment, issuer, made)
    head = packet(6, primary.public.body) + c.bind_user_id(primary, f"{user} <{enrollment}@{c.host(issuer)}>", made)
    new_pin, biometric = key("new PIN", created=now), key("biometric", created=now)
    for_pin = c.method_notation("pin", issuer)
    bound_pin = c.bind_subkey(primary, pin, 0x02, pin.public.created, for_pin)
    set_pin = enrolled + bound_pin
    revoked = c.revocation(primary, pin.public, now)

    def bind(subkey: SecretKey, statements: bytes = for_pin, flags: int = 0x02, at: int = now) -> bytes:
        return c.bind_subkey(primary, subkey, flags, at, statements)

    def change(name: str, stored: bytes, method: str, old: SecretKey | None, new: SecretKey | None, sent: bytes,
               grown: bytes | None, refusal: str | None = None) -> None:
        names = [each.public.name if each else None for each in (old, new)]
        cases.append({
            "name": name, "operation": "change", "nonce": nonce, "method": method, "old": names[0], "new": names[1],
            "certificate": sent.hex(), "text": c.change_text(issuer, enrollment, nonce, method, names[0], names[1],
            sent),
            "stored_certificate": stored.hex(), "now": now, "valid": refusal is None, "refusal": refusal,
            "grown_certificate": grown.hex() if grown else None})

    first = bind(new_pin)
    change("a first PIN", enrolled, "pin", None, new_pin, head + first, enrolled + first)
    change("a first PIN, with the whole certificate", enrolled, "pin", None, new_pin,
           enrolled + first, enrolled + first)
    change("a first PIN, with a user ID that is bound anew", enrolled, "pin", None, new_pin,
           c.pin_certificate(primary, user, enrollment, issuer, new_pin, now), enrolled + first)
    change("a replaced PIN", set_pin, "pin", pin, new_pin, head + bound_pin + revoked + first, set_pin + revoked
        + first)
    change("a replaced PIN, its old key bound anew", set_pin, "pin", pin, new_pin,
           head + bind(pin) + revoked + first, set_pin + revoked + first)
    change("a removed PIN", set_pin, "pin", pin, None, head + bound_pin + revoked, set_pin + revoked)
    face = bind(biometric, c.method_notation("biometric", issuer))
    change("a first biometric, beside a PIN", set_pin, "biometric", None, biometric, head + face, set_pin + face)
    for name, refusal, sent in [
            ("no notation", "keys", head + bind(new_pin, b"")),
            ("a notation of another method", "keys", head + bind(new_pin, c.method_notation("biometric", issuer))),
            ("a notation with a port", "keys", head + bind(new_pin,
            c.notation(f"method@{c.host(issuer)}:8443", "pin"))),
            ("two notations", "keys", head + bind(new_pin, for_pin + for_pin)),
            ("a key that also authenticates", "keys", head + bind(new_pin, flags=0x22)),
            ("the new key is missing", "keys", head),
            ("a further key", "keys", head + first + bind(biometric)),
            ("another user ID", "userID", head + packet(13, b"x") + packet(2, c.sign(
                primary, c.POSITIVE, c.user_id_content(primary.public, b"x"), made, subpacket(27, b"\x03"))) + first),
            ("a key that expires", "time", head + bind(new_pin, for_pin + subpacket(9, (86400).to_bytes(4, "big")))),
            ("no back signature", "openPGP(unboundComponent(14))", head + packet(14, new_pin.public.body)
            + statement(primary, c.BINDING, new_pin, now, subpacket(27, b"\x02") + for_pin)),
            ("a point that is in use", "repeatedPoint", None),
            ("the certificate of another device", "openPGP(differentCertificate)", None)]:
        new = new_pin
        if refusal == "repeatedPoint":
            new = SecretKey.of(keys.authentication.private, ECDSA, now)
            sent = head + bind(new)
        if sent is None:
            sent = c.pin_certificate(key("other primary"), user, enrollment, issuer, new_pin, now)
        change("a first PIN: " + name, enrolled, "pin", None, new, sent, None, refusal)
    for name, refusal, revocation in [
            ("the old key is not revoked", "time", b""),
            ("the old key is revoked as compromised", "time", compromised(primary, pin, now)),
            ("revoked ten minutes ago", "time", c.revocation(primary, pin.public, now - 600)),
            ("revoked in an hour", "time", c.revocation(primary, pin.public, now + 3600))]:
        change("a replaced PIN: " + name, set_pin, "pin", pin, new_pin,
               head + bound_pin + revocation + first, None, refusal)
    change("a replaced PIN: the encryption subkey is revoked, too", set_pin, "pin", pin, new_pin,
           head + bound_pin + revoked + c.bind_subkey(primary, keys.encryption, 0x0C, made)
           + c.revocation(primary, keys.encryption.public, now) + first, None, "signatures")

    sealed = seed("sealed custom data", 40)
    for name, data in (("a custom authenticator that is registered", sealed),
        ("a custom authenticator that is deregistered", None)):
        cases.append({
            "name": name, "operation": "custom", "nonce": nonce, "authenticator": "phrase",
            "sealed_custom_data": data.hex() if data else None,
            "text": c.custom_change_text(issuer, enrollment, nonce, "phrase", data)})
    for name, data_ in (("custom data", "blue horse"), ("custom data in Unicode", "blaues Pferd, größer"),
        ("no custom data", "")):
        cases.append({"name": name, "operation": "custom-data", "data": data_, "text": c.custom_data_text(data_)})

    good = c.change_text(issuer, enrollment, nonce, "pin", pin.public.name, new_pin.public.name, b"certificate")
    for name, text in [
            ("a text that is a change", good),
            ("another version", good.replace("change v1", "change v2")),
            ("a method that has no key", good.replace("method: pin", "method: confirm")),
            ("new before old", "\n".join(good.split("\n")[:5]
            + [good.split("\n")[6], good.split("\n")[5], good.split("\n")[7]])),
            ("neither old nor new", "\n".join(good.split("\n")[:5] + good.split("\n")[7:])),
            ("old and new are the same", good.replace(new_pin.public.name, pin.public.name)),
            ("a fingerprint in lower case", good.replace(new_pin.public.name, new_pin.public.name.lower())),
            ("no certificate", "\n".join(good.split("\n")[:7])),
            ("base64 without padding", good.rstrip("=")),
            ("a final line end", good + "\n"),
            ("a further line", good + "\nnote: x"),
            ("CR LF as line ends", good.replace("\n", "\r\n"))]:
        cases.append({"name": "text: " + name, "operation": "parse", "text": text, "valid": text == good})
    return cases


# Removal notices

def notice_cases() -> list[dict[str, Any]]:
    """Removal notices that a device must believe, or not."""
    cases: list[dict[str, Any]] = []

    def notice(issuer: str = ISSUER, enrollment: str = ENROLLMENT, removed: str = c.timestamp(ASKED),
               reason: str = "removed_by_client") -> str:
        return (f"Countersign removal notice v1\nissuer: {issuer}\nenrollment: {enrollment}\nremoved: {removed}\n"
                f"reason: {reason}")

    def case(name: str, error: str | None = None, stage: str | None = None, *, text: str = notice(),
             signer: SecretKey = SERVER_SIGNING, kind: int = c.TEXT, at: int = ASKED,
             certificate: bytes = SERVER_CERTIFICATE, change: Any = lambda message: message) -> None:
        signature = c.sign(signer, kind, c.text_content(text), at)
        cases.append({
            "name": name, "notice": change(c.clear_text(text, signature)), "text": text,
            "certificate": armored(certificate), "valid": error is None, "stage": stage, "error": error,
            "signer": signer.public.name if error is None else None})

    second = key("server second signing", created=MADE + 60)
    bound = c.bind_subkey(SERVER, second, 0x02, MADE + 60)
    case("removed by the client")
    case("removed for a wrong PIN", text=notice(reason="wrong_pin"))
    case("a word that a later version may have", text=notice(reason="eaten_by_2_dogs"))
    case("a word of sixty-four letters", text=notice(reason=64 * "a"))
    case("removed long before it was signed", text=notice(removed="2026-11-19T23:59:59Z"))
    case("signed by a second subkey", signer=second, certificate=server_certificate(bound))
    case("with CR LF as line ends", change=lambda message: message.replace("\n", "\r\n"))
    case("without a checksum", change=lambda message: re.sub(r"\n=....\n", "\n", message))
    case("a clock of the server that is a minute ahead", at=ASKED + 120)
    opening = ["message"]
    case("an altered enrollment", "badSignature", *opening,
         change=lambda message: message.replace(ENROLLMENT, OTHER_ENROLLMENT))
    case("signed by another key", "unknownSigner", *opening, signer=key("other signing"))
    case("signed by the server's primary key", "wrongKeyFlags", *opening, signer=SERVER)
    case("signed by the device's primary key", "unknownSigner", *opening, signer=DEVICE.primary)
    case("signed by a key that was compromised", "keyRevoked", *opening,
         certificate=server_certificate(compromised(SERVER, SERVER_SIGNING, ASKED + 30), bound))
    case("a signature over octets", "unexpectedSignatureType(0)", *opening, kind=c.BINARY)
    case("dated before the key", "badSignatureTime", *opening, at=MADE - 1)
    case("dated in the future", "badSignatureTime", *opening, at=ASKED + 121)
    case("no header", "malformedCleartext", *opening, change=lambda message: message.replace("Hash: SHA256\n", ""))
    case("another hash in the header", "malformedCleartext", *opening,
         change=lambda message: message.replace("SHA256", "SHA512"))
    case("a blank at the end of a line", "malformedCleartext", *opening,
         change=lambda message: message.replace("\nremoved", " \nremoved"))
    case("a line before the message", "malformedCleartext", *opening, change=lambda message: "Removed.\n" + message)
    case("no signature", "malformedCleartext", *opening, change=lambda message: message.split("-----BEGIN PGP SIG")[0])
    case("a wrong checksum", "armorChecksum", *opening,
         change=lambda message: re.sub(r"\n=....\n", "\n=AAAA\n", message))
    case("signed by a key that was superseded later", "revoked", "signer",
         certificate=server_certificate(c.revocation(SERVER, SERVER_SIGNING.public, ASKED + 30), bound))
    for name, text in [
            ("of another issuer", notice(issuer=OTHER_ISSUER)),
            ("of the issuer with a slash", notice(issuer=ISSUER + "/")),
            ("of another enrollment", notice(enrollment=OTHER_ENROLLMENT)),
            ("of the user instead of the enrollment", notice(enrollment=USER)),
            ("another version", notice().replace("notice v1", "notice v2")),
            ("a time with milliseconds", notice(removed="2026-11-20T10:15:02.000Z")),
            ("a time that there is not", notice(removed="2026-02-30T10:15:02Z")),
            ("a time of another zone", notice(removed="2026-11-20T10:15:02+00:00")),
            ("a reason in upper case", notice(reason="LOST")),
            ("two words as the reason", notice(reason="wrong pin")),
            ("a reason of sixty-five letters", notice(reason=65 * "a")),
            ("no reason", "\n".join(notice().split("\n")[:4])),
            ("a further line", notice() + "\nnote: x"),
            ("a final line end", notice() + "\n"),
            ("lines in another order", "\n".join(sorted(notice().split("\n")))),
            ("a receipt", Receipt.of(
                challenge_body(), DEVICE.primary.public, "denied", ASKED + 29).text)]:
        case(name, "text", "text", text=text)
    return cases


# Acts on other devices

BIOMETRIC_KEY = key("biometric", created=MADE + 60)
BIOMETRIC_COMPONENT = c.bind_subkey(
    DEVICE.primary, BIOMETRIC_KEY, 0x02, MADE + 60, c.method_notation("biometric", ISSUER))


def act_cases(now: int) -> list[dict[str, Any]]:
    """Acts of a device with a PIN and a biometric, as the server gets them, and texts that are acts or not."""
    cases: list[dict[str, Any]] = []

    def text_of(act: str = "suspend", device: str = OTHER_ENROLLMENT, issuer: str = ISSUER,
                enrollment: str = ENROLLMENT, nonce: str = NONCE) -> str:
        return c.act_text(issuer, enrollment, nonce, act, device)

    def case(name: str, error: str | None = None, stage: str | None = None, *, act: str = "suspend",
             text: str | None = None, signer: SecretKey = PIN_KEY, recipient: bytes = c.recipient(
                 SERVER.public.fingerprint), kind: int = c.TEXT, at: int = now, form: bytes = b"u",
             to: SecretKey = SERVER_ENCRYPTION, arrange: Any = None, change: Any = None) -> None:
        text = text_of(act) if text is None else text
        content = c.text_content(text)
        signature = c.sign(signer, kind, content, at, recipient)
        random = fixed("act " + name)
        inner, message = sealed(text.encode() if form == b"b" else content, signature, signer, form, to.public, random,
                                arrange, change)
        methods = {PIN_KEY.public.name: "pin", BIOMETRIC_KEY.public.name: "biometric"}
        cases.append({
            "name": name, "operation": "act", "act": act, "device": OTHER_ENROLLMENT, "message": message.hex(),
            "session_key": random["session"].hex(), "packets": inner.hex(), "text": text, "valid": error is None,
            "stage": stage, "error": error, "method": methods[signer.public.name] if error is None else None})

    case("suspended, signed by the PIN's key")
    case("resumed, signed by the biometric's key", act="resume", signer=BIOMETRIC_KEY)
    case("removed, signed by the PIN's key", act="remove")
    case("format t", form=b"t")
    case("format b, with LF", form=b"b")
    opening, texts, signers = ["message"], ["text"], ["signer"]
    case("for another recipient", "wrongIntendedRecipient", *opening, recipient=c.recipient(seed("nobody", 20)))
    case("for the encryption subkey's fingerprint", "wrongIntendedRecipient", *opening,
         recipient=c.recipient(SERVER_ENCRYPTION.public.fingerprint))
    case("no recipient, as GnuPG 2.2 writes it", "wrongIntendedRecipient", *opening, recipient=b"")
    case("an altered octet", "decryptionFailed", *opening, change=lambda message: flipped(message, -40))
    case("to another key", "notForThisKey", *opening, to=key("other encryption", ECDH))
    case("signed twice, by the primary key, too", "severalSignatures", *opening,
         arrange=lambda inner, content, signature: inner + packet(
             2, c.sign(DEVICE.primary, c.TEXT, content, now, c.recipient(SERVER.public.fingerprint))))
    case("not signed", "notSigned", *opening,
         arrange=lambda inner, content, signature: packet(11, b"u\0" + bytes(4) + content))
    case("another act than the path says", "act", *texts, text=text_of("remove"))
    case("another device than the path says", "device", *texts, text=text_of(device="enr_01m7yfdsqjqckvr59wm88r0aex"))
    case("of another issuer", "issuer", *texts, text=text_of(issuer=OTHER_ISSUER))
    case("of another enrollment", "enrollment", *texts, text=text_of(enrollment=OTHER_ENROLLMENT))
    case("another nonce", "nonce", *texts, text=text_of(nonce=NONCE[:-1] + "1"))
    case("a change of methods", "text", *texts, text=c.custom_change_text(ISSUER, ENROLLMENT, NONCE, "phrase", None))
    case("by the primary key", "wrongPIN", *signers, signer=DEVICE.primary)
    case("by the authentication subkey", "wrongPIN", *signers, signer=DEVICE.authentication)
    case("by a key that is not the device's", "wrongPIN", *signers, signer=key("other PIN"))
    case("an altered signature of the PIN's key", "signer", *signers,
         arrange=lambda inner, content, signature: flipped(inner, -1))
    case("an altered signature of the biometric's key", "wrongPIN", *signers, signer=BIOMETRIC_KEY,
         arrange=lambda inner, content, signature: flipped(inner, -1))
    case("a signature over octets", "signer", *signers, kind=c.BINARY)
    case("dated two minutes after now", "signer", *signers, at=now + 120)
    case("dated before the PIN's key", "signer", *signers, at=MADE)

    good = text_of()
    lines = good.split("\n")
    for name, text in [
            ("a text that is an act", good), ("resume", text_of("resume")), ("remove", text_of("remove")),
            ("another version", good.replace("act v1", "act v2")),
            ("another act", good.replace("act: suspend", "act: approve")),
            ("an act in upper case", good.replace("act: suspend", "act: Suspend")),
            ("a nonce in upper case", good.replace("abad", "ABAD")),
            ("a user as the device", good.replace(f"device: {OTHER_ENROLLMENT}", f"device: {USER}")),
            ("no nonce", "\n".join(lines[:3] + lines[4:])),
            ("device before act", "\n".join(lines[:4] + [lines[5], lines[4]])),
            ("no blank after the colon", good.replace("act: ", "act:")),
            ("a blank at the end of a line", good.replace("suspend\n", "suspend \n")),
            ("a further line", good + "\nnote: x"),
            ("a final line end", good + "\n"),
            ("CR LF as line ends", good.replace("\n", "\r\n"))]:
        is_act = text in (good, text_of("resume"), text_of("remove"))
        cases.append({"name": "text: " + name, "operation": "parse", "text": text, "valid": is_act})
    return cases


# Links

def return_cases() -> list[dict[str, Any]]:
    """Return messages that a device must accept or refuse, and URLs to which it goes back."""
    cases: list[dict[str, Any]] = []
    place, code = "https://shop.example/done?order=4711", seed("return code", 16).hex()

    def members(**changes: Any) -> dict[str, Any]:
        return present({
            "v": 1, "kind": "return", "issuer": ISSUER, "challenge": CHALLENGE, "enrollment": ENROLLMENT,
            "code": code, **changes})

    def case(name: str, error: str | None = None, stage: str | None = None, *, content: bytes | None = None,
             **changes: Any) -> None:
        wrapping = {each: changes.pop(each) for each in WRAPPING if each in changes}
        body = compact(members(**changes)).encode() if content is None else content
        is_good = error is None
        cases.append({
            "name": name, "operation": "message", "challenge": CHALLENGE, "return_uri": place, "now": ASKED + 30,
            **from_server("return " + name, body, error, stage, at=wrapping.pop("at", ASKED + 29), **wrapping),
            "code": code if is_good else None, "url": f"{place}&return_code={code}" if is_good else None})

    case("a return message")
    case("members that are not known", logo="x", expires_at="2026-11-20T10:17:31.000Z")
    opening, form, purpose = ["message"], ["body"], ["purpose"]
    case("for another recipient", "wrongIntendedRecipient", *opening, recipient=seed("nobody", 20))
    case("no recipient", "wrongIntendedRecipient", *opening, recipient=None)
    case("signed by another key", "unknownSigner", *opening, signer=key("other signing"))
    case("signed by the server's primary key", "wrongKeyFlags", *opening, signer=SERVER)
    case("signed by the device itself", "unknownSigner", *opening, signer=DEVICE.primary)
    case("dated in the future", "badSignatureTime", *opening, at=ASKED + 30 + 61)
    case("an altered octet", "decryptionFailed", *opening, change=lambda message: flipped(message, -40))
    case("an altered code", "badSignature", *opening, arrange=lambda inner, content, signature: inner.replace(
        code.encode(), code[::-1].encode()))
    case("to another key", "notForThisKey", *opening, to=key("other encryption", ECDH))
    case("not signed", "notSigned", *opening,
         arrange=lambda inner, content, signature: packet(11, b"b\0" + bytes(4) + content))
    case("not encrypted", "notEncrypted", *opening,
         change=lambda message: packet(11, b"b\0" + bytes(4) + compact(members()).encode()))
    case("a signature over a text", "signatureType", *form, kind=c.TEXT)
    case("not JSON", "json", *form, content=code.encode())
    case("another version", "/v", *form, v=2)
    case("another kind", "/kind", *form, content=compact(members(kind="challenge")).encode())
    case("a malformed challenge", "/challenge", *form, challenge="4711")
    case("no enrollment", "/enrollment", *form, enrollment=None)
    case("no code", "/code", *form, content=compact(members(code=None)).encode())
    case("an empty code", "/code", *form, content=compact(members(code="")).encode())
    case("a code that would change the URL", "/code", *form, content=compact(members(code="a&b=c")).encode())
    case("a code that is a number", "/code", *form, content=compact(members(code=4711)).encode())
    case("of another issuer", "issuer", *purpose, issuer=OTHER_ISSUER)
    case("of another challenge", "challenge", *purpose, challenge=OTHER_CHALLENGE)
    case("of another enrollment", "enrollment", *purpose, enrollment=OTHER_ENROLLMENT)

    long = "https://shop.example/" + "a" * 1979
    for name, uri, url in [
            ("a path alone", "https://shop.example/done", "https://shop.example/done?return_code="),
            ("a query", place, place + "&return_code="),
            ("an empty query", "https://shop.example/done?", "https://shop.example/done?return_code="),
            ("a question mark in the query", "https://shop.example/?a=b?c", "https://shop.example/?a=b?c&return_code="),
            ("a port", "https://shop.example:8443/", "https://shop.example:8443/?return_code="),
            ("an app's own scheme", "com.example.shop:/done", "com.example.shop:/done?return_code="),
            ("two thousand octets", long, long + "?return_code="),
            ("two thousand and one octets", long + "a", None),
            ("http", "http://shop.example/done", None),
            ("no host", "https:///done", None),
            ("a user", "https://shop@shop.example/done", None),
            ("a fragment", "https://shop.example/done#there", None),
            ("a parameter return_code", "https://shop.example/done?return_code=1", None),
            ("a scheme without a dot", "shop:/done", None),
            ("javascript", "javascript:alert(1)", None),
            ("a blank", "https://shop.example/do ne", None),
            ("a line end", "https://shop.example/done\n", None),
            ("a path alone, without a scheme", "/done", None)]:
        cases.append({
            "name": "URL: " + name, "operation": "uri", "return_uri": uri, "code": code, "valid": url is not None,
            "url": url and url + code})
    return cases


# Texts that are shown

def shown_objects() -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a code, a link and an invitation hold."""
    code = {"transaction_id": CHALLENGE, "otp": "qr." + encode64url(seed("one-time password"))}
    link = {**code, "otp": "link." + encode64url(seed("one-time password of a link"))}
    return code, link, {
        "issuer": ISSUER, "ticket": "ctt_" + encode64url(seed("ticket")), "fingerprint": SERVER.public.name,
        "user": USER, "enrollment": ENROLLMENT}


def shown_cases() -> list[dict[str, Any]]:
    """Codes and invitations that a device must accept or refuse."""
    cases: list[dict[str, Any]] = []
    challenge, link, invitation = shown_objects()

    def text(members: dict[str, Any]) -> str:
        return c.encode64(compact(members).encode())

    def link_of(members: dict[str, Any], issuer: str = ISSUER) -> str:
        return f"{issuer}/q#{encode64url(compact(members).encode())}"

    def case(operation: str, name: str, shown: str, read: dict[str, Any] | None = None) -> None:
        cases.append({"name": f"{operation}: {name}", "operation": operation, "text": shown,
                      "read": read and compact(read), "valid": read is not None})

    def without(members: dict[str, Any], name: str) -> dict[str, Any]:
        return {key: value for key, value in members.items() if key != name}

    claim = {**challenge, "via": "qr"}
    case("picture", "a code", text(challenge), claim)
    case("picture", "members in another order", text(dict(reversed(challenge.items()))), claim)
    case("picture", "blanks between the members", c.encode64(json.dumps(challenge).encode()), claim)
    for name, shown in [
            ("the code of a link", text(link)),
            ("a link", link_of(link)),
            ("a one-time password without a marker",
             text({**challenge, "otp": encode64url(seed("one-time password"))})),
            ("a marker in capitals", text({**challenge, "otp": "QR." + encode64url(seed("one-time password"))})),
            ("no one-time password", text(without(challenge, "otp"))),
            ("no challenge", text(without(challenge, "transaction_id"))),
            ("a malformed challenge", text({**challenge, "transaction_id": "4711"})),
            ("the id of an enrollment", text({**challenge, "transaction_id": ENROLLMENT})),
            ("a further member", text({**challenge, "issuer": ISSUER})),
            ("a one-time password that is a number", text({**challenge, "otp": 471932})),
            ("an array", c.encode64(compact([challenge["transaction_id"], challenge["otp"]]).encode())),
            ("no JSON", c.encode64(b"https://shop.example/")),
            ("JSON itself", compact(challenge)),
            ("without padding", text(challenge).rstrip("=")),
            ("base64url", encode64url(compact({**challenge, "otp": "qr.>>>???"}).encode())),
            ("a line end", text(challenge) + "\n"),
            ("nothing", "")]:
        case("picture", name, shown)

    case("link", "a link", link_of(link), {**link, "via": "link"})
    for name, shown in [
            ("the code of a picture", link_of(challenge)),
            ("to another server", link_of(link, OTHER_ISSUER)),
            ("to a server whose name begins as the issuer's", link_of(link, ISSUER + ".example")),
            ("to another port", link_of(link, ISSUER + ":8443")),
            ("over http", link_of(link, ISSUER.replace("https", "http"))),
            ("the issuer in capitals", link_of(link, ISSUER.upper())),
            ("another path", link_of(link).replace("/q#", "/p#")),
            ("a query instead of a fragment", link_of(link).replace("/q#", "/q?")),
            ("base64 with padding", f"{ISSUER}/q#{text({**link, 'otp': link['otp'] + '+'})}"),
            ("a text of a picture", text(link)),
            ("a further member", link_of({**link, "via": "qr"})),
            ("nothing after the fragment's sign", ISSUER + "/q#")]:
        case("link", name, shown)

    case("invitation", "an invitation", text(invitation), invitation)
    case("invitation", "a member that is not known", text({**invitation, "logo": "x"}), invitation)
    for name in invitation:
        case("invitation", f"no {name}", text(without(invitation, name)))
    for name, changes in {
            "of another issuer": {"issuer": OTHER_ISSUER},
            "an issuer with a slash at its end": {"issuer": ISSUER + "/"},
            "a fingerprint in lower case": {"fingerprint": SERVER.public.name.lower()},
            "a key id instead of a fingerprint": {"fingerprint": SERVER.public.name[-16:]},
            "a malformed user": {"user": "4711"},
            "user and enrollment exchanged": {"user": ENROLLMENT, "enrollment": USER},
            "a ticket that is a number": {"ticket": 4711}}.items():
        case("invitation", name, text({**invitation, **changes}))
    case("invitation", "without padding", text({**invitation, "ticket": invitation["ticket"] + "a"}).rstrip("="))
    case("invitation", "no JSON", c.encode64(b"https://login.example.com"))
    return cases


def code_cases() -> list[dict[str, Any]]:
    """The texts that stand on the pages, each read as what it is and as what it is not."""
    cases: list[dict[str, Any]] = []
    code, link, invitation = shown_objects()
    texts = {
        "picture": (c.encode64(compact(code).encode()), {**code, "via": "qr"}),
        "link": (f"{ISSUER}/q#{encode64url(compact(link).encode())}", {**link, "via": "link"}),
        "invitation": (c.encode64(compact(invitation).encode()), invitation)}

    def case(name: str, operation: str, text: str, read: dict[str, Any] | None = None) -> None:
        cases.append({"name": name, "operation": operation, "text": text, "read": read and compact(read),
                      "valid": read is not None})

    for kind, (text, members) in texts.items():
        for operation in texts:
            case(f"{kind} as {operation}", operation, text, members if kind == operation else None)
        case(f"{kind}, cut off", kind, text[:-2])
        case(f"{kind}, followed by a blank", kind, text + " ")
    case("the JSON of the picture", "picture", compact(code))
    case("the JSON of the invitation", "invitation", compact(invitation))
    case("the fragment of the link, as a picture", "picture", texts["link"][0].split("#")[1])
    case("the picture after the issuer, as a link", "link", f"{ISSUER}/q#{texts['picture'][0].rstrip('=')}")
    return cases


# Calls of the server

def webhook_cases(now: int, tolerance: int) -> list[dict[str, Any]]:
    """Callbacks, notices and calls of hooks that a receiver must accept or refuse."""
    cases: list[dict[str, Any]] = []
    old, new, other = ("whsec_" + c.encode64(seed(f"webhook {name}")) for name in ("old", "new", "other"))
    callback = compact({
        "type": "challenge.approved", "timestamp": "2026-11-20T10:15:31.250Z", "challenge": {
            "id": CHALLENGE, "state": "approved", "method": "pin", "user": USER, "client_state": "order-4711",
            "ended_at": "2026-11-20T10:15:31.250Z"}})
    notice = compact({
        "type": "enrollment.removed", "timestamp": "2026-11-20T10:15:31.250Z",
        "user": {"id": USER, "external_id": "customer-1"}, "enrollment": ENROLLMENT,
        "device": {"name": "Renées Telefon", "storage": "software"}, "reason": "removed_by_other_device"})
    hook = compact({
        "type": "authenticator.verify", "timestamp": "2026-11-20T10:15:31.250Z", "authenticator": "phrase",
        "user": {"id": USER, "external_id": "customer-1"}, "enrollment": ENROLLMENT, "data": "blaues Pferd, größer",
        "challenge": {"id": CHALLENGE, "type": "payment"}})
    name_of_message = "evt_01m7yfb1b2c3d4e5f6g7h8j9k0"

    def signature(secret: str, identifier: str, timestamp: Any, body: str) -> str:
        return c.webhook_signature(secret, identifier, timestamp, body.encode())

    def case(name: str, error: str | None = None, *, body: str = callback, secrets: tuple[str, ...] = (new,),
             secret: str = new, at: Any = now, identifier: str = name_of_message, change: Any = None,
             arrived: str | None = None, **fields: str) -> None:
        signed = [signature(each, identifier, at, body) for each in secrets]
        fields = {"webhook-id": identifier, "webhook-timestamp": str(at), "webhook-signature": " ".join(
            change(each) if change else each for each in signed), **{
                each.replace("_", "-"): value for each, value in fields.items()}}
        cases.append({
            "name": name, "secrets": list(secrets), "signed_body": body,
            "signed_content": f"{identifier}.{at}.{body}", "secret": secret,
            "fields": {each: value for each, value in fields.items() if value}, "body": arrived or body,
            "valid": error is None, "error": error})

    case("a callback")
    case("a notice, in Unicode", body=notice)
    case("a call of a hook", body=hook)
    case("two signatures, of which the receiver knows the second", secrets=(new, old), secret=old)
    case("two signatures, of which the receiver knows the first", secrets=(new, old))
    case("a secret of twenty-four octets", secrets=(short := "whsec_" + c.encode64(seed("webhook short", 24)),),
         secret=short)
    case("a signature of a version that is not known beside it", change=lambda each: "v1a,AAAA " + each)
    case("as old as may be", at=now - tolerance)
    case("as far ahead as may be", at=now + tolerance)
    case("an altered body", "signature", arrived=callback.replace("approved", "declined"))
    case("the same JSON with a blank", "signature", arrived=callback.replace(":", ": ", 1))
    case("another id", "signature", webhook_id="evt_01m7yfb1b2c3d4e5f6g7h8j9k1")
    case("another time", "signature", webhook_timestamp=str(now + 1))
    case("signed by another secret", "signature", secrets=(other,))
    case("two signatures by secrets that the receiver does not know", "signature", secrets=(other, old))
    case("the secret's text as the key", "signature", change=lambda each: "v1," + c.encode64(c.hmac.digest(
        new.encode(), f"{name_of_message}.{now}.{callback}".encode(), "sha256")))
    case("a signature in hexadecimal digits", "signature",
         change=lambda each: "v1," + c.decode64(each[3:]).hex())
    case("a signature without its version", "signature", change=lambda each: each[3:])
    case("a signature of another version", "signature", change=lambda each: "v2" + each[2:])
    case("a signature that is cut off", "signature", change=lambda each: each[:20])
    case("no signature", "signature", change=lambda each: "")
    case("no id", "signature", webhook_id="")
    case("no time", "timestamp", webhook_timestamp="")
    case("a time with a fraction", "timestamp", at=f"{now}.5")
    case("a time in words", "timestamp", at="2026-11-20T10:15:31Z")
    case("too old", "timestamp", at=now - tolerance - 1)
    case("too far ahead", "timestamp", at=now + tolerance + 1)
    return cases


# Pushes

def push_cases() -> list[dict[str, Any]]:
    """Payloads of pushes that a device must accept or refuse."""
    signer = private("push")
    cases: list[dict[str, Any]] = []

    def case(name: str, error: str | None = None, *, title: str = "ACME Shop",
        body: str = "Pay EUR 1,250.00 to ACME GmbH?",
             header: dict[str, Any] | None = None, claims: dict[str, Any] | None = None, signer_: Any = signer,
             shown: tuple[str, str] | None = None, now: int = ASKED + 10, change: Any = lambda jws: jws,
             ours: dict[str, Any] | None = None) -> None:
        said = {"alg": "ES256", "typ": "countersign-push+jwt", "kid": PUSH_KEYS["keys"][0]["kid"], **(header or {})}
        stated = {
            "iss": ISSUER, "aud": ENROLLMENT, "jti": CHALLENGE, "iat": ASKED, "exp": ASKED + 120, "type": "payment",
            "alert": c.alert_hash(title, body), **(claims or {})}
        said, stated = present(said), present(stated)
        signed = f"{encode64url(compact(said).encode())}.{encode64url(compact(stated).encode())}"
        jws = change(f"{signed}.{encode64url(SecretKey.of(signer_, ECDSA, 0).raw_signature(signed.encode()))}")
        title, body = shown or (title, body)
        payload = {
            "aps": {"alert": {"title": title, "body": body}, "category": "COUNTERSIGN_REVIEW", "badge": 1,
            "mutable-content": 1},
            "countersign": {"v": 1, "id": CHALLENGE, "enrollment": ENROLLMENT, "jws": jws, **(ours or {})}}
        cases.append({"name": name, "now": now, "payload": compact(payload), "alert_hash": c.alert_hash(title, body),
                      "header": compact(said), "claims": compact(stated), "valid": error is None, "error": error})

    case("a push")
    case("a text in Unicode", title="Café", body="Zahlung über 1 €?")
    case("claims and header members that are not known", header={"jku": "https://evil.example"}, claims={"logo": 1})
    case("five minutes after its end", now=ASKED + 120 + 299)
    case("another version", "malformed", ours={"v": 2})
    case("no signed part", "malformed", ours={"jws": None})
    case("four parts", "signature(malformed)", change=lambda jws: jws + ".x")
    case("base64url with padding", "signature(malformed)", change=lambda jws: jws + "==")
    case("a signature in ASN.1", "signature(malformed)", change=lambda jws: jws.rsplit(".", 1)[0] + "." + encode64url(
        signer.sign(jws.rsplit(".", 1)[0].encode(), c.ec.ECDSA(c.hashes.SHA256(), deterministic_signing=True))))
    case("another algorithm", "signature(unexpectedAlgorithm)", header={"alg": "none"})
    case("another type", "signature(unexpectedType)", header={"typ": "JWT"})
    case("a critical header", "signature(criticalHeader)", header={"crit": ["x"], "x": 1})
    case("a key that is not known", "signature(unknownKeyID)", header={"kid": "x"})
    case("no name of a key", "signature(unknownKeyID)", header={"kid": None})
    case("signed by another key", "signature(badSignature)", signer_=private("other push"))
    case("altered claims", "signature(badSignature)", change=lambda jws: ".".join(
        [jws.split(".")[0], encode64url(compact({"iss": ISSUER}).encode()), jws.split(".")[2]]))
    case("no challenge", "malformed", claims={"jti": None})
    case("a time that is a string", "malformed", claims={"exp": str(ASKED + 120)})
    case("another issuer", "notForUs", claims={"iss": OTHER_ISSUER})
    case("another enrollment", "notForUs", claims={"aud": OTHER_ENROLLMENT})
    case("of the future", "outOfTime", now=ASKED - 301)
    case("over", "outOfTime", now=ASKED + 120 + 301)
    case("another title", "alteredAlert", shown=("ACME Bank", "Pay EUR 1,250.00 to ACME GmbH?"))
    case("the border between title and body moved", "alteredAlert",
        shown=("ACME ShopPay", " EUR 1,250.00 to ACME GmbH?"))
    return cases


def assertion_cases() -> list[dict[str, Any]]:
    """Assertions of a device that a server must take or refuse."""
    name, client = "hk2Jx0yZ1vQ7rT5uW9aB3cDe", "cli_01m7yfdqve7kp86cjznhx1qer1"
    cases: list[dict[str, Any]] = []

    def case(label: str, is_valid: bool = False, *, header: dict[str, Any] | None = None,
             claims: dict[str, Any] | None = None, signer: SecretKey = DEVICE.authentication, now: int = ASKED,
             change: Any = lambda text: text) -> None:
        said = present({"alg": "ES256", "typ": c.ASSERTION, **(header or {})})
        stated = present({**c.assertion_claims(ISSUER, USER, ENROLLMENT, client, name, ASKED), **(claims or {})})
        cases.append({
            "name": label, "now": now, "client": client, "header": compact(said), "claims": compact(stated),
            "assertion": change(c.sign_jws(said, stated, signer)), "valid": is_valid})

    case("an assertion", True)
    case("with a challenge", True, claims={"challenge": CHALLENGE})
    case("a claim that is not known", True, claims={"nonce": "x"})
    case("for less than a minute", True, claims={"exp": ASKED + 1})
    case("in its last second", True, now=ASKED + 59)
    case("a minute ahead", True, now=ASKED - 60)
    case("over", now=ASKED + 60)
    case("more than a minute ahead", now=ASKED - 61)
    case("for more than a minute", claims={"exp": ASKED + 61})
    case("over before it begins", claims={"exp": ASKED})
    case("another server", claims={"aud": OTHER_ISSUER})
    case("two servers", claims={"aud": [ISSUER, OTHER_ISSUER]})
    case("this server in a list", claims={"aud": [ISSUER]})
    case("no server", claims={"aud": None})
    case("another client", claims={"client_id": "cli_01m7yfdr8kq5p3v2x9w7t4s6ma"})
    case("no client", claims={"client_id": None})
    case("no user", claims={"sub": None})
    case("a user that is none", claims={"sub": ENROLLMENT})
    case("no name", claims={"jti": None})
    case("the shortest name", True, claims={"jti": "x" * 16})
    case("the longest name", True, claims={"jti": "x" * 64})
    case("a name with a control character", claims={"jti": "\0" * 16})
    case("a short name", claims={"jti": "x" * 15})
    case("a long name", claims={"jti": "x" * 65})
    case("a time that is a string", claims={"iat": str(ASKED)})
    case("an end that is a string", claims={"exp": str(ASKED + 60)})
    case("times that no clock shows", claims={"iat": -2**63, "exp": 2**63 - 1})
    case("a challenge that is none", claims={"challenge": "x"})
    case("a challenge that is a number", claims={"challenge": 1})
    case("another type", header={"typ": "JWT"})
    case("no type", header={"typ": None})
    case("another algorithm", header={"alg": "none"})
    case("a critical header", header={"crit": ["x"], "x": 1})
    case("a key that is named", header={"kid": "x"})
    case("signed by the primary key", signer=DEVICE.primary)
    case("signed by another device", signer=key("other authentication"))
    case("altered claims", change=lambda text: ".".join(
        [text.split(".")[0], encode64url(compact({"iss": ENROLLMENT}).encode()), text.split(".")[2]]))
    case("four parts", change=lambda text: text + ".x")
    case("base64url with padding", change=lambda text: text + "==")
    return cases


# Devices with JWKs

def prime(name: str) -> int:
    """A prime of 1024 bits that looks random: the first one after a number of a name."""
    small = [each for each in range(3, 2000) if all(each % divisor for divisor in range(2, each))]
    candidate = int.from_bytes(seed(name, 128), "big") | 3 << 1022 | 1
    while (any(candidate % each == 0 for each in small) or candidate % 65537 == 1
           or any(pow(base, candidate - 1, candidate) != 1 for base in (2, 3, 5, 7))):
        candidate += 2
    return candidate


def rsa_key(name: str) -> rsa.RSAPrivateKey:
    """An RSA key of 2048 bits of a name."""
    p, q, e = prime(name + " p"), prime(name + " q"), 65537
    d = pow(e, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(
        p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), rsa.RSAPublicNumbers(e, p * q)).private_key()


JWK_POSSESSION, JWK_OTHER = (key(f"jwk {name}", created=0) for name in ("possession", "other"))
JWK_VERIFICATION_SEED = seed("jwk verification")
JWK_VERIFICATION = ed25519.Ed25519PrivateKey.from_private_bytes(JWK_VERIFICATION_SEED)
JWK_RSA = rsa_key("jwk rsa")
JWK_NUMBERS = JWK_RSA.public_key().public_numbers()
JWKS = {
    "proofOfPossession": {**c.public_jwk(JWK_POSSESSION.public.point), "kid": "possession"},
    "userVerification": {"crv": "Ed25519", "kty": "OKP", "kid": "verification", "x": encode64url(
        JWK_VERIFICATION.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw))}}
RSA_JWKS = {"proofOfPossession": {
    "kty": "RSA", "kid": "rsa", "e": "AQAB", "n": encode64url(JWK_NUMBERS.n.to_bytes(256, "big"))}}


def sign_as(algorithm: str, signed: bytes) -> bytes:
    """The signature of a device's key for an algorithm."""
    if algorithm == "EdDSA":
        return JWK_VERIFICATION.sign(signed)
    if algorithm == "RS256":
        return JWK_RSA.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    return JWK_POSSESSION.raw_signature(signed)


def jwt_answer_cases() -> list[dict[str, Any]]:
    """Answers of a device with JWKs that a server must take or refuse."""
    cases: list[dict[str, Any]] = []

    def case(name: str, error: str | None = None, *, header: dict[str, Any] | None = None,
             claims: dict[str, Any] | None = None, consent: str = "APPROVED_CONSENT_PROMPT",
             role: str = "proofOfPossession", keys: dict[str, Any] = JWKS, now: int = ASKED + 29,
             methods: tuple[str, ...] = ("confirm", "biometric"), sign: Any = None,
             change: Any = lambda text: text) -> None:
        is_verified = role == "userVerification"
        said = present({
            "alg": "EdDSA" if is_verified else "RS256" if keys is RSA_JWKS else "ES256", "typ": c.JWT_ANSWER,
            "kid": keys[role]["kid"], **(header or {})})
        stated = present({**c.answer_claims(
            ISSUER, USER, ENROLLMENT, CHALLENGE, NONCE, "b5d1", ASKED + 29, consent, role), **(claims or {})})
        signed = ".".join(encode64url(compact(each).encode()) for each in (said, stated))
        value = (sign or sign_as)(said["alg"], signed.encode())
        decision, method = (None, None) if error else c.DECISIONS[consent, role]
        cases.append({
            "name": name, "now": now, "methods": list(methods), "device": "rsa" if keys is RSA_JWKS else "usual",
            "header": compact(said),
            "claims": compact(stated), "token": change(f"{signed}.{encode64url(value)}"), "decision": decision,
            "method": method, "error": error})

    case("approved by possession")
    case("approved by the user's biometric", role="userVerification", consent="APPROVED_USER_VERIFICATION")
    case("approved by an RSA key", keys=RSA_JWKS)
    case("denied", consent="DENIED_CONSENT_PROMPT")
    case("what the vendor's devices add", claims={"amr": [], "deviceSignals": {"id": "x"}, "methodEnrollmentId": "x"})
    case("without `nbf`", claims={"nbf": None})
    case("a clock that is five minutes behind", now=ASKED + 29 + 359)
    case("a clock that is six minutes ahead", now=ASKED + 29 - 360)
    case("too old", "claim(expiresAt)", now=ASKED + 29 + 360)
    case("too far ahead", "claim(expiresAt)", now=ASKED + 29 - 361)
    case("good for too long", "claim(expiresAt)", claims={"exp": ASKED + 29 + 301})
    case("over before it begins", "claim(expiresAt)", claims={"exp": ASKED + 29})
    case("signed before it is good", "claim(expiresAt)", claims={"nbf": ASKED + 30})
    case("no end", "claim(expiresAt)", claims={"exp": None})
    case("a time that is a string", "claim(issuedAt)", claims={"iat": str(ASKED)})
    case("another server", "claim(audience)", claims={"aud": OTHER_ISSUER})
    case("a list of servers", "claim(audience)", claims={"aud": [ISSUER]})
    case("another user", "claim(subject)", claims={"sub": OTHER_USER})
    case("no user", "claim(subject)", claims={"sub": None})
    case("another challenge", "claim(challenge)", claims={"tx": OTHER_CHALLENGE})
    case("another nonce", "claim(nonce)", claims={"nonce": "0a" * 32})
    case("a nonce in capitals", "claim(nonce)", claims={"nonce": NONCE.upper()})
    case("no name", "claim(id)", claims={"jti": None})
    case("a long name", "claim(id)", claims={"jti": "x" * 129})
    case("nobody", "claim(issuer)", claims={"iss": None})
    case("no consent", "claim(consent)", claims={"challengeResponseContext": None})
    for consent in ("NONE", "CANCELLED_USER_VERIFICATION", "UV_TEMPORARILY_UNAVAILABLE", "UV_PERMANENTLY_UNAVAILABLE"):
        case(f"the app says {consent}", "claim(consent)", consent=consent)
    case("a biometric's consent by possession", "claim(consent)", consent="APPROVED_USER_VERIFICATION")
    case("possession's consent by a biometric", "claim(consent)", role="userVerification")
    case("denied by a biometric", "claim(consent)", role="userVerification", consent="DENIED_CONSENT_PROMPT")
    case("a biometric that is not asked for", "method", role="userVerification", consent="APPROVED_USER_VERIFICATION",
         methods=("confirm",))
    case("possession where a biometric is asked for", "method", methods=("biometric",))
    case("another purpose than that of the key", "keyType", claims={"keyType": "userVerification"})
    case("a purpose that is none", "claim(keyType)", claims={"keyType": "userVerificationBioOrPin"})
    case("another type", "token(unexpectedType)", header={"typ": "JWT"})
    case("no type", "token(unexpectedType)", header={"typ": None})
    case("signed by nobody", "token(unexpectedAlgorithm)", header={"alg": "none"}, sign=lambda *_: b"")
    case("a MAC by the public key", "token(unexpectedAlgorithm)", header={"alg": "HS256"},
         sign=lambda _, signed: c.hmac.digest(compact(JWKS["proofOfPossession"]).encode(), signed, "sha256"))
    case("another algorithm than that of the key", "token(wrongKey)", header={"alg": "EdDSA"})
    case("the name of the other key", "token(wrongKey)", header={"kid": "verification"})
    case("a key that is not there", "token(unknownKeyID)", header={"kid": "x"})
    case("no name of a key", "token(unknownKeyID)", header={"kid": None})
    case("a critical header", "token(criticalHeader)", header={"crit": ["x"], "x": 1})
    case("a key of the header's own", "token(badSignature)",
         header={"jwk": c.public_jwk(JWK_OTHER.public.point)}, sign=lambda _, signed: JWK_OTHER.raw_signature(signed))
    case("signed by another device", "token(badSignature)", sign=lambda _, signed: JWK_OTHER.raw_signature(signed))
    case("altered claims", "token(badSignature)", change=lambda text: ".".join(
        [text.split(".")[0], encode64url(compact({"iss": ENROLLMENT}).encode()), text.split(".")[2]]))
    case("a member that occurs twice", "token(malformed)", change=twice)
    case("four parts", "token(malformed)", change=lambda text: text + ".x")
    return cases


def twice(token: str) -> str:
    """An answer of which a claim stands twice, the signature right."""
    header, claims, _ = token.split(".")
    text = c.decode64url(claims)[:-1] + b',"sub":"x"}'
    signed = f"{header}.{encode64url(text)}"
    return f"{signed}.{encode64url(JWK_POSSESSION.raw_signature(signed.encode()))}"


EVENT_KEY = key("event", created=0)
EVENT = {"user": "1014", "client": "cli_01m7yfdqve7kp86cjznhx1qer1", "event": "LOGIN", "timestamp": 1582842167}


def in_lines(value: bytes, length: int | None = None, end: str = "\n") -> str:
    """Base64, in lines of a length."""
    text = base64.b64encode(value).decode()
    return text if length is None else "".join(
        text[place:place + length] + end for place in range(0, len(text), length))


def event_text(decision: str, **changes: Any) -> str:
    """What a device signs."""
    said = {**EVENT, **changes}
    return f"{said['user']}{said['client']}{said['event']}{said['timestamp']}TRUSTED_DEVICE{decision}"


def event_cases() -> list[dict[str, Any]]:
    """Keys and signatures of devices that sign events, which a server must take or refuse."""
    cases: list[dict[str, Any]] = []
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), EVENT_KEY.public.point)
    curve = point.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    prime_key = JWK_RSA.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    edwards = JWK_VERIFICATION.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def ecdsa(signed: bytes) -> bytes:
        raw = EVENT_KEY.raw_signature(signed)
        return utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))

    def case(name: str, error: str | None = None, *, public_key: str = in_lines(curve, 64), algorithm: str | None = None,
             sign: Any = ecdsa, decision: str = "true", text: str | None = None, encode: Any = in_lines) -> None:
        signed = event_text(decision) if text is None else text
        cases.append({
            "name": name, "public_key": public_key, "algorithm": algorithm, "approved": decision == "true",
            "text": signed, "signature": encode(sign(signed.encode())), "error": error})

    def rsa_signature(signed: bytes) -> bytes:
        return JWK_RSA.sign(signed, padding.PKCS1v15(), hashes.SHA256())

    case("P-256, in lines of 64")
    case("denied", decision="false")
    for algorithm in ("EC", "ECDSA"):
        case(f"P-256, in lines of 76, {algorithm}", public_key=in_lines(curve, 76), algorithm=algorithm,
             encode=lambda value: in_lines(value, 76))
    case("P-256, in one line", public_key=in_lines(curve))
    case("P-256, in lines that end with CR and LF", public_key=in_lines(curve, 64, "\r\n"))
    case("RSA", public_key=in_lines(prime_key, 76), algorithm="RSA", sign=rsa_signature,
         encode=lambda value: in_lines(value, 76))
    case("Ed25519", public_key=in_lines(edwards), algorithm="ED25519", sign=JWK_VERIFICATION.sign)
    case("Ed25519, without its name", public_key=in_lines(edwards), sign=JWK_VERIFICATION.sign)
    case("P-256 called Ed25519", "key", algorithm="ED25519")
    case("P-256 called RSA", "key", algorithm="RSA")
    case("RSA called EC", "key", public_key=in_lines(prime_key), algorithm="EC", sign=rsa_signature)
    case("an algorithm that is none", "key", algorithm="none")
    case("no key", "key", public_key="")
    case("a PIN in its place", "key", public_key="123456")
    case("base64url", "key", public_key=base64.urlsafe_b64encode(b"\xff\xef" * 16).decode())
    case("a point of small order", "key", public_key=in_lines(b"\x01" + bytes(31)), sign=JWK_VERIFICATION.sign)
    case("a denial that is sent as an approval", "signature", sign=lambda _: ecdsa(event_text("false").encode()))
    case("another time", "signature", sign=lambda _: ecdsa(event_text("true", timestamp=1582842168).encode()))
    case("another event", "signature", sign=lambda _: ecdsa(event_text("true", event="UPDATE").encode()))
    case("another user", "signature", sign=lambda _: ecdsa(event_text("true", user="1015").encode()))
    case("in the form of a JWS", "signature", sign=EVENT_KEY.raw_signature)
    case("by another key", "signature", sign=JWK_VERIFICATION.sign)
    case("no signature", "signature", sign=lambda _: b"")
    return cases


PROOF_KEY = key("proof", created=0)
TOKEN_URI, USERINFO_URI, PAR_URI = (f"{ISSUER}/oauth2/{name}" for name in ("token", "userinfo", "par"))
# The server's nonces, and when it made each: one for most cases, and four for the limits.
ISSUER_RSA = rsa_key("issuer rsa")
ISSUER_KEYS = {"keys": [{
    "kty": "RSA", "kid": "issuer", "use": "sig", "alg": "RS256", "e": "AQAB",
    "n": encode64url(ISSUER_RSA.public_key().public_numbers().n.to_bytes(256, "big"))}]}
JWT_CLIENT, JWT_CLIENT_NAME = "cli_01m7yfdqve7kp86cjznhx1qer1", "ACME"


def jwt_challenge_cases() -> list[dict[str, Any]]:
    """Challenges as devices with JWKs get them; a device refuses the last ones."""
    cases: list[dict[str, Any]] = []

    def case(name: str, is_valid: bool = True, *, message: str = "Sign in to ACME?", location: str | None = None,
             verification: str = "NONE", header: dict[str, Any] | None = None, claims: dict[str, Any] | None = None,
             now: int = ASKED, key: Any = ISSUER_RSA) -> None:
        said = {"alg": "RS256", "typ": c.JWT_ANSWER, "kid": "issuer", **(header or {})}
        stated = {
            "iss": ISSUER, "aud": JWT_CLIENT, "jti": CHALLENGE, "transactionId": CHALLENGE, "iat": ASKED,
            "exp": ASKED + 120, "nonce": NONCE,
            "verificationUri": f"{ISSUER}/idp/myaccount/app-authenticators/challenge/{CHALLENGE}/verify",
            "orgId": c.organization(ISSUER), "userId": USER, "authenticatorEnrollmentId": ENROLLMENT,
            "methodEnrollmentId": ENROLLMENT, "method": "push", "userVerification": verification,
            "appInstanceName": JWT_CLIENT_NAME, "ver": 0,
            "challengeContext": present({
                "transactionType": "CIBA", "transactionTime": "2026-11-20T10:15:02.000Z", "clientLocation": location,
                "bindingMessage": message.replace("%", "%25")}), **(claims or {})}
        signed = ".".join(encode64url(compact(each).encode()) for each in (said, stated))
        value = key.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        cases.append({
            "name": name, "now": now, "message": message, "location": location, "verification": verification,
            "header": compact(said), "claims": compact(stated), "token": f"{signed}.{encode64url(value)}",
            "valid": is_valid})

    case("a challenge")
    case("with the place where it was begun", location="Firefox on Windows, 203.0.113.7")
    case("answered by the biometric, or by possession", verification="PREFERRED")
    case("answered by the biometric alone", verification="REQUIRED")
    case("a message with a percent sign", message="Give 5 % away?")
    case("a message of two lines in another alphabet", message="Оплатить?\n5 €")
    case("in its last second, give or take a minute", now=ASKED + 179)
    case("over", False, now=ASKED + 180)
    case("from the future", False, now=ASKED - 61)
    case("another server", False, claims={"iss": OTHER_ISSUER})
    case("for another enrollment", False, claims={"authenticatorEnrollmentId": "x"})
    case("an answer that goes elsewhere", False, claims={"verificationUri": f"{OTHER_ISSUER}/verify"})
    case("another type", False, header={"typ": "JWT"})
    case("a key that is not there", False, header={"kid": "x"})
    case("signed by another server", False, key=JWK_RSA)
    return cases


def maintenance_cases() -> list[dict[str, Any]]:
    """Assertions for tokens of a device's own that a server must take or refuse."""
    cases: list[dict[str, Any]] = []

    def case(name: str, is_valid: bool = False, *, header: dict[str, Any] | None = None,
             claims: dict[str, Any] | None = None, now: int = ASKED, signer: SecretKey = JWK_POSSESSION,
             change: Any = lambda text: text) -> None:
        said = present({"alg": "ES256", "typ": "JWT", "kid": "possession", **(header or {})})
        stated = present({**c.maintenance_claims(ISSUER, USER, ENROLLMENT, "b5d1", ASKED), **(claims or {})})
        cases.append({
            "name": name, "now": now, "header": compact(said), "claims": compact(stated),
            "assertion": change(c.sign_jws(said, stated, signer)), "valid": is_valid})

    case("an assertion", True)
    case("without `nbf`", True, claims={"nbf": None})
    case("a clock that is six minutes ahead", True, now=ASKED - 360)
    case("a clock that is six minutes behind", True, now=ASKED + 359)
    case("too old", now=ASKED + 360)
    case("too far ahead", now=ASKED - 361)
    case("good for too long", claims={"exp": ASKED + 301})
    case("over before it begins", claims={"exp": ASKED})
    case("signed before it is good", claims={"nbf": ASKED + 1})
    case("no end", claims={"exp": None})
    case("a time that is a string", claims={"iat": str(ASKED)})
    case("times that no clock shows", claims={"nbf": -2**63, "exp": 2**63 - 1})
    case("in the name of the enrollment", claims={"iss": ENROLLMENT})
    case("another server", claims={"aud": OTHER_ISSUER})
    case("this server in a list", claims={"aud": [ISSUER]})
    case("another user", claims={"sub": OTHER_USER})
    case("no enrollment", claims={"methodEnrollmentId": None})
    case("no name", claims={"jti": None})
    case("a long name", claims={"jti": "x" * 129})
    case("U+0000 in the name", claims={"jti": "a\0"})
    case("the type of an answer", header={"typ": c.JWT_ANSWER})
    case("no type", header={"typ": None})
    case("the key of the biometric", header={"kid": "verification"})
    case("no name of a key", header={"kid": None})
    case("a critical header", header={"crit": ["x"], "x": 1})
    case("signed by another device", signer=JWK_OTHER)
    case("altered claims", change=lambda text: ".".join(
        [text.split(".")[0], encode64url(compact({"sub": USER}).encode()), text.split(".")[2]]))
    return cases


NONCES = {f"nonce-{name}": ASKED + made for name, made in (
    ("now", 0), ("oldest", -119), ("over", -120), ("ahead", 60), ("too-far-ahead", 61))}
ACCESS_TOKEN = "header.claims.signature"


def edwards_proof(claims: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The header of a proof by EdDSA, and the proof."""
    edwards = ed25519.Ed25519PrivateKey.from_private_bytes(seed("edwards proof"))
    point = edwards.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    said = {"alg": "EdDSA", "jwk": {"crv": "Ed25519", "kty": "OKP", "x": encode64url(point)}, "typ": c.PROOF}
    signed = ".".join(encode64url(compact(each).encode()) for each in (said, claims))
    return said, f"{signed}.{encode64url(edwards.sign(signed.encode()))}"


def proof_cases() -> list[dict[str, Any]]:
    """Proofs of a key that a server must take or refuse."""
    own, cases = c.public_jwk(PROOF_KEY.public.point), []

    def case(label: str, error: str | None = None, *, header: dict[str, Any] | None = None,
             claims: dict[str, Any] | None = None, method: str = "POST", uri: str = TOKEN_URI, token: str | None = None,
             now: int = ASKED, signer: SecretKey = PROOF_KEY, by_edwards: bool = False,
             change: Any = lambda text: text) -> None:
        said = present({"alg": "ES256", "jwk": own, "typ": c.PROOF, **(header or {})})
        usual = c.proof_claims(method, uri, "proof-1", ASKED, "nonce-now", token)
        stated = present({**usual, **(claims or {})})
        made = c.sign_jws(said, stated, signer)
        if by_edwards:
            said, made = edwards_proof(stated)
        cases.append({
            "name": label, "now": now, "method": method, "uri": uri, "access_token": token, "header": compact(said),
            "claims": compact(stated), "proof": change(made), "valid": error is None,
            "thumbprint": c.thumbprint(said["jwk"]) if error is None else None, "error": error,
            "code": error and ("use_dpop_nonce" if error == "nonceMissing" else "invalid_dpop_proof")})

    case("a proof")
    case("for an access token", method="GET", uri=USERINFO_URI, token=ACCESS_TOKEN)
    case("for a pushed request", uri=PAR_URI)
    case("by EdDSA", by_edwards=True)
    case("members that are not known", header={"x": 1}, claims={"sub": "x"})
    case("a key with a name and a use", header={"jwk": {**own, "kid": "x", "use": "sig"}})
    case("a query that is left out", uri=TOKEN_URI + "?a=b", claims={"htu": TOKEN_URI})
    case("an address with query and fragment", claims={"htu": TOKEN_URI + "?a=b#c"})
    case("an address in other letters, with the usual port", claims={
        "htu": "HTTPS://LOGIN.example.com:443/oauth2/token"})
    case("the hash of a token, and none is shown", claims={"ath": encode64url(seed("another token"))})
    case("a minute ago", claims={"iat": ASKED - 60})
    case("a minute ahead", claims={"iat": ASKED + 60})
    case("within its own times", claims={"nbf": ASKED + 60, "exp": ASKED + 1})
    case("the oldest nonce", claims={"nonce": "nonce-oldest"})
    case("a nonce of a server whose clock is ahead", claims={"nonce": "nonce-ahead"})
    case("another type", "malformed", header={"typ": "JWT"})
    case("no type", "malformed", header={"typ": None})
    case("no algorithm", "malformed", header={"alg": "none"})
    case("an algorithm that is not taken", "malformed", header={"alg": "RS256"})
    case("an algorithm of another key", "malformed", header={"alg": "EdDSA"})
    case("a critical header", "malformed", header={"crit": ["b64"], "b64": True})
    case("no key", "malformed", header={"jwk": None})
    case("a private key", "malformed", header={"jwk": {**own, "d": encode64url(seed("proof"))}})
    case("a symmetric key", "malformed", header={"jwk": {"kty": "oct", "k": encode64url(seed("proof"))}})
    case("a key that is a name", "malformed", header={"jwk": "x"})
    case("signed by another key", "malformed", signer=key("another proof", created=0))
    case("altered claims", "malformed", change=lambda text: ".".join(
        [text.split(".")[0], encode64url(compact({"jti": "x"}).encode()), text.split(".")[2]]))
    case("base64url with padding", "malformed", change=lambda text: text + "==")
    case("two proofs in one field", "malformed", change=lambda text: f"{text}, {text}")
    for name in ("jti", "htu", "iat"):
        case(f"no {name}", "malformed", claims={name: None})
    case("a name that is a number", "malformed", claims={"jti": 1})
    case("a time that is a string", "malformed", claims={"iat": str(ASKED)})
    case("no method", "method", claims={"htm": None})
    case("another method", "method", claims={"htm": "GET"})
    case("a method in small letters", "method", claims={"htm": "post"})
    for label, uri in (
            ("another server", OTHER_ISSUER + "/oauth2/token"), ("another path", USERINFO_URI),
            ("a longer path", TOKEN_URI + "/"), ("a path in other letters", ISSUER + "/oauth2/Token"),
            ("another scheme", "http://login.example.com/oauth2/token"),
            ("another port", "https://login.example.com:8443/oauth2/token"),
            ("a user in the address", "https://user@login.example.com/oauth2/token"),
            ("a path alone", "/oauth2/token")):
        case(label, "place", claims={"htu": uri})
    case("no hash of the token", "token", method="GET", uri=USERINFO_URI, token=ACCESS_TOKEN, claims={"ath": None})
    case("the hash of another token", "token", method="GET", uri=USERINFO_URI, token=ACCESS_TOKEN, claims={
        "ath": encode64url(seed("another token"))})
    case("the token and no hash", "token", method="GET", uri=USERINFO_URI, token=ACCESS_TOKEN, claims={
        "ath": ACCESS_TOKEN})
    case("no nonce", "nonceMissing", claims={"nonce": None})
    case("a nonce of another server", "nonceMissing", claims={"nonce": "nonce-other"})
    case("a nonce that is over", "nonceMissing", claims={"nonce": "nonce-over"})
    case("a nonce that is too far ahead", "nonceMissing", claims={"nonce": "nonce-too-far-ahead"})
    case("more than a minute ago", "time", claims={"iat": ASKED - 61})
    case("more than a minute ahead", "time", claims={"iat": ASKED + 61})
    case("over by its own words", "time", claims={"exp": ASKED})
    case("not yet by its own words", "time", claims={"nbf": ASKED + 61})
    case("an end that is a string", "time", claims={"exp": str(ASKED + 60)})
    return cases


REQUEST_KEY = key("request object", created=0)
POLL_INTERVAL = 5
REQUESTING, REDIRECT = "cli_01m7yfdqve7kp86cjznhx1qer1", "https://shop.example.com/signed-in"


def pushed_cases() -> list[dict[str, Any]]:
    """Bodies of pushed requests, whose signature or proof a server must take or refuse."""
    cases: list[dict[str, Any]] = []
    parameters = {
        "response_type": "code", "client_id": REQUESTING, "redirect_uri": REDIRECT, "scope": "openid",
        "state": "state-1", "nonce": "nonce-1", "code_challenge": encode64url(hashlib.sha256(b"verifier-1").digest()),
        "code_challenge_method": "S256"}
    own = c.thumbprint(c.public_jwk(PROOF_KEY.public.point))

    def case(label: str, error: str | None = None, *, further: dict[str, str] | None = None,
             proof: dict[str, Any] | None = None) -> None:
        """A request whose parameters stand in the form."""
        sent = {**parameters, **(further or {})}
        add(label, error, sent, sent, proof)

    def signed(label: str, error: str | None = None, *, header: dict[str, Any] | None = None,
               claims: dict[str, Any] | None = None, signer: SecretKey = REQUEST_KEY,
               beside: dict[str, str] | None = None, change: Any = lambda text: text) -> None:
        """A request whose parameters the client has signed."""
        said = present({"alg": "ES256", "typ": "oauth-authz-req+jwt", **(header or {})})
        stated = present({"iss": REQUESTING, "aud": ISSUER, "nbf": ASKED, "exp": ASKED + 300, **parameters,
                          **(claims or {})})
        counts = {name: value for name, value in stated.items() if name in parameters}
        text = change(c.sign_jws(said, stated, signer))
        add(label, error, {"client_id": REQUESTING, "request": text, **(beside or {})}, counts, None)

    def add(label: str, error: str | None, sent: dict[str, str], counts: dict[str, Any],
            proof: dict[str, Any] | None) -> None:
        claims = None if proof is None else present(
            {**c.proof_claims("POST", PAR_URI, "proof-1", ASKED, "nonce-now"), **proof})
        header = {"alg": "ES256", "jwk": c.public_jwk(PROOF_KEY.public.point), "typ": c.PROOF}
        cases.append({
            "name": label, "now": ASKED, "form": urllib.parse.urlencode(sent),
            "proof": claims and c.sign_jws(header, claims, PROOF_KEY), "valid": error is None,
            "parameters": compact(counts) if error is None else None,
            "thumbprint": own if claims and error is None else None, "error": error})

    case("a pushed request")
    case("with a proof", proof={})
    case("with a proof of the key that it names", further={"dpop_jkt": own}, proof={})
    case("with a proof of another key than it names", "invalid_dpop_proof", further={
        "dpop_jkt": encode64url(seed("another key"))}, proof={})
    case("with a proof for the token endpoint", "invalid_dpop_proof", proof={"htu": TOKEN_URI})
    case("with a proof without a nonce", "use_dpop_nonce", proof={"nonce": None})
    signed("signed")
    signed("signed, of the plain type", header={"typ": "JWT"})
    signed("signed, without a type", header={"typ": None})
    signed("signed, for this server among others", claims={"aud": [OTHER_ISSUER, ISSUER]})
    signed("signed, for an hour", claims={"exp": ASKED + 3600})
    signed("signed, by a clock ten seconds ahead", claims={"nbf": ASKED + 10})
    signed("signed, with other parameters beside it", beside={"scope": "openid email", "state": "state-2"})
    for label, claims in (
            ("for another server", {"aud": OTHER_ISSUER}), ("for nobody", {"aud": None}),
            ("by another client", {"iss": "cli_01m7yfdr8kq5p3v2x9w7t4s6ma"}), ("by nobody", {"iss": None}),
            ("of another client", {"client_id": "cli_01m7yfdr8kq5p3v2x9w7t4s6ma"}), ("of nobody", {"client_id": None}),
            ("which would authenticate the client", {"sub": REQUESTING}), ("with a request in it", {"request": "x"}),
            ("with a request_uri in it", {"request_uri": "urn:x"}), ("over", {"nbf": ASKED - 60, "exp": ASKED}),
            ("more than ten seconds ahead", {"nbf": ASKED + 11}), ("for more than an hour", {"exp": ASKED + 3601}),
            ("without a beginning", {"nbf": None}), ("without an end", {"exp": None}),
            ("with an end that is a string", {"exp": str(ASKED + 300)})):
        signed(f"signed, {label}", "invalid_request_object", claims=claims)
    signed("signed, of another type", "invalid_request_object", header={"typ": "client-authentication+jwt"})
    signed("signed, without an algorithm", "invalid_request_object", header={"alg": "none"})
    signed("signed, with a critical header", "invalid_request_object", header={"crit": ["b64"], "b64": True})
    signed("signed by another key", "invalid_request_object", signer=key("another request object", created=0))
    signed("signed, and altered", "invalid_request_object", change=lambda text: ".".join(
        [text.split(".")[0], encode64url(compact(parameters).encode()), text.split(".")[2]]))
    return cases


def device_authorization_cases() -> list[dict[str, Any]]:
    """Replies to a device that begins, and what it has of them."""
    cases: list[dict[str, Any]] = []
    code = encode64url(seed("device code"))
    usual = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": f"{ISSUER}/device", "expires_in": 600,
             "interval": 5}

    def body(without: str = "", **changes: Any) -> str:
        return compact({name: value for name, value in {**usual, **changes}.items() if name != without})

    def good(name: str, reply: str) -> None:
        read = json.loads(reply)
        shown = {member: read.get(member) for member in (
            "device_code", "user_code", "verification_uri", "verification_uri_complete", "number", "expires_in")}
        cases.append({"name": name, "status": 200, "body": reply, "valid": True, "error": None,
                      "shown": {**shown, "interval": max(1, read.get("interval", 5))}})

    def bad(name: str, reply: str, error: str = "provider_invalid", status: int = 200) -> None:
        cases.append(
            {"name": name, "status": status, "body": reply, "valid": False, "error": error, "shown": None})

    good("by a code", body())
    good("with the code in an address", body(verification_uri_complete=f"{ISSUER}/device?user_code=WDJB-MJHT"))
    good("with a number", body(number="042917", expires_in=60))
    good("a page elsewhere, by https", body(verification_uri="https://device.example.com/"))
    good("no interval", body(without="interval"))
    good("an interval of nothing", body(interval=0))
    good("a code of 64 characters", body(user_code="A" * 64))
    good("members that are not known", body(message="Open the page"))
    good("a second", body(expires_in=1))
    bad("no device code", body(without="device_code"))
    bad("an empty device code", body(device_code=""))
    bad("a device code with a space", body(device_code=f"{code} 1"))
    bad("no code", body(without="user_code"))
    bad("an empty code", body(user_code=""))
    bad("a code of 65 characters", body(user_code="A" * 65))
    bad("a code that controls a screen", body(user_code="\x1b[2JWDJB"))
    bad("a code beyond ASCII", body(user_code="WDJB\u2013MJHT"))
    bad("a code that is no text", body(user_code=12345678))
    bad("no page", body(without="verification_uri"))
    bad("a page without https", body(verification_uri="http://login.example.com/device"))
    bad("a page whose address begins like the issuer", body(
        verification_uri="http://login.example.com.other.example/"))
    bad("a page that is a script", body(verification_uri="javascript:alert(1)"))
    bad("a page that controls a screen", body(verification_uri=f"{ISSUER}/device\x1b[2J"))
    bad("an address with the code, without https", body(
        verification_uri_complete="http://login.example.com/device?user_code=WDJB-MJHT"))
    bad("an address with the code that is no text", body(verification_uri_complete=1))
    bad("a number of five digits", body(number="42917"))
    bad("a number of seven digits", body(number="0429171"))
    bad("a number with a letter", body(number="04291O"))
    bad("a number in other digits", body(number="\u0664\u0662\u0669\u0661\u0667\u0661"))
    bad("a number that is no text", body(number=142917))
    bad("no time", body(without="expires_in"))
    bad("no time left", body(expires_in=0))
    bad("a time that is over", body(expires_in=-1))
    bad("a time that is a text", body(expires_in="600"))
    bad("no object", "[]")
    bad("no JSON", "<h1>Welcome</h1>")
    bad("the client has no device grant", compact({"error": "unauthorized_client"}), "sign_in_refused", 400)
    bad("too many", compact({"error": "temporarily_unavailable"}), "sign_in_unavailable", 429)
    bad("a page of a proxy", "<h1>Bad Gateway</h1>", "server_unreachable", 502)
    return cases


def device_poll_cases() -> list[dict[str, Any]]:
    """Replies to a poll of a device, and what it does about them; it has waited POLL_INTERVAL seconds until now."""
    cases: list[dict[str, Any]] = []

    def case(name: str, reaction: str, status: int, reply: Any, pause: int | None = None,
             retry_after: int | None = None) -> None:
        body = reply if isinstance(reply, str) else compact(reply)
        cases.append({"name": name, "status": status, "retry_after": retry_after, "body": body, "reaction": reaction,
                      "pause": pause})

    def refused(error: str) -> dict[str, str]:
        return {"error": error, "error_description": "not yet"}

    tokens = {"access_token": "eyJhbGciOiJFUzI1NiJ9.e30.AA", "token_type": "Bearer", "expires_in": 600,
              "scope": "openid"}
    case("approved", "tokens", 200, tokens)
    case("nobody has answered", "ask_again", 400, refused("authorization_pending"), 5, 5)
    case("nobody has answered, without a time", "ask_again", 400, refused("authorization_pending"), 5)
    case("too fast", "slower", 400, refused("slow_down"), 10, 10)
    case("too fast, without a time", "slower", 400, refused("slow_down"), 10)
    case("too fast, with a longer time", "slower", 400, refused("slow_down"), 40, 40)
    case("denied or reported", "declined", 400, refused("access_denied"))
    case("over", "expired", 400, refused("expired_token"))
    case("a code that is not known, or came before", "end", 400, refused("invalid_grant"))
    case("the client is not known", "end", 401, refused("invalid_client"))
    case("an error that is not known", "end", 400, refused("moon_in_wrong_phase"))
    case("too many", "later", 429, refused("temporarily_unavailable"), 30, 30)
    case("too many, with a shorter time", "later", 429, refused("temporarily_unavailable"), 5, 1)
    case("not answered in time", "later", 408, "", 5)
    case("a fault of the server", "later", 500, refused("server_error"), 5)
    case("under load", "later", 503, "<h1>Service Unavailable</h1>", 60, 60)
    case("pending, by a page of a proxy", "later", 502, refused("authorization_pending"), 5)
    case("a success without a token", "end", 200, {**tokens, "access_token": ""})
    case("a token of another type", "end", 200, {**tokens, "token_type": "mac"})
    case("a page in the place of tokens", "end", 200, "<h1>Welcome</h1>")
    case("a page of a proxy that knows no such place", "end", 404, "<h1>Not Found</h1>")
    return cases


def jwk(point: bytes) -> dict[str, str]:
    """A public key as a JWK, named by its thumbprint; RFC 7517, RFC 7638."""
    x, y = encode64url(point[1:33]), encode64url(point[33:])
    thumbprint = hashlib.sha256(compact({"crv": "P-256", "kty": "EC", "x": x, "y": y}).encode()).digest()
    return {
        "crv": "P-256", "kty": "EC", "x": x, "y": y, "kid": encode64url(thumbprint), "use": "sig", "alg": "ES256"}


PUSH_KEYS = {"keys": [jwk(SecretKey.of(private("push"), ECDSA, 0).public.point)]}


def files() -> dict[str, dict[str, Any]]:
    """All files."""
    who = {"issuer": ISSUER, "user": USER, "enrollment": ENROLLMENT}
    server = c.Certificate.parse(SERVER_CERTIFICATE)
    server_keys = {"primary": number(SERVER.private), "signing": number(SERVER_SIGNING.private),
                   "encryption": number(SERVER_ENCRYPTION.private)}
    device = {"device_private_keys": keys_of(DEVICE), "device_certificate": armored(DEVICE_CERTIFICATE),
              "device_created": MADE}
    return {
        "pin": {"description": "The derivation of a PIN's key. " + NOTE, "page": "methods.md", "cases": pin_cases()},
        "request-signature": {
            "description": "Signed requests of a device, as they arrive at the server. " + NOTE, "page": "requests.md",
            "issuer": ISSUER, "known_enrollments": [ENROLLMENT], "server_time": ASKED,
            "authentication_private_key": number(DEVICE.authentication.private),
            "authentication_public_key": DEVICE.authentication.public.point.hex(),
            "fingerprint": DEVICE.primary.public.name,
            "cases": request_cases(DEVICE, ISSUER, ENROLLMENT, ASKED)},
        "receipt": {"description": "Texts of receipts, texts that are none, and signed receipts. " + NOTE,
                    "page": "receipts.md", "cases": receipt_cases()},
        "challenge": {
            "description": "Sealed challenges, as a device gets them. " + NOTE, "page": "challenges.md", **who,
            **device,
            "server_private_keys": server_keys, "server_certificate": armored(SERVER_CERTIFICATE),
            "cases": challenge_message_cases()},
        "poll": {
            "description": "Replies to a poll, as a device gets them. " + NOTE, "page": "challenges.md", **who,
            **device, "now": ASKED + 10,
            "server_private_keys": server_keys, "server_certificate": armored(SERVER_CERTIFICATE),
            "cases": poll_cases()},
        "sealed-answer": {
            "description": "Sealed answers to one challenge, as the server gets them. " + NOTE, "page": "messages.md",
            **who,
            **device, "device_certificate": armored(DEVICE_CERTIFICATE + PIN_COMPONENT),
            "pin_private_key": number(PIN_KEY.private), "server_private_keys": server_keys,
            "server_created": MADE, "server_certificate": armored(SERVER_CERTIFICATE),
            "body": compact(challenge_body()),
            "number": "471932", "now": ASKED + 29,
            "cases": answer_cases(DEVICE, PIN_KEY, server, challenge_body(), "471932", ASKED + 29)},
        "certificate": {
            "description": "Certificates with which a device enrolls. " + NOTE, "page": "enrollment.md", **who,
            "user_id": f"{USER} <{ENROLLMENT}@login.example.com>", "now": ASKED, "private_keys": keys_of(DEVICE),
            "fingerprints": {name: getattr(DEVICE, name).public.name
            for name in ("primary", "authentication", "encryption")},
            "cases": certificate_cases(DEVICE, USER, ENROLLMENT, ISSUER, MADE, ASKED)},
        "method-change": {"description": "Changes of methods, and custom data. " + NOTE, "page": "methods.md", **who,
                          "cases": change_cases(
                              DEVICE, PIN_KEY, USER, ENROLLMENT, ISSUER,
                              NONCE, MADE, ASKED)},
        "push-envelope": {
            "description": "Pushes in the form of APNs, as a device gets them. " + NOTE, "page": "pushes.md",
            "issuer": ISSUER, "enrollment": ENROLLMENT, "skew": 300, "private_key": number(private("push")),
            "push_keys": PUSH_KEYS, "cases": push_cases()},
        "assertion": {
            "description": "Assertions by which a device signs its user in, as the server gets them. " + NOTE,
            "page": "signing-in.md", **who, "authentication_private_key": number(DEVICE.authentication.private),
            "authentication_public_key": DEVICE.authentication.public.point.hex(), "cases": assertion_cases()},
        "jwt-answer": {
            "description": "Answers of a device that has JWKs, to one challenge, as the server gets them. " + NOTE,
            "page": "jwk-devices.md", **who, "challenge": CHALLENGE, "nonce": NONCE,
            "devices": {"usual": JWKS, "rsa": RSA_JWKS},
            "private_keys": {"possession": number(JWK_POSSESSION.private), "verification": JWK_VERIFICATION_SEED.hex()},
            "cases": jwt_answer_cases()},
        "jwt-challenge": {
            "description": "Challenges as devices with JWKs get them. " + NOTE, "page": "jwk-devices.md", **who,
            "client": JWT_CLIENT, "client_name": JWT_CLIENT_NAME, "challenge": CHALLENGE, "nonce": NONCE,
            "asked_at": ASKED, "expires_at": ASKED + 120, "issuer_keys": ISSUER_KEYS, "cases": jwt_challenge_cases()},
        "maintenance-assertion": {
            "description": "Assertions for tokens of a device's own, as the server gets them. " + NOTE,
            "page": "jwk-devices.md", **who, "keys": JWKS, "private_key": number(JWK_POSSESSION.private),
            "cases": maintenance_cases()},
        "event-answer": {
            "description": "Keys and signatures of devices that sign events, as the server gets them. " + NOTE,
            "page": "jwk-devices.md", **EVENT, "cases": event_cases()},
        "dpop-proof": {
            "description": "Proofs of a key (DPoP), as the server gets them. " + NOTE, "page": "signing-in.md",
            "issuer": ISSUER, "private_key": number(PROOF_KEY.private),
            "nonces": [{"nonce": nonce, "made": made} for nonce, made in NONCES.items()], "cases": proof_cases()},
        "pushed-request": {
            "description": "Authorization requests that a client pushes, as the server gets them. " + NOTE,
            "page": "signing-in.md", "issuer": ISSUER, "client": REQUESTING,
            "client_private_key": number(REQUEST_KEY.private), "client_public_key": REQUEST_KEY.public.point.hex(),
            "proof_private_key": number(PROOF_KEY.private),
            "nonces": [{"nonce": nonce, "made": made} for nonce, made in NONCES.items()], "cases": pushed_cases()},
        "device-authorization": {
            "description": "Replies to a device that begins a sign-in elsewhere, as it gets them.",
            "page": "signing-in.md", "issuer": ISSUER, "cases": device_authorization_cases()},
        "device-poll": {
            "description": "Replies to a poll of a device that waits for a sign-in elsewhere, as it gets them.",
            "page": "signing-in.md", "interval": POLL_INTERVAL, "cases": device_poll_cases()},
        "removal-notice": {
            "description": "Removal notices, as a device gets them. " + NOTE, "page": "enrollment.md",
            "issuer": ISSUER, "enrollment": ENROLLMENT, "now": ASKED + 60, "server_private_keys": server_keys,
            "cases": notice_cases()},
        "device-act": {
            "description": "Acts on other devices, as the server gets them, and their texts. " + NOTE,
            "page": "devices.md", **who, **device,
            "device_certificate": armored(DEVICE_CERTIFICATE + PIN_COMPONENT + BIOMETRIC_COMPONENT),
            "pin_private_key": number(PIN_KEY.private), "biometric_private_key": number(BIOMETRIC_KEY.private),
            "server_private_keys": server_keys, "server_created": MADE, "server_certificate": armored(
                SERVER_CERTIFICATE), "nonce": NONCE, "now": ASKED, "cases": act_cases(ASKED)},
        "return-message": {
            "description": "Return messages of approvals by a link, as a device gets them, and URLs. " + NOTE,
            "page": "codes-and-links.md", **who, **device, "server_private_keys": server_keys,
            "server_certificate": armored(SERVER_CERTIFICATE), "cases": return_cases()},
        "shown-text": {
            "description": "Codes and invitations, as a device scans or opens them. " + NOTE,
            "page": "codes-and-links.md", "issuer": ISSUER, "cases": shown_cases()},
        "codes": {
            "description": "The codes and the invitation that stand on the pages. They open nothing.",
            "page": "codes-and-links.md", "issuer": ISSUER, "cases": code_cases()},
        "problem": {
            "description": "Replies without success, as a device gets them. " + NOTE, "page": "errors.md", **who,
            **device, "now": ASKED + 60,
            "server_private_keys": server_keys, "server_certificate": armored(SERVER_CERTIFICATE),
            "cases": problem_cases()},
        "webhook": {
            "description": "Callbacks, notices and calls of hooks, as a relying party gets them. " + NOTE,
            "page": "relying-party.md", "now": ASKED + 30, "tolerance": 300, "cases": webhook_cases(ASKED + 30, 300)},
    }


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent / "vectors")
    for name, content in files().items():
        text = json.dumps(content, indent=2) + "\n"
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
        print(f"{name}.json: {len(content['cases'])} cases, {len(text)} octets")
