#!/usr/bin/env python3
"""Checks the vectors in docs/protocol/vectors with the Python client: `check_vectors.py [MADE]`.

It computes anew what is deterministic, and judges what is valid or not by the pages. Names of OpenPGP errors are the
server's and are not compared. It prints what differs, then how many passed, and exits with 1 if one failed.

MADE is a folder with what our SDK has made, as Tests/SDKTests/MadeVectorTests.swift writes it: files of the form of the
vectors, of which a case may leave out what only a maker of vectors knows (README.md).
"""
from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import re
import sys
import urllib.parse
from typing import Any, Callable, Iterator

import countersign_client as c
from countersign_client import ECDH, ECDSA, SecretKey, Signature

File = dict[str, Any]
Checks = Iterator[tuple[str, Callable[[], bool]]]


def refused(action: Callable[[], Any]) -> bool:
    """Whether an action refuses what it was given."""
    try:
        action()
    except (c.Refused, KeyError, TypeError, ValueError):
        return True
    return False


def agrees(case: File, **found: Any) -> bool:
    """Whether what was found is what a case says; it says nothing by a member that is absent."""
    return all(name not in case or case[name] == value for name, value in found.items())


def certificate(text: str) -> c.Certificate:
    """A certificate from armor."""
    return c.Certificate.parse(c.dearmor("PUBLIC KEY BLOCK", text))


def unhex(text: str) -> bytes:
    """Octets."""
    return bytes.fromhex(text)


def pins(file: File) -> Checks:
    """Derives each key anew; methods.md."""
    for case in file["cases"]:
        def derive() -> bool:
            agreement, salt, point = (unhex(case[name]) for name in ("agreement_private_key", "salt", "point"))
            stored = c.StoredPIN(c.scalar(agreement), salt, point, case["cost"], case["created"])
            primary = unhex(case["primary_fingerprint"])
            shared, stretched = stored.shared_secret(), stored.stretched(case["pin"])
            made = stored.key(case["pin"], primary)
            return (shared.hex(), stretched.hex(), (shared + stretched).hex(),
                    c.hmac.digest(stored.salt, shared + stretched, "sha256").hex(),
                    (b"countersign pin v1" + primary + bytes([case["counter"]])).hex(),
                    stored.candidate(shared + stretched, primary, case["counter"]).hex(), made.public.point.hex(),
                    made.public.body.hex(), made.public.name) == tuple(case[name] for name in (
                        "shared_secret", "stretched_pin", "input_keying_material", "pseudorandom_key", "info",
                        "private_key", "public_key", "key_packet_body", "fingerprint"))
        yield case["name"], derive


def judge_request(case: File, file: File) -> tuple[str | None, str | None]:
    """Code and error of a request by the checks of requests.md; the parser knows only what the vectors contain."""
    fields, invalid = case["fields"], "signature_invalid"
    if not {"Signature", "Signature-Input"} <= set(fields):
        return "signature_missing", "missing"
    item = r'(?:"[^"]*"|[0-9]+)'
    member = re.compile(rf'([a-z][a-z0-9_-]*)=\( *((?:"[^"]*"(?:;[a-z]+)? *)*)\)((?: *; *[a-z]+={item})*)')
    inputs = member.findall(fields["Signature-Input"])
    values = re.findall(r"([a-z][a-z0-9_-]*)=:([^:]*):", fields["Signature"])
    if len(inputs) != 1 or len(values) != 1:
        return invalid, "several"
    label, listed, written = inputs[0]
    names, signature = re.findall(r'"([^"]*)"', listed), base64.b64decode(values[0][1])
    if values[0][0] != label or ";" in listed or len(signature) != 64:
        return invalid, "malformed"
    pairs = re.findall(rf"; *([a-z]+)=({item})", written)
    parameters, known = dict(pairs), ("tag", "alg", "created", "nonce", "keyid")
    for name in [each for each, _ in pairs if each not in known]:
        return invalid, f"parameter({name})"
    texts = {"tag": '"countersign"', "alg": '"ecdsa-p256-sha256"', "created": "[0-9]+", "nonce": '"[ -~]{16,64}"',
        "keyid": '".*"'}
    for name in known:
        if not re.fullmatch(texts[name], parameters.get(name, "")):
            return invalid, f"parameter({name})"
    named, point = parameters["keyid"].strip('"'), unhex(file["authentication_public_key"])
    if case["target"] == "/v1/enrollments":
        enrolling = c.Certificate.parse(c.decode64(json.loads(case["body"])["certificate"]))
        point = next(part.key.point for part in enrolling.subkeys if part.statements[0].find(27) == b"\x20")
        if named != enrolling.primary.key.name:
            return invalid, "parameter(keyid)"
    elif named not in file["known_enrollments"]:
        return "unknown_enrollment", None
    present = {"@method": case["method"], "@target-uri": file["issuer"] + case["target"]}
    present |= {name.lower(): fields[name] for name in ("Content-Digest", "Authorization") if name in fields}
    for name in [*(each for each in present if each not in names), *(each for each in names if each not in present)]:
        return invalid, f"coverage({name})"
    if len(names) != len(present):
        return invalid, "malformed"
    if ("Content-Digest" in fields) != bool(case["body"]):
        return invalid, "coverage(content-digest)"
    canonical = "(" + " ".join(f'"{each}"' for each in names) + ")"
    canonical += "".join(f";{name}={value}" for name, value in pairs)
    base = c.signature_base([(name, present[name]) for name in names], canonical)
    key = c.ec.EllipticCurvePublicKey.from_encoded_point(c.CURVE, point)
    der = c.utils.encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        key.verify(der, base.encode(), c.ec.ECDSA(c.hashes.SHA256()))
    except c.InvalidSignature:
        return invalid, "invalid"
    if case["body"] and c.content_digest(case["body"].encode()) not in fields["Content-Digest"]:
        return invalid, "digest"
    if abs(int(parameters["created"]) - file["server_time"]) > c.SKEW:
        return "clock_skew", None
    return None, None if agrees(case, signature_base=base) else "base"


def requests(file: File) -> Checks:
    """Judges each request, and signs those of the usual form anew; requests.md."""
    key = SecretKey.of(c.scalar(unhex(file["authentication_private_key"])), ECDSA, 0)
    for case in file["cases"]:
        yield case["name"], lambda: (judge_request(case, file) == (case["code"], case["error"])
                                     and case["valid"] == (case["code"] is None))
        usual = re.search(r'created=([0-9]+);nonce="([^"]*)";keyid="([^"]*)";alg',
            case["fields"].get("Signature-Input", ""))
        if case["name"] in ("a request without a body", "a request with a body"):
            yield case["name"] + ", signed anew", lambda: c.signed_fields(
                case["method"], file["issuer"] + case["target"], case["body"].encode(), key, usual[3], int(usual[1]),
                usual[2]) == case["fields"]


def receipts(file: File) -> Checks:
    """Renders, parses and verifies; receipts.md."""
    for case in file["cases"]:
        def render() -> bool:
            device = type("Device", (), {"name": case["device"]})()
            sealed = unhex(case["sealed_custom_data"]) if case["sealed_custom_data"] else None
            text = c.Receipt.of(json.loads(case["body"]), device, case["decision"], c.seconds(case["answered"]),
                                case["method"], case["number"], sealed).text
            return text == case["text"] and c.Receipt.parse(text).text == text

        def verify() -> bool:
            known = certificate(case["certificate"])
            c.verify_receipt(case["receipt"], known, case["now"])
            text, signature = c.read_clear_text(case["receipt"])
            return known.signer(signature, c.text_content(text), case["now"]).key.name == case["signer"]

        if case["operation"] == "render":
            yield case["name"], render
        elif case["operation"] == "parse":
            yield case["name"], lambda: refused(lambda: c.Receipt.parse(case["text"])) == bool(case["error"])
        else:
            yield case["name"], verify if case["error"] is None else lambda: refused(verify)


def device_keys(file: File) -> c.DeviceKeys:
    """The device's keys of a file."""
    keys = file.get("device_private_keys") or file["private_keys"]
    made = {name: c.scalar(unhex(value)) for name, value in keys.items()}
    return c.DeviceKeys(*(SecretKey.of(made[name], algorithm, file["device_created"]) for name, algorithm in (
        ("primary", ECDSA), ("authentication", ECDSA), ("encryption", ECDH))))


def challenges(file: File) -> Checks:
    """Opens each challenge; messages.md, challenges.md."""
    keys, server = device_keys(file), certificate(file["server_certificate"])
    for case in file["cases"]:
        def look() -> bool:
            message = unhex(case["message"])
            content = c.open_from_server(message, keys, server, case["now"])
            c.read_challenge(content, case["challenge"], file["issuer"], file["user"], file["enrollment"], case["now"])
            packets, session = c.decrypt(message, keys.encryption)
            signer = server.signer(c.read_signed(packets)[1], content, case["now"]).key.name
            return (content.decode(), packets.hex(), session.hex(), signer, case["stage"], case["error"]) == (
                case["body"], case["packets"], case["session_key"], case["signer"], None, None)

        yield case["name"], look if case["valid"] else lambda: refused(look)
        if case["stage"] in ("body", "purpose") and case["error"] != "signatureType":
            yield case["name"] + ", opened", lambda: c.open_from_server(
                unhex(case["message"]), keys, server, case["now"]).decode() == case["body"]


def polls(file: File) -> Checks:
    """Reads each reply to a poll; challenges.md, Poll."""
    keys, server = device_keys(file), certificate(file["server_certificate"])
    who = file["issuer"], file["user"], file["enrollment"]
    for case in file["cases"]:
        def open_(message: bytes, challenge: str) -> dict[str, Any]:
            content = c.open_from_server(message, keys, server, file["now"])
            return c.read_challenge(content, challenge, *who, file["now"])

        def read() -> bool:
            reply = json.loads(case["reply"])
            found = [{"challenge": each.challenge, "body": each.body} for each in c.read_poll(reply, open_)]
            expected = [{**each, "body": each["body"] and json.loads(each["body"])} for each in case["entries"]]
            return found == expected and reply["cursor"] == case["cursor"]

        yield case["name"], read


def problems(file: File) -> Checks:
    """Judges what a device does about each reply; errors.md."""
    server = certificate(file["server_certificate"])

    def is_notice(text: str) -> bool:
        return not refused(lambda: c.verify_removal_notice(
            text, server, file["issuer"], file["enrollment"], file["now"]))

    for case in file["cases"]:
        yield case["name"], lambda: c.reaction(
            case["status"], case["media_type"], case["body"], is_notice) == case["reaction"]


def form_of_answer(signature: Signature, server: bytes, asked: int, now: int) -> str | None:
    """What is wrong with the form of an answer's signature; messages.md, Subpackets of a signature."""
    salts = [b"salt@notations.sequoia-pgp.org", b"salt@notations.openpgpjs.org"]
    if signature.kind != c.TEXT:
        return "type"
    if len(signature.hashed_area) > 512:
        return "size"
    for kind, content in signature.hashed:
        is_salt = any(content[8:].startswith(salt) and len(content) <= 8 + len(salt) + 32 for salt in salts)
        if kind not in (2, 16, 20, 28, 33, 35) or kind == 20 and not is_salt:
            return f"subpacket({kind})"
    if any(each != b"\x04" + server for each in signature.all(35)):
        return "recipient"
    return None if asked - c.SKEW <= signature.created <= now + c.SKEW else "time"


def judge_answer(case: File, file: File, server_key: SecretKey) -> tuple[str | None, str | None]:
    """The stage at which an answer is refused, and the cause in its form; challenges.md, Checks."""
    body = json.loads(file["body"])
    device, server = certificate(file["device_certificate"]), certificate(file["server_certificate"])
    try:
        packets, session = c.decrypt(unhex(case["message"]), server_key)
        c.require(agrees(case, packets=packets.hex(), session_key=session.hex()), "other packets")
        content, signature = c.read_signed(packets)
    except c.Refused:
        return "message", None
    form = form_of_answer(signature, server.fingerprint, int(c.seconds(body["asked_at"])), file["now"])
    if form or not agrees(case, signature_created=signature.created):
        return "form", form
    try:
        receipt = c.Receipt.parse(content.decode())
        expected = c.Receipt.of(body, device.primary.key, receipt.decision, c.seconds(receipt.answered),
            receipt.method, receipt.number)
        c.require(expected == receipt and receipt.text == case["text"], "another text")
    except c.Refused:
        return "text", None
    data = c.text_content(receipt.text)
    try:
        raw = list(c.packets(packets))[2][1]
        c.require(agrees(case, signature=raw.hex()), "another signature")
        c.verify_receipt(c.clear_text(receipt.text, raw), device, file["now"])
        c.require(device.signer(signature, data, file["now"]).key.name == case["signer"], "another signer")
    except c.Refused:
        return "signer", None
    return None, None


def answers(file: File) -> Checks:
    """Judges each answer, and makes the usual ones anew; challenges.md."""
    server_key = SecretKey.of(c.scalar(unhex(file["server_private_keys"]["encryption"])), ECDH, file["server_created"])
    keys, server = device_keys(file), certificate(file["server_certificate"])
    for case in file["cases"]:
        def anew() -> bool:
            pin_part = next(
                part.key for part in certificate(file["device_certificate"]).subkeys if part.flags(file["now"]) & 2)
            pin = SecretKey(c.scalar(unhex(file["pin_private_key"])), pin_part)
            random = {"session": unhex(case["session_key"]), "prefix": unhex(case["prefix"]),
                      "ephemeral": c.scalar(unhex(case["ephemeral_private_key"]))}
            signer = pin if "PIN" in case["name"] else keys.primary
            return c.seal_text(case["text"], signer, server, file["now"], **random).hex() == case["message"]

        expected = case["stage"], case["error"] if case["stage"] == "form" else None
        yield case["name"], lambda: (judge_answer(case, file, server_key) == expected
                                     and case["valid"] == (case["stage"] is None) == (case["error"] is None))
        if case["name"] in ("approved by confirm", "approved by PIN", "denied", "reported"):
            yield case["name"] + ", made anew", anew


Part = tuple[int, bytes, list[Signature]]


def parts_of(data: bytes) -> list[Part]:
    """Keys and user IDs with the signatures that follow them."""
    parts: list[Part] = []
    for tag, body in c.packets(data):
        if tag == 2:
            parts[-1][2].append(Signature.parse(body))
        else:
            parts.append((tag, body, []))
    return parts


def form_refusal(parts: list[Part], size: int, limit: int, now: int) -> str | None:
    """Why a certificate does not have the permitted form; enrollment.md and methods.md."""
    keys = [c.PublicKey.parse(body) for tag, body, _ in parts if tag != 13]
    if size > limit:
        return f"size({limit})"
    if len({key.point for key in keys}) < len(keys):
        return "repeatedPoint"
    for tag, body, signatures in parts:
        statements = [each for each in signatures if each.kind != c.SUBKEY_REVOKED]
        if len(statements) != (tag != 6) or len(signatures) - len(statements) > (tag == 14):
            return "signatures"
        made = max(keys[0].created, c.PublicKey.parse(body).created if tag == 14 else 0)
        for each in signatures:
            admitted = {2, 16, 29, 33} if each.kind == c.SUBKEY_REVOKED else {
                2, 7, 11, 16, 20, 21, 22, 23, 25, 27, 30, 32, 33, 34, 39}
            if len(each.hashed_area) > 512:
                return "signatureSize(512)"
            for kind, _ in each.hashed:
                if kind in (3, 9):
                    return "time"
                if kind not in admitted:
                    return f"subpacket({kind})"
            if not made <= each.created <= now:
                return "time"
    return None


def certificate_refusal(data: bytes, user_id: str, now: int) -> str | None:
    """Why a device cannot enroll with a certificate; enrollment.md, Keys and certificate."""
    try:
        known = c.Certificate.parse(data)
    except c.Refused:
        return "openPGP"
    parts = parts_of(data)
    if any(not each.names(known.primary.key) for _, _, signatures in parts for each in signatures):
        return "foreignSignature"
    if known.user_ids != [user_id]:
        return "userID"

    def flags(part: c.Component) -> int:
        return (max(part.statements, key=lambda each: each.created).find(27) or b"\0")[0]

    expected = {(0x20, ECDSA), (0x0C, ECDH)}
    if flags(known.primary) != 0x03 or len(known.subkeys) != 2 or {
            (flags(part), part.key.algorithm) for part in known.subkeys} != expected:
        return "keys"
    for part in [known.primary, *known.subkeys]:
        ends = [int.from_bytes(each.find(kind) or b"", "big") for each in part.statements for kind in (3, 9)]
        if any(ends) or part.revocations or part.key.created > now:
            return "time"
    return form_refusal(parts, len(data), 4096, now)


def certificates(file: File) -> Checks:
    """Judges each certificate; enrollment.md."""
    for case in file["cases"]:
        def judge() -> bool:
            data = unhex(case["certificate"])
            refusal = certificate_refusal(data, file["user_id"], file["now"])
            is_same = (refusal or "") == re.sub(r"^openPGP\(.*", "openPGP", case["refusal"] or "")
            return is_same and case["valid"] == (refusal is None)

        def same() -> bool:
            one, other = (c.Certificate.parse(unhex(case[name])) for name in ("certificate", "canonical"))
            names = [sorted(part.key.name for part in [each.primary, *each.subkeys]) for each in (one, other)]
            return names == [sorted(file["fingerprints"].values())] * 2
        yield case["name"], judge
        if case["valid"]:
            yield case["name"] + ", canonical", same


def change_refusal(case: File, host: str) -> tuple[str | None, bytes | None]:
    """Why the certificate in a change is refused, or what it grows to; methods.md, The certificate in a change."""
    try:
        known = c.Certificate.parse(unhex(case["stored_certificate"]))
        sent = c.Certificate.parse(unhex(case["certificate"]))
        c.require(known.fingerprint == sent.fingerprint, "another device")
    except c.Refused:
        return "openPGP", None

    def statement(each: Signature) -> Any:
        return each.kind, each.find(27), each.notations, each.find(3), each.find(9)

    parts, fingerprints = parts_of(known.data), [part.key.name for part in known.subkeys]
    stored = {body: signatures for _, body, signatures in parts}
    for tag, body, signatures in parts_of(sent.data):
        if body in stored:
            said = [statement(each) for each in stored[body]]
            new = [each for each in signatures if statement(each) not in said]
            if any(each.kind != c.SUBKEY_REVOKED or c.PublicKey.parse(body).name != case["old"] for each in new):
                return "signatures", None
            stored[body] += new
        elif tag == 13:
            return "userID", None
        elif c.PublicKey.parse(body).name == case["new"]:
            parts.append((tag, body, signatures))
        else:
            return "keys", None
    added = [part for part in sent.subkeys if part.key.name not in fingerprints]
    if [part.key.name for part in added] != ([case["new"]] if case["new"] else []):
        return "keys", None
    if case["old"]:
        ends = [each for _, body, signatures in parts for each in signatures if each.kind == c.SUBKEY_REVOKED]
        is_harmless = len(ends) == 1 and ends[0].find(29) in (b"\x01", b"\x03")
        if not is_harmless or not case["now"] - 420 <= ends[0].created <= case["now"]:
            return "time", None
    for part in added:
        binding = part.statements[0]
        if binding.find(27) != b"\x02" or binding.notations != [(f"method@{host}", case["method"])]:
            return "keys", None
        if binding.find(9) or binding.find(3) or part.revocations or part.key.created > case["now"]:
            return "time", None
    raw = {}  # the octets of each signature
    for tag, body in [*c.packets(known.data), *c.packets(sent.data)]:
        if tag == 2:
            parsed = Signature.parse(body)
            raw[parsed.hashed_area, parsed.r] = body
    grown = b"".join(c.packet(tag, body) + b"".join(c.packet(2, raw[each.hashed_area, each.r]) for each in signatures)
                     for tag, body, signatures in parts)
    return form_refusal(parts, len(grown), 32768, case["now"]), grown


CHANGE = re.compile(rf"""Countersign\ change\ v1 \nissuer:\ .+ \nenrollment:\ enr{c.ID} \nnonce:\ {c.HEX_32}
    \nmethod:\ (?:pin|biometric) (?:\nold:\ ([0-9A-F]{{40}}))? (?:\nnew:\ ([0-9A-F]{{40}}))?
    \ncertificate:\ ([A-Za-z0-9+/]+=*)""", re.VERBOSE)


def is_sealed_change(case: File, file: File) -> bool:
    """Whether the message of a change holds its text, signed by the primary key for the server; methods.md."""
    device, server = (certificate(file[f"{name}_certificate"]) for name in ("device", "server"))
    key = SecretKey.of(c.scalar(unhex(file["server_private_keys"]["encryption"])), ECDH, file["server_created"])
    content, signature = c.read_signed(c.decrypt(unhex(case["message"]), key)[0])
    signer = device.signer(signature, c.text_content(content.decode()), case["now"])
    recipients = signature.all(35)
    return (content.decode(), signature.kind, signer is device.primary, recipients) == (
        case["text"], c.TEXT, True, [b"\x04" + server.fingerprint])


def changes(file: File) -> Checks:
    """Renders and judges changes; methods.md."""
    who = (file["issuer"], file["enrollment"])
    for case in file["cases"]:
        def judge() -> bool:
            refusal, grown = change_refusal(case, c.host(file["issuer"]))
            text = c.change_text(*who, case["nonce"], case["method"], case["old"], case["new"],
                unhex(case["certificate"]))
            is_same = refusal is not None or grown is not None and agrees(case, grown_certificate=grown.hex())
            is_same = is_same and case["valid"] == (refusal is None)
            expected = re.sub(r"^openPGP\(.*", "openPGP", case["refusal"] or "")
            return text == case["text"] and is_same and (refusal or "") == expected

        def parse() -> bool:
            match = CHANGE.fullmatch(case["text"])
            is_change = match and match[1] != match[2] and not refused(lambda: c.decode64(match[3]))
            return bool(is_change) == case["valid"]

        def custom() -> bool:
            sealed = unhex(case["sealed_custom_data"]) if case["sealed_custom_data"] else None
            return c.custom_change_text(*who, case["nonce"], case["authenticator"], sealed) == case["text"]

        yield case["name"], {"change": judge, "parse": parse, "custom": custom,
                             "custom-data": lambda: c.custom_data_text(case["data"]) == case["text"]}[case["operation"]]
        if "message" in case:
            yield case["name"] + ", sealed", lambda: is_sealed_change(case, file)


def pushes(file: File) -> Checks:
    """Judges each push; pushes.md."""
    for case in file["cases"]:
        payload = json.loads(case["payload"])
        alert = payload["aps"]["alert"]

        def verify() -> bool:
            claims = c.verify_push(payload, file["issuer"], file["enrollment"], file["push_keys"], case["now"],
                file["skew"])
            header = json.loads(c.decode64url(payload["countersign"]["jws"].split(".")[0]))
            return (claims, header, case["error"]) == (json.loads(case["claims"]), json.loads(case["header"]), None)
        yield case["name"], verify if case["valid"] else lambda: refused(verify)
        yield case["name"] + ", hash", lambda: c.alert_hash(alert["title"], alert["body"]) == case["alert_hash"]

    def thumbprint() -> bool:
        key = file["push_keys"]["keys"][0]
        text = json.dumps({name: key[name] for name in ("crv", "kty", "x", "y")}, separators=(",", ":"))
        return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode() == key["kid"]
    yield "the key's name", thumbprint


def assertions(file: File) -> Checks:
    """Judges each assertion, and signs the good ones anew; signing-in.md, The assertion."""
    key = SecretKey.of(c.scalar(unhex(file["authentication_private_key"])), ECDSA, 0)
    for case in file["cases"]:
        def read() -> bool:
            claims = c.read_assertion(case["assertion"], unhex(file["authentication_public_key"]), file["issuer"],
                                      case["client"], case["now"])
            said = claims["iss"], claims["sub"], claims.get("challenge")
            stated = json.loads(case["claims"]) if "claims" in case else claims
            return claims == stated and said == (file["enrollment"], file["user"], stated.get("challenge"))

        def sign() -> bool:
            return c.sign_jws(json.loads(case["header"]), json.loads(case["claims"]), key) == case["assertion"]

        yield case["name"], read if case["valid"] else lambda: refused(read)
        if case["valid"] and "claims" in case:
            yield case["name"] + ", signed anew", sign


def jwt_answers(file: File) -> Checks:
    """Judges each answer by JWT; jwk-devices.md, Checks."""
    for case in file["cases"]:
        def read() -> bool:
            keys = file["devices"][case["device"]]
            return c.read_jwt_answer(
                case["token"], keys, file["issuer"], file["user"], file["enrollment"], file["challenge"],
                file["nonce"], case["methods"], case["now"]) == (case["decision"], case["method"])

        yield case["name"], read if case["error"] is None else lambda: refused(read)


def jwt_challenges(file: File) -> Checks:
    """Reads each challenge for a device with JWKs; jwk-devices.md, The challenge."""
    for case in file["cases"]:
        def read() -> bool:
            claims = c.read_jwt_challenge(
                case["token"], file["issuer_keys"], file["issuer"], file["enrollment"], case["now"])
            shown = claims["challengeContext"]
            said = (
                urllib.parse.unquote(shown["bindingMessage"]), shown.get("clientLocation"), claims["userVerification"])
            return claims == json.loads(case["claims"]) and said == (
                case["message"], case["location"], case["verification"]) and "sub" not in claims

        yield case["name"], read if case["valid"] else lambda: refused(read)


def maintenance_assertions(file: File) -> Checks:
    """Judges each assertion; jwk-devices.md, A token for the device's own enrollment."""
    for case in file["cases"]:
        def read() -> bool:
            return c.read_maintenance_assertion(
                case["assertion"], file["keys"]["proofOfPossession"], file["issuer"], file["user"], file["enrollment"],
                case["now"]) == json.loads(case["claims"])

        yield case["name"], read if case["valid"] else lambda: refused(read)


def event_answers(file: File) -> Checks:
    """Judges each key and signature of an event; jwk-devices.md, Events."""
    for case in file["cases"]:
        def read() -> bool:
            decision = str(case["approved"]).lower()
            text = f"{file['user']}{file['client']}{file['event']}{file['timestamp']}TRUSTED_DEVICE{decision}"
            c.verify_event(c.read_event_key(case["public_key"], case["algorithm"]), text, case["signature"])
            return text == case["text"]

        yield case["name"], read if case["error"] is None else lambda: refused(read)


def nonces(file: File) -> dict[str, int]:
    """The server's nonces of a file, and when it made each."""
    return {each["nonce"]: each["made"] for each in file["nonces"]}


def judged(action: Callable[[], Any], code: str) -> tuple[Any, str | None]:
    """What an action gives, or the error of the server where it refuses."""
    try:
        return action(), None
    except c.NonceNeeded:
        return None, "use_dpop_nonce"
    except (c.Refused, KeyError, TypeError, ValueError):
        return None, code


def proofs(file: File) -> Checks:
    """Judges each proof, and signs good ones anew; signing-in.md, Tokens that are bound to a key."""
    key = SecretKey.of(c.scalar(unhex(file["private_key"])), ECDSA, 0)
    for case in file["cases"]:
        def judge() -> bool:
            return judged(lambda: c.read_proof(
                case["proof"], case["method"], case["uri"], nonces(file), case["now"], case["access_token"]),
                "invalid_dpop_proof") == (case["thumbprint"], case["code"])

        yield case["name"], lambda: judge() and case["valid"] == (case["code"] is None) == (case["error"] is None)
        header = json.loads(case["header"])
        if case["valid"] and header["alg"] == "ES256":
            yield case["name"] + ", signed anew", lambda: c.sign_jws(
                header, json.loads(case["claims"]), key) == case["proof"]


def pushed(file: File) -> Checks:
    """Judges what a client has signed of each request; signing-in.md, Requests that are pushed."""
    for case in file["cases"]:
        def judge() -> tuple[Any, Any, str | None]:
            fields, thumbprint = dict(c.urllib.parse.parse_qsl(case["form"], strict_parsing=True)), None
            if case["proof"]:
                thumbprint, error = judged(lambda: c.read_proof(
                    case["proof"], "POST", file["issuer"] + "/oauth2/par", nonces(file), case["now"]),
                    "invalid_dpop_proof")
                if error or fields.get("dpop_jkt", thumbprint) != thumbprint:
                    return None, None, error or "invalid_dpop_proof"
            if "request" not in fields:
                return fields, thumbprint, None
            claims, error = judged(lambda: c.read_request_object(
                fields["request"], unhex(file["client_public_key"]), file["issuer"], file["client"], case["now"]),
                "invalid_request_object")
            further = ("iss", "aud", "nbf", "exp")
            counts = claims and {name: value for name, value in claims.items() if name not in further}
            return counts, thumbprint, error

        yield case["name"], lambda: judge() == (
            case["parameters"] and json.loads(case["parameters"]), case["thumbprint"], case["error"]) and (
            case["valid"] == (case["error"] is None))


def device_authorizations(file: File) -> Checks:
    """Reads each reply to a device that begins; signing-in.md, By an approval on another device."""
    for case in file["cases"]:
        def read() -> bool:
            return c.read_device_authorization(case["status"], case["body"], file["issuer"]) == case["shown"]

        yield case["name"], read if case["valid"] else lambda: refused(read) and case["shown"] is None
        yield case["name"] + ", its error", lambda: case["valid"] == (case["error"] is None)


def device_polls(file: File) -> Checks:
    """What a device does about each reply to a poll; signing-in.md, By an approval on another device."""
    for case in file["cases"]:
        yield case["name"], lambda: c.poll_reaction(
            case["status"], case["body"], case["retry_after"], file["interval"]) == (case["reaction"], case["pause"])


def notices(file: File) -> Checks:
    """Judges each removal notice; enrollment.md, The end of an enrollment."""
    for case in file["cases"]:
        def stage() -> str | None:
            known, now = certificate(case["certificate"]), file["now"]
            try:
                text, signature = c.read_clear_text(case["notice"])
                signer = known.signer(signature, c.text_content(text), now)
            except c.Refused:
                return "message"
            if signer.is_revoked(now):
                return "signer"
            c.require(case["text"] == text and case["signer"] in (None, signer.key.name), "another text or signer")
            who = file["issuer"], file["enrollment"]
            is_refused = refused(lambda: c.verify_removal_notice(case["notice"], known, *who, now))
            return "text" if is_refused else None

        def judge() -> bool:
            return stage() == case["stage"] and case["valid"] == (case["stage"] is None) == (case["error"] is None)
        yield case["name"], judge
        if case["valid"]:
            yield case["name"] + ", its reason", lambda: c.verify_removal_notice(
                case["notice"], certificate(case["certificate"]), file["issuer"], file["enrollment"],
                file["now"]) == case["text"].split("reason: ")[1]


ACT = re.compile(rf"""Countersign\ device\ act\ v1 \nissuer:\ (https?://[a-z0-9._:\[\]-]+) \nenrollment:\ (enr{c.ID})
    \nnonce:\ ({c.HEX_32}) \nact:\ (suspend|resume|remove) \ndevice:\ (enr{c.ID})""", re.VERBOSE)


def judge_act(case: File, file: File, server_key: SecretKey) -> tuple[str | None, str | None]:
    """The stage at which an act is refused, or the method that has signed it; devices.md, An act."""
    device, server = certificate(file["device_certificate"]), certificate(file["server_certificate"])
    try:
        packets, session = c.decrypt(unhex(case["message"]), server_key)
        c.require((packets.hex(), session.hex()) == (case["packets"], case["session_key"]), "other packets")
        content, signature = c.read_signed(packets)
        c.require(b"\x04" + server.fingerprint in signature.all(35), "another recipient")
    except c.Refused:
        return "message", None
    if not ACT.fullmatch(content.decode()):
        return "text", "text"
    expected = c.act_text(file["issuer"], file["enrollment"], file["nonce"], case["act"], case["device"])
    if content.decode() != expected:
        lines = zip(content.decode().split("\n"), expected.split("\n"))
        return "text", next(line.split(":")[0] for line, other in lines if line != other)
    keys = {notation[1]: part for part in device.subkeys for notation in part.statements[0].notations}
    try:
        c.require(signature.kind == c.TEXT, "a signature over octets")
        signer = device.signer(signature, c.text_content(expected), file["now"])
    except c.Refused:
        return "signer", "signer" if signature.names(keys["pin"].key) else "wrongPIN"
    method = next((method for method, part in keys.items() if part is signer), None)
    return (None, method) if method else ("signer", "wrongPIN")


def acts(file: File) -> Checks:
    """Judges each act, and each text; devices.md."""
    server_key = SecretKey.of(c.scalar(unhex(file["server_private_keys"]["encryption"])), ECDH, file["server_created"])
    for case in file["cases"]:
        def judge() -> bool:
            expected = case["stage"], case["method"] if case["valid"] else case["error"]
            if case["stage"] == "message":
                expected = "message", None
            is_whole = case["valid"] == (case["stage"] is None) == (case["error"] is None)
            return judge_act(case, file, server_key) == expected and is_whole

        yield case["name"], judge if case["operation"] == "act" else (
            lambda: bool(ACT.fullmatch(case["text"])) == case["valid"])


def returns(file: File) -> Checks:
    """Opens each return message, and judges each URL; codes-and-links.md."""
    keys, server = device_keys(file), certificate(file["server_certificate"])
    for case in file["cases"]:
        def opened() -> str:
            content = c.open_from_server(unhex(case["message"]), keys, server, case["now"])
            c.require(content.decode() == case["body"], "another body")
            return c.read_return(content, case["challenge"], file["issuer"], file["enrollment"])

        def look() -> bool:
            code = opened()
            return (code, c.return_url(case["return_uri"], code)) == (case["code"], case["url"])

        def place() -> bool:
            is_refused = refused(lambda: c.check_return_uri(case["return_uri"]))
            return is_refused == (not case["valid"]) and (
                is_refused or c.return_url(case["return_uri"], case["code"]) == case["url"])

        if case["operation"] == "uri":
            yield case["name"], place
            continue
        yield case["name"], look if case["valid"] else lambda: refused(opened)
        if case["stage"] in ("body", "purpose") and case["error"] != "signatureType":
            yield case["name"] + ", opened", lambda: c.open_from_server(
                unhex(case["message"]), keys, server, case["now"]).decode() == case["body"]


def shown(file: File) -> Checks:
    """Reads each code and each invitation; codes-and-links.md, The code; enrollment.md, The invitation."""
    for case in file["cases"]:
        def read() -> dict[str, str]:
            if case["operation"] == "invitation":
                return c.read_invitation(case["text"], file["issuer"])
            return c.read_code(case["text"], {"picture": "qr"}.get(case["operation"], "link"), file["issuer"])

        def judge() -> bool:
            if not case["valid"]:
                return refused(read)
            expected = json.loads(case["read"])
            return {name: value for name, value in read().items() if name in expected} == expected

        yield case["name"], judge


def webhooks(file: File) -> Checks:
    """Verifies each call of the server, and signs it anew; relying-party.md, Calls of the server."""
    for case in file["cases"]:
        def verify(now: int) -> None:
            c.verify_webhook(case["fields"], case["body"].encode(), case["secret"], now, file["tolerance"])

        def judge() -> bool:
            return refused(lambda: verify(file["now"])) == (not case["valid"]) == (case["error"] is not None)

        def sign() -> bool:
            identifier, timestamp = case["fields"]["webhook-id"], case["fields"]["webhook-timestamp"]
            content = f"{identifier}.{timestamp}.{case['body']}"
            made = " ".join(c.webhook_signature(secret, identifier, timestamp, case["body"].encode())
                            for secret in case["secrets"])
            return content == case["signed_content"] and case["fields"]["webhook-signature"].endswith(made)

        yield case["name"], judge
        if case["valid"]:
            yield case["name"] + ", signed anew", sign
        if case["error"] == "timestamp" and case["fields"].get("webhook-timestamp", "").isdigit():
            yield case["name"] + ", at its time", lambda: not refused(
                lambda: verify(int(case["fields"]["webhook-timestamp"])))


FILES = {
    "pin": pins, "request-signature": requests, "receipt": receipts, "challenge": challenges, "poll": polls,
    "sealed-answer": answers, "certificate": certificates, "method-change": changes, "push-envelope": pushes,
    "assertion": assertions, "jwt-answer": jwt_answers, "jwt-challenge": jwt_challenges,
    "maintenance-assertion": maintenance_assertions, "event-answer": event_answers, "dpop-proof": proofs,
    "pushed-request": pushed, "device-authorization": device_authorizations, "device-poll": device_polls,
    "removal-notice": notices,
    "device-act": acts, "return-message": returns,
    "shown-text": shown, "codes": shown, "webhook": webhooks, "problem": problems}
MADE_BY_OUR_SDK = ("request-signature", "sealed-answer", "method-change", "assertion")
PAGES = pathlib.Path(__file__).parent.parent
# What the pages print as the value of a case: page, file, case, and members (of the fields of a request with a dot).
PRINTED = [
    ("challenges.md", "challenge", "a challenge", ["body"]), ("challenges.md", "poll", "one challenge", ["reply"]),
    ("challenges.md", "poll", "nothing", ["reply"]),
    ("requests.md", "request-signature", "a request without a body", ["signature_base", "Signature."]),
    ("requests.md", "request-signature", "a request with a body", ["signature_base", "Signature.", "Signature-Input."]),
    ("enrollment.md", "request-signature", "an enrollment", ["body", "Signature.", "Signature-Input."]),
    ("enrollment.md", "shown-text", "invitation: an invitation", ["text", "read"]),
    ("enrollment.md", "codes", "invitation as invitation", ["text", "read"]),
    ("enrollment.md", "removal-notice", "removed by the client", ["notice"]),
    ("codes-and-links.md", "shown-text", "picture: a code", ["text", "read"]),
    ("codes-and-links.md", "codes", "picture as picture", ["text", "read"]),
    ("codes-and-links.md", "codes", "link as link", ["text"]),
    ("codes-and-links.md", "return-message", "a return message", ["body", "url"]),
    ("receipts.md", "sealed-answer", "approved by confirm", ["text"]),
    ("methods.md", "method-change", "a first PIN", ["text"]),
    ("devices.md", "device-act", "suspended, signed by the PIN's key", ["text"]),
    ("pushes.md", "push-envelope", "a push", ["header", "claims"]),
    ("signing-in.md", "assertion", "an assertion", ["claims", "assertion"]),
    ("jwk-devices.md", "jwt-answer", "approved by possession", ["header", "claims", "token"]),
    ("jwk-devices.md", "jwt-challenge", "a challenge", ["claims"]),
    ("jwk-devices.md", "maintenance-assertion", "an assertion", ["header", "claims", "assertion"]),
    ("jwk-devices.md", "event-answer", "P-256, in lines of 64", ["text"]),
    ("signing-in.md", "dpop-proof", "a proof", ["header", "claims", "proof"]),
    ("signing-in.md", "pushed-request", "with a proof", ["form", "proof"]),
    ("signing-in.md", "device-authorization", "with a number", ["body"]),
    ("signing-in.md", "device-poll", "too fast", ["body"]),
    ("relying-party.md", "webhook", "a callback", ["body"]),
    *(("errors.md", "problem", case, ["body"]) for case in (
        "ended: denied on another device", "a wrong PIN, four attempts left", "removed, with the server's notice"))]


def printed() -> Checks:
    """Compares the examples on the pages with the cases of which they are."""
    for page, name, label, members in PRINTED:
        def stands() -> bool:
            text = (PAGES / page).read_text(encoding="utf-8")
            cases = json.loads((PAGES / f"vectors/{name}.json").read_text(encoding="utf-8"))["cases"]
            case = next(each for each in cases if each["name"] == label)
            values = [case["fields"][each[:-1]] if each.endswith(".") else case[each] for each in members]
            return all(value.rstrip("\n") in text for value in values)

        yield f"{page}, {name}: {label}", stands


def run(name: str, checks: Checks) -> tuple[int, int]:
    """Runs checks; returns how many passed and failed."""
    passed = failed = 0
    for label, check in checks:
        try:
            is_good, why = check(), "it differs"
        except Exception as error:  # every error fails the check
            is_good, why = False, f"{type(error).__name__}: {error}"
        passed, failed = passed + is_good, failed + (not is_good)
        if not is_good:
            print(f"FAIL  {name}: {label}: {why}")
    print(f"{name}: {passed} passed")
    return passed, failed


def checks_of(path: pathlib.Path) -> Checks:
    """The checks of one file."""
    file = json.loads(path.read_text(encoding="utf-8"))
    c.require(file["cases"], f"{path} has no cases")
    return FILES[path.stem](file)


def main(made: pathlib.Path | None) -> int:
    """Checks the vectors, the examples on the pages, and what our SDK has made; returns how many checks failed."""
    results = [run(f"{name}.json", checks_of(PAGES / f"vectors/{name}.json")) for name in FILES]
    results.append(run("the pages", printed()))
    if made:
        results += [run(f"{name}.json of our SDK", checks_of(made / f"{name}.json")) for name in MADE_BY_OUR_SDK]
    passed, failed = (sum(each) for each in zip(*results))
    print(f"{passed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else None) else 0)
