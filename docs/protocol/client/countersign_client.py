"""A device and a verifier for the protocol of Countersign, in Python.

It was written from the pages in docs/protocol and from the standards that they cite, and shares no code with the
server. It is for reading and for tests: it keeps its keys in memory, so it is not an authenticator for daily use.
It needs Python 3.11 or later and the package `cryptography`.

A docstring names the clause that a function follows: "RFC 9580 §4.2", or a page of docs/protocol.
"""
from __future__ import annotations

import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import time
import unicodedata
import urllib.parse
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Callable, Iterator

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap
from cryptography.hazmat.primitives.serialization import load_der_public_key
try:
    from cryptography.hazmat.decrepit.ciphers.modes import CFB
except ImportError:  # before version 47 of the package
    from cryptography.hazmat.primitives.ciphers.modes import CFB  # type: ignore[no-redef]

CURVE = ec.SECP256R1()
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
OID = bytes.fromhex("082a8648ce3d030107")  # the length and NIST P-256; RFC 9580 §9.2
ECDH, ECDSA = 18, 19  # RFC 9580 §9.1
HASHES = {8: hashes.SHA256(), 9: hashes.SHA384(), 10: hashes.SHA512()}  # RFC 9580 §9.5
AES_256, WRAP_LENGTHS = 9, {9: 32, 7: 16}  # RFC 9580 §9.3
SKEW = 60  # seconds by which clocks may differ; requests.md
PRIVATE = ec.EllipticCurvePrivateKey


class Refused(Exception):
    """What was received must not be accepted; the text says why."""


class Problem(Exception):
    """A refusal of the server: a problem document; errors.md."""

    def __init__(self, status: int, members: dict[str, Any]):
        super().__init__(f"{status} {members.get('code')}: {members.get('detail') or members.get('title')}")
        self.status, self.members, self.code = status, members, members.get("code")


def require(condition: Any, why: str) -> None:
    """Refuses what was received unless a condition holds."""
    if not condition:
        raise Refused(why)


def encode64(data: bytes) -> str:
    """base64 with padding; RFC 4648 §4."""
    return base64.b64encode(data).decode()


def decode64(text: str) -> bytes:
    """base64 with padding, in its one spelling; docs/protocol/README.md, Notation."""
    data = base64.b64decode(text, validate=True)
    require(encode64(data) == text, "base64 that is not canonical")
    return data


def encode64url(data: bytes) -> str:
    """base64url without padding; RFC 4648 §5."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode64url(text: str) -> bytes:
    """base64url without padding, in its one spelling; RFC 4648 §5."""
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "base64url that is not canonical")
    return data


# Packets of OpenPGP ---------------------------------------------------------------------------------------------------

def packet(tag: int, body: bytes) -> bytes:
    """One packet in the current format with the shortest length; RFC 9580 §4.2.1."""
    return bytes([0xC0 | tag]) + packet_length(len(body)) + body


def packet_length(length: int) -> bytes:
    """The length of a packet or subpacket; RFC 9580 §4.2.1 and §5.2.3.7."""
    if length < 192:
        return bytes([length])
    if length < 8384:
        return bytes([((length - 192) >> 8) + 192, (length - 192) & 0xFF])
    return b"\xff" + length.to_bytes(4, "big")


class Reader:
    """Reads octets from the beginning to the end, and refuses to read beyond it."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        """The next octets."""
        require(self.at + count <= len(self.data), "truncated")
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, count: int) -> int:
        """The next octets as a big-endian number."""
        return int.from_bytes(self.take(count), "big")

    def mpi(self) -> bytes:
        """A multiprecision integer in its one spelling; RFC 9580 §3.2."""
        bits = self.number(2)
        data = self.take((bits + 7) // 8)
        require(int.from_bytes(data, "big").bit_length() == bits, "malformed number")
        return data

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self.data) - self.at)

    @property
    def more(self) -> bool:
        """Whether anything is left."""
        return self.at < len(self.data)


def mpi(data: bytes) -> bytes:
    """A number as a multiprecision integer; RFC 9580 §3.2."""
    data = data.lstrip(b"\0")
    return int.from_bytes(data, "big").bit_length().to_bytes(2, "big") + data


def packets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Tag and body of each packet, in both formats, without markers; RFC 9580 §4.2, messages.md."""
    reader, count = Reader(data), 0
    while reader.more:
        first, count = reader.number(1), count + 1
        require(first & 0x80 and count <= 256, "malformed packets")
        tag = first & 0x3F if first & 0x40 else first >> 2 & 0x0F
        may_be_partial = tag in (8, 9, 11, 18)
        if not first & 0x40:
            size = first & 3
            require(size < 3 or may_be_partial, "a packet without a length")
            body = reader.take(reader.number(1 << size)) if size < 3 else reader.rest()
        else:
            body, is_partial = b"", True
            while is_partial:
                octet = reader.number(1)
                is_partial = 224 <= octet < 255
                if octet < 192:
                    length = octet
                elif octet < 224:
                    length = (octet - 192 << 8) + reader.number(1) + 192
                elif octet == 255:
                    length = reader.number(4)
                else:
                    length = 1 << (octet & 0x1F)
                    require(may_be_partial and (body or length >= 512), "a partial length where none may be")
                body += reader.take(length)
        if tag != 10:
            yield tag, body


# Keys -----------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class PublicKey:
    """A version 4 key on NIST P-256; RFC 9580 §5.5.2.3, messages.md."""

    algorithm: int
    created: int
    point: bytes
    wrap: int = AES_256

    @property
    def body(self) -> bytes:
        """The body of its packet; RFC 9580 §5.5.5.4 and §5.5.5.6."""
        parameters = bytes([3, 1, 8, self.wrap]) if self.algorithm == ECDH else b""
        return b"\x04" + self.created.to_bytes(4, "big") + bytes([self.algorithm]) + OID + mpi(self.point) + parameters

    @staticmethod
    def parse(body: bytes) -> PublicKey:
        """Reads the body of a public key packet."""
        reader = Reader(body)
        require(reader.number(1) == 4, "a key of another version")
        created, algorithm = reader.number(4), reader.number(1)
        require(algorithm in (ECDH, ECDSA) and reader.take(9) == OID, "a key of another algorithm")
        point, wrap = reader.mpi(), AES_256
        if algorithm == ECDH:
            require(reader.take(3) == b"\x03\x01\x08", "other parameters of ECDH")
            wrap = reader.number(1)
            require(wrap in WRAP_LENGTHS, "another key wrap")
        require(not reader.more and len(point) == 65, "a malformed key")
        try:
            ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point)
        except ValueError:
            raise Refused("not a point of the curve") from None
        return PublicKey(algorithm, created, point, wrap)

    @property
    def fingerprint(self) -> bytes:
        """The version 4 fingerprint; RFC 9580 §5.5.4.2."""
        return hashlib.sha1(self.hashed).digest()

    @property
    def name(self) -> str:
        """The fingerprint as the texts write it: 40 digits in upper case; docs/protocol/README.md, Notation."""
        return self.fingerprint.hex().upper()

    @property
    def key_id(self) -> bytes:
        """The last eight octets of the fingerprint; RFC 9580 §5.5.4.2."""
        return self.fingerprint[-8:]

    @property
    def hashed(self) -> bytes:
        """What a signature about the key hashes; RFC 9580 §5.2.4."""
        return b"\x99" + len(self.body).to_bytes(2, "big") + self.body

    @property
    def ec(self) -> ec.EllipticCurvePublicKey:
        """The key for the library."""
        return ec.EllipticCurvePublicKey.from_encoded_point(CURVE, self.point)


@dataclass(frozen=True)
class SecretKey:
    """A private key with its public half."""

    private: PRIVATE
    public: PublicKey

    @staticmethod
    def of(private: PRIVATE, algorithm: int, created: int) -> SecretKey:
        """An OpenPGP key of a private key of the curve."""
        numbers = private.public_key().public_numbers()
        point = b"\x04" + numbers.x.to_bytes(32, "big") + numbers.y.to_bytes(32, "big")
        return SecretKey(private, PublicKey(algorithm, created, point))

    def raw_signature(self, data: bytes) -> bytes:
        """r and s of ECDSA with SHA-256, 32 octets each, the same each time; RFC 6979, RFC 9421 §3.3.4."""
        der = self.private.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
        return b"".join(number.to_bytes(32, "big") for number in utils.decode_dss_signature(der))


def scalar(data: bytes) -> PRIVATE:
    """The private key that is this big-endian number."""
    return ec.derive_private_key(int.from_bytes(data, "big"), CURVE)


# Signatures -----------------------------------------------------------------------------------------------------------

BINARY, TEXT, POSITIVE, BINDING, BACK, DIRECT, KEY_REVOKED, SUBKEY_REVOKED = (
    0x00, 0x01, 0x13, 0x18, 0x19, 0x1F, 0x20, 0x28)  # RFC 9580 §5.2.1
UNDERSTOOD = {2, 3, 4, 7, 9, 11, 16, 20, 21, 22, 23, 25, 27, 29, 30, 32, 33, 34, 35}  # the OpenPGP profile
REPEATABLE = {20, 35}


def subpacket(kind: int, content: bytes) -> bytes:
    """One subpacket; RFC 9580 §5.2.3.7."""
    return packet_length(len(content) + 1) + bytes([kind]) + content


def notation(name: str, value: str) -> bytes:
    """A notation that is text; RFC 9580 §5.2.3.24, methods.md."""
    content = b"\x80\0\0\0" + len(name).to_bytes(2, "big") + len(value).to_bytes(2, "big")
    return subpacket(20, content + name.encode() + value.encode())


def recipient(primary: bytes) -> bytes:
    """The intended recipient, by its primary fingerprint; RFC 9580 §5.2.3.36, messages.md."""
    return subpacket(35, b"\x04" + primary)


@dataclass
class Signature:
    """A version 4 signature with ECDSA; RFC 9580 §5.2.3."""

    kind: int
    hash: int
    hashed_area: bytes
    hashed: list[tuple[int, bytes]]
    unhashed: list[tuple[int, bytes]]
    start: bytes
    r: bytes
    s: bytes

    @staticmethod
    def parse(body: bytes) -> Signature:
        """Reads the body of a signature packet."""
        reader = Reader(body)
        require(reader.number(1) == 4, "a signature of another version")
        kind, algorithm, hash_ = reader.number(1), reader.number(1), reader.number(1)
        require(algorithm == ECDSA and hash_ in HASHES, "a signature of another algorithm")
        hashed_area = reader.take(reader.number(2))
        unhashed_area = reader.take(reader.number(2))
        signature = Signature(
            kind, hash_, hashed_area, subpackets(hashed_area), subpackets(unhashed_area), reader.take(2), reader.mpi(),
            reader.mpi())
        require(not reader.more and signature.find(2) is not None, "a malformed signature")
        key_id, fingerprint = signature.find(16), signature.find(33)
        require(not (key_id and fingerprint) or fingerprint[-8:] == key_id, "a signature that names two signers")
        return signature

    def find(self, kind: int) -> bytes | None:
        """The content of a subpacket: the signer's key ID and a back signature (16, 32) may be in either area."""
        areas = self.hashed + self.unhashed if kind in (16, 32) else self.hashed
        return next((content for type_, content in areas if type_ == kind), None)

    def all(self, kind: int) -> list[bytes]:
        """The contents of all hashed subpackets of a kind."""
        return [content for type_, content in self.hashed if type_ == kind]

    @property
    def created(self) -> int:
        """When the signature was made; RFC 9580 §5.2.3.11."""
        return int.from_bytes(self.find(2) or b"", "big")

    @property
    def notations(self) -> list[tuple[str, str]]:
        """The notations that are text; RFC 9580 §5.2.3.24."""
        found = []
        for content in self.all(20):
            reader = Reader(content)
            flags, name, value = reader.number(4), reader.number(2), reader.number(2)
            pair = reader.take(name).decode(), reader.take(value).decode()
            if flags & 0x80000000:
                found.append(pair)
        return found

    def names(self, key: PublicKey) -> bool:
        """Whether it says that this key made it; messages.md, Subpackets of a signature."""
        fingerprint, key_id = self.find(33), self.find(16)
        return fingerprint == b"\x04" + key.fingerprint if fingerprint else key_id == key.key_id

    def has_expired(self, now: int) -> bool:
        """Whether its own lifetime has ended; RFC 9580 §5.2.3.18."""
        lifetime = int.from_bytes(self.find(3) or b"", "big")
        return bool(lifetime) and self.created + lifetime <= now

    def is_by(self, key: PublicKey, content: bytes) -> bool:
        """Whether this key made it over this content; RFC 9580 §5.2.4."""
        head = bytes([4, self.kind, ECDSA, self.hash]) + len(self.hashed_area).to_bytes(2, "big") + self.hashed_area
        digest = hashes.Hash(HASHES[self.hash])
        digest.update(content + head + b"\x04\xff" + len(head).to_bytes(4, "big"))
        value = digest.finalize()
        der = utils.encode_dss_signature(int.from_bytes(self.r, "big"), int.from_bytes(self.s, "big"))
        try:
            key.ec.verify(der, value, ec.ECDSA(utils.Prehashed(HASHES[self.hash])))
        except InvalidSignature:
            return False
        return value[:2] == self.start


def subpackets(area: bytes) -> list[tuple[int, bytes]]:
    """Type and content of each subpacket, none of them unknown and critical; RFC 9580 §5.2.3.7."""
    reader, found = Reader(area), list[tuple[int, bytes]]()
    while reader.more:
        first = reader.number(1)
        if first < 192:
            length = first
        else:
            length = (first - 192 << 8) + reader.number(1) + 192 if first < 255 else reader.number(4)
        body = reader.take(length)
        require(body, "an empty subpacket")
        kind, is_critical = body[0] & 0x7F, bool(body[0] & 0x80)
        require(not is_critical or kind in UNDERSTOOD - {20}, f"a critical subpacket of type {kind}")
        require(kind in REPEATABLE or kind not in (type_ for type_, _ in found), "a repeated subpacket")
        found.append((kind, body[1:]))
    return found


def sign(key: SecretKey, kind: int, content: bytes, at: int, further: bytes = b"", unhashed: bytes = b"") -> bytes:
    """The body of a signature packet; RFC 9580 §5.2.3 and §5.2.4, messages.md.

    The hashed area holds time and issuer fingerprint, then the further subpackets; the unhashed one the key ID.
    """
    area = subpacket(2, at.to_bytes(4, "big")) + subpacket(33, b"\x04" + key.public.fingerprint) + further
    head = bytes([4, kind, ECDSA, 8]) + len(area).to_bytes(2, "big") + area
    data = content + head + b"\x04\xff" + len(head).to_bytes(4, "big")
    value = key.raw_signature(data)
    unhashed = subpacket(16, key.public.key_id) + unhashed
    return (head + len(unhashed).to_bytes(2, "big") + unhashed + hashlib.sha256(data).digest()[:2] + mpi(value[:32])
            + mpi(value[32:]))


def text_content(text: str) -> bytes:
    """What a signature of type 0x01 hashes of a text: CR LF as line ends; RFC 9580 §5.2.4, messages.md."""
    return text.encode().replace(b"\n", b"\r\n")


# Certificates ---------------------------------------------------------------------------------------------------------

def user_id_content(primary: PublicKey, user_id: bytes) -> bytes:
    """What a certification of a user ID hashes; RFC 9580 §5.2.4."""
    return primary.hashed + b"\xb4" + len(user_id).to_bytes(4, "big") + user_id


@dataclass
class Component:
    """A subkey, or the primary key, with the statements about it and its revocations."""

    key: PublicKey
    statements: list[Signature] = field(default_factory=list)
    revocations: list[Signature] = field(default_factory=list)

    def statement(self, at: int) -> Signature | None:
        """The newest statement that existed at a time, or else the first; messages.md, Keys and times."""
        ordered = sorted(self.statements, key=lambda each: each.created)
        return next((each for each in reversed(ordered) if each.created <= at), ordered[0] if ordered else None)

    def flags(self, at: int) -> int:
        """What the key may do at a time: the first octet of the flags, 0 for nothing; RFC 9580 §5.2.3.29."""
        statement = self.statement(at)
        if self.key.created > at or statement is None or self.is_revoked(at):
            return 0
        lifetime = int.from_bytes(statement.find(9) or b"", "big")
        if lifetime and self.key.created + lifetime <= at:
            return 0
        return (statement.find(27) or b"\0")[0]

    def is_revoked(self, at: int) -> bool:
        """Whether it was revoked: superseded (1) and retired (3) count from their time, all else from the beginning."""
        return any(
            each.created <= at or (each.find(29) or b"\0")[0] not in (1, 3) for each in self.revocations)


@dataclass
class Certificate:
    """A certificate whose signatures were verified; RFC 9580 §10.1."""

    data: bytes
    primary: Component
    user_ids: list[str]
    subkeys: list[Component]

    @staticmethod
    def parse(data: bytes) -> Certificate:
        """Reads a certificate; each part must be bound by the primary key; messages.md, the OpenPGP profile."""
        require(len(data) <= 65536, "the certificate is too large")
        primary: Component | None = None
        user_ids: list[str] = []
        subkeys: list[Component] = []
        for tag, body in packets(data):
            if primary is None:
                require(tag == 6, "not a certificate")
                primary = current = Component(PublicKey.parse(body))
                require(primary.key.algorithm == ECDSA, "a primary key that cannot sign")
                content, kinds = primary.key.hashed, {DIRECT: True, KEY_REVOKED: False}
            elif tag == 13 and not subkeys:
                user_ids.append(body.decode())
                current, content = primary, user_id_content(primary.key, body)
                kinds = {0x10: True, 0x11: True, 0x12: True, POSITIVE: True}
            elif tag == 14:
                current = Component(PublicKey.parse(body))
                subkeys.append(current)
                content, kinds = primary.key.hashed + current.key.hashed, {BINDING: True, SUBKEY_REVOKED: False}
            else:
                require(tag == 2, f"a packet of type {tag} in a certificate")
                if body[:1] == b"\x04" and body[2:3] != bytes([ECDSA]):
                    continue  # by others, with another algorithm
                signature = Signature.parse(body)
                if not signature.names(primary.key):
                    continue  # by others; it says nothing here
                require(signature.kind in kinds, f"a signature of type {signature.kind} in this place")
                require(signature.is_by(primary.key, content), "a bad signature in the certificate")
                if signature.kind == BINDING and (signature.find(27) or b"\0")[0] & 0x03:
                    back = Signature.parse(signature.find(32) or b"")
                    require(back.kind == BACK and back.is_by(current.key, content), "no good back signature")
                (current.statements if kinds[signature.kind] else current.revocations).append(signature)
        if primary is None or not user_ids:
            raise Refused("no user ID")
        require(all(part.statements for part in [primary, *subkeys]), "a part that is not bound")
        return Certificate(data, primary, user_ids, subkeys)

    @property
    def fingerprint(self) -> bytes:
        """The primary fingerprint, which names the certificate; docs/protocol/README.md, Vocabulary."""
        return self.primary.key.fingerprint

    def signer(self, signature: Signature, content: bytes, now: int) -> Component:
        """The key of the certificate that made a signature, and that could sign then; messages.md, Keys and times."""
        for part in [self.primary, *self.subkeys]:
            if signature.names(part.key):
                require(signature.is_by(part.key, content), "a bad signature")
                require(part.key.created <= signature.created <= now + SKEW, "a signature of a time that cannot be")
                require(not signature.has_expired(now), "a signature that has expired")
                require(part.flags(signature.created) & 0x02, "the key could not sign then")
                require(self.primary.flags(signature.created), "the primary key was not valid then")
                return part
        raise Refused("the signer is not in the certificate")

    def encryption_key(self, now: int) -> PublicKey:
        """The newest subkey to which one seals; messages.md, Keys and times."""
        usable = [part.key for part in self.subkeys if part.flags(now) & 0x0C == 0x0C and part.key.algorithm == ECDH]
        require(usable, "no key to encrypt to")
        return max(usable, key=lambda key: key.created)


def bind_user_id(primary: SecretKey, user_id: str, at: int) -> bytes:
    """A user ID with its certification, which states the primary key's flags; enrollment.md."""
    content = user_id_content(primary.public, user_id.encode())
    flags = subpacket(27, b"\x03")
    return packet(13, user_id.encode()) + packet(2, sign(primary, POSITIVE, content, at, flags))


def bind_subkey(primary: SecretKey, subkey: SecretKey, flags: int, at: int, statements: bytes = b"") -> bytes:
    """A subkey with its binding, with a back signature if it signs; RFC 9580 §5.2.1.8 and §5.2.1.9, methods.md."""
    content = primary.public.hashed + subkey.public.hashed
    further = subpacket(27, bytes([flags])) + statements
    if flags & 0x02:
        further += subpacket(32, sign(subkey, BACK, content, at))
    return packet(14, subkey.public.body) + packet(2, sign(primary, BINDING, content, at, further))


def revocation(primary: SecretKey, subkey: PublicKey, at: int) -> bytes:
    """The revocation of a subkey that was superseded; RFC 9580 §5.2.3.31, methods.md."""
    content = primary.public.hashed + subkey.hashed
    return packet(2, sign(primary, SUBKEY_REVOKED, content, at, subpacket(29, b"\x01")))


def host(issuer: str) -> str:
    """The host of an issuer, without the port, with the brackets of an IPv6 address; enrollment.md."""
    return re.sub(r":\d+$", "", issuer.split("://", 1)[1])


def method_notation(method: str, issuer: str) -> bytes:
    """The statement in a binding that the key is for a method; methods.md."""
    return notation(f"method@{host(issuer)}", method)


@dataclass
class DeviceKeys:
    """The three keys of an enrollment; enrollment.md, Keys and certificate."""

    primary: SecretKey
    authentication: SecretKey
    encryption: SecretKey

    @staticmethod
    def make(now: int) -> DeviceKeys:
        """New keys."""
        return DeviceKeys(*(
            SecretKey.of(ec.generate_private_key(CURVE), algorithm, now) for algorithm in (ECDSA, ECDSA, ECDH)))

    def certificate(self, user: str, enrollment: str, issuer: str, at: int) -> bytes:
        """The certificate with which a device enrolls; enrollment.md, Keys and certificate."""
        return (packet(6, self.primary.public.body)
                + bind_user_id(self.primary, f"{user} <{enrollment}@{host(issuer)}>", at)
                + bind_subkey(self.primary, self.authentication, 0x20, at)
                + bind_subkey(self.primary, self.encryption, 0x0C, at))


# Armor and text signed in the clear -----------------------------------------------------------------------------------

def crc24(data: bytes) -> int:
    """The checksum of armor; RFC 9580 §6.1.1."""
    crc = 0xB704CE
    for octet in data:
        crc ^= octet << 16
        for _ in range(8):
            crc = crc << 1 ^ (0x1864CFB if crc & 0x800000 else 0)
    return crc


def armor(kind: str, data: bytes) -> str:
    """Armored data with a checksum; RFC 9580 §6.2."""
    text = encode64(data)
    lines = [text[start:start + 64] for start in range(0, len(text), 64)]
    checksum = "=" + encode64(crc24(data).to_bytes(3, "big"))
    return "\n".join([f"-----BEGIN PGP {kind}-----", "", *lines, checksum, f"-----END PGP {kind}-----", ""])


def dearmor(kind: str, text: str) -> bytes:
    """The octets of armored data without headers; a checksum must be right; RFC 9580 §6.2."""
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    require(len(lines) > 3 and lines[:2] == [f"-----BEGIN PGP {kind}-----", ""], "malformed armor")
    require(lines[-1] == f"-----END PGP {kind}-----", "malformed armor")
    content, checksum = lines[2:-1], None
    if content[-1].startswith("="):
        checksum = decode64(content.pop()[1:])
    data = decode64("".join(content))
    require(checksum is None or crc24(data) == int.from_bytes(checksum, "big"), "a wrong checksum")
    return data


def clear_text(text: str, signature: bytes) -> str:
    """A text signed in the clear; RFC 9580 §7, messages.md."""
    lines = ["- " + line if line.startswith("-") else line for line in text.split("\n")]
    head = ["-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA256", ""]
    return "\n".join([*head, *lines]) + "\n" + armor("SIGNATURE", packet(2, signature))


def read_clear_text(message: str) -> tuple[str, Signature]:
    """Text and signature of a message in the strict form; messages.md, Text signed in the clear."""
    head, begin, tail = message.replace("\r\n", "\n").partition("\n-----BEGIN PGP SIGNATURE-----\n")
    lines = head.split("\n")
    require(begin and len(lines) > 3 and lines[0] == "-----BEGIN PGP SIGNED MESSAGE-----", "not signed in the clear")
    require(not lines[2], "a second header")
    require(all(line.startswith("- ") or not line.startswith("-") for line in lines[3:]), "a line that begins with -")
    text = "\n".join(line.removeprefix("- ") for line in lines[3:])
    require("\r" not in text and not re.search(r"[ \t]$", text, re.MULTILINE), "a line that ends in a blank")
    parts = list(packets(dearmor("SIGNATURE", begin[1:] + tail)))
    require(len(parts) == 1 and parts[0][0] == 2, "not exactly one signature")
    signature = Signature.parse(parts[0][1])
    require(signature.kind == TEXT and lines[1] == f"Hash: SHA{8 * HASHES[signature.hash].digest_size}",
        "another type or hash")
    return text, signature


# Sealed messages ------------------------------------------------------------------------------------------------------

def key_encryption_key(key: PublicKey, shared: bytes) -> bytes:
    """The key that wraps a session key; RFC 9580 §11.5."""
    parameters = OID + bytes([ECDH, 3, 1, 8, key.wrap]) + b"Anonymous Sender    " + key.fingerprint
    return hashlib.sha256(b"\0\0\0\x01" + shared + parameters).digest()[:WRAP_LENGTHS[key.wrap]]


def encrypt(content: bytes, key: PublicKey, session: bytes | None = None, ephemeral: PRIVATE | None = None,
            prefix: bytes | None = None) -> bytes:
    """Encrypts packets to one key; RFC 9580 §5.1.3, §11.5 and §5.13.1. Only tests give the random values."""
    session, prefix = session or os.urandom(32), prefix or os.urandom(16)
    sender = SecretKey.of(ephemeral or ec.generate_private_key(CURVE), ECDH, 0)
    wrapping = key_encryption_key(key, sender.private.exchange(ec.ECDH(), key.ec))
    plain = bytes([AES_256]) + session + (sum(session) & 0xFFFF).to_bytes(2, "big")
    padding = 40 - len(plain)
    wrapped = aes_key_wrap(wrapping, plain + bytes([padding]) * padding)
    session_packet = b"\x03" + key.key_id + bytes([ECDH]) + mpi(sender.public.point) + bytes([len(wrapped)]) + wrapped
    data = prefix + prefix[-2:] + content + b"\xd3\x14"
    data += hashlib.sha1(data).digest()
    encryptor = Cipher(algorithms.AES(session), CFB(bytes(16))).encryptor()
    return packet(1, session_packet) + packet(18, b"\x01" + encryptor.update(data) + encryptor.finalize())


def decrypt(message: bytes, key: SecretKey) -> tuple[bytes, bytes]:
    """The packets in an encrypted message, and the session key; RFC 9580 §11.5 and §5.13.1, messages.md."""
    parts = list(packets(message))
    require(2 <= len(parts) <= 17 and parts[-1][0] == 18 and all(tag == 1 for tag, _ in parts[:-1]), "not encrypted")
    for body in (body for _, body in parts[:-1]):
        reader = Reader(body)
        require(reader.number(1) == 3, "a session key of another version")
        if reader.take(8) == key.public.key_id:
            break
    else:
        raise Refused("not for this key")
    require(reader.number(1) == ECDH and parts[-1][1][:1] == b"\x01", "another form of encryption")
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(CURVE, reader.mpi())
        wrapping = key_encryption_key(key.public, key.private.exchange(ec.ECDH(), point))
        plain = aes_key_unwrap(wrapping, reader.take(reader.number(1)))
        session, checksum, padding = plain[1:33], plain[33:35], plain[35:]
        require(plain[0] == AES_256 and int.from_bytes(checksum, "big") == sum(session) & 0xFFFF, "a wrong session key")
        require(padding and padding == bytes([len(padding)]) * len(padding) and not reader.more, "wrong padding")
        decryptor = Cipher(algorithms.AES(session), CFB(bytes(16))).decryptor()
        data = decryptor.update(parts[-1][1][1:]) + decryptor.finalize()
        require(len(data) >= 40 and data[-22:-20] == b"\xd3\x14", "no modification detection code")
        require(hmac.compare_digest(hashlib.sha1(data[:-20]).digest(), data[-20:]), "altered")
    except (Refused, ValueError, InvalidUnwrap):
        raise Refused("it does not decrypt") from None  # alike for each cause
    return data[18:-22], session


def signed_packets(content: bytes, signature: bytes, key: PublicKey, form: bytes) -> bytes:
    """One-pass signature, literal data and signature; RFC 9580 §10.3, messages.md."""
    one_pass = b"\x03" + bytes([signature[1], signature[3], ECDSA]) + key.key_id + b"\x01"
    return packet(4, one_pass) + packet(11, form + b"\0" + bytes(4) + content) + packet(2, signature)


def seal_text(text: str, key: SecretKey, server: Certificate, at: int, **fixed: Any) -> bytes:
    """A text that a device signs and encrypts to the server, which it names as recipient; messages.md."""
    signature = sign(key, TEXT, text_content(text), at, recipient(server.fingerprint))
    content = signed_packets(text_content(text), signature, key.public, b"u")
    return encrypt(content, server.encryption_key(at), **fixed)


def read_signed(content: bytes) -> tuple[bytes, Signature]:
    """Content and signature of decrypted packets, with the line ends of the page; messages.md."""
    parts = list(packets(content))
    require([tag for tag, _ in parts] == [4, 11, 2], "not one signed message")
    one_pass, literal, signature = parts[0][1], Reader(parts[1][1]), Signature.parse(parts[2][1])
    key_id = signature.find(16) or (signature.find(33) or b"")[-8:]
    require(one_pass == b"\x03" + bytes([signature.kind, signature.hash, ECDSA]) + key_id + b"\x01",
            "a one-pass signature packet that is not the signature's")
    form = literal.take(1)
    literal.take(literal.number(1))
    literal.take(4)
    require(form in b"btu", "another format of literal data")
    data = literal.rest()
    return data if form == b"b" else data.replace(b"\r\n", b"\n"), signature


def open_from_server(message: bytes, keys: DeviceKeys, server: Certificate, now: int) -> bytes:
    """The content of a message of the server to this device; messages.md."""
    content, signature = read_signed(decrypt(message, keys.encryption)[0])
    require(signature.kind == BINARY, "a signature of another type")
    require(b"\x04" + keys.primary.public.fingerprint in signature.all(35), "a message for another recipient")
    signer = server.signer(signature, content, now)
    require(signer is not server.primary and not signer.is_revoked(now), "a signer that counts no more")
    return content


# Signed requests ------------------------------------------------------------------------------------------------------

def content_digest(body: bytes) -> str:
    """The field `Content-Digest`; RFC 9530 §2."""
    return f"sha-256=:{encode64(hashlib.sha256(body).digest())}:"


def signature_base(components: list[tuple[str, str]], parameters: str) -> str:
    """What is signed of a request; RFC 9421 §2.5."""
    return "\n".join(f'"{name}": {value}' for name, value in [*components, ("@signature-params", parameters)])


def signed_fields(method: str, uri: str, body: bytes, key: SecretKey, key_id: str, created: int,
                  nonce: str) -> dict[str, str]:
    """The fields of a device's request; RFC 9421 §3.1, requests.md."""
    components = [("@method", method), ("@target-uri", uri)]
    fields = {}
    if body:
        fields["Content-Digest"] = content_digest(body)
        components.append(("content-digest", fields["Content-Digest"]))
    names = " ".join(f'"{name}"' for name, _ in components)
    parameters = f'({names});created={created};nonce="{nonce}";keyid="{key_id}"'
    parameters += ';alg="ecdsa-p256-sha256";tag="countersign"'
    value = key.raw_signature(signature_base(components, parameters).encode())
    return {**fields, "Signature-Input": f"sig={parameters}", "Signature": f"sig=:{encode64(value)}:"}


# PINs -----------------------------------------------------------------------------------------------------------------

@dataclass
class StoredPIN:
    """What a device stores about a PIN; methods.md, Setting a PIN."""

    agreement: PRIVATE
    salt: bytes
    point: bytes
    cost: int
    created: int

    @staticmethod
    def make(cost: int, now: int) -> StoredPIN:
        """New values for a new PIN."""
        require(15 <= cost <= 18, "a cost outside the bounds")
        discarded = SecretKey.of(ec.generate_private_key(CURVE), ECDH, 0)
        return StoredPIN(ec.generate_private_key(CURVE), os.urandom(32), discarded.public.point, cost, now)

    def shared_secret(self) -> bytes:
        """Z; methods.md, Derivation, step 1."""
        return self.agreement.exchange(ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(CURVE, self.point))

    def stretched(self, pin: str) -> bytes:
        """S; methods.md, Derivation, step 2."""
        return hashlib.scrypt(pin.encode(), salt=self.salt, n=1 << self.cost, r=8, p=1, dklen=32, maxmem=1 << 29)

    def candidate(self, material: bytes, primary: bytes, counter: int) -> bytes:
        """K for a counter: HKDF with one block of output; RFC 5869, methods.md, Derivation, step 3."""
        info = b"countersign pin v1" + primary + bytes([counter])
        extracted = hmac.digest(self.salt, material, "sha256")
        return hmac.digest(extracted, info + b"\x01", "sha256")

    def key(self, pin: str, primary: bytes) -> SecretKey:
        """The key of a PIN, right or wrong; methods.md, Derivation."""
        material = self.shared_secret() + self.stretched(pin)
        for counter in range(256):
            candidate = self.candidate(material, primary, counter)
            if 1 <= int.from_bytes(candidate, "big") < ORDER:
                return SecretKey.of(scalar(candidate), ECDSA, self.created)
        raise Refused("no key")


def check_pin_rules(pin: str, policy: dict[str, Any]) -> None:
    """Refuses a new PIN that breaks the rules; methods.md, Rules for PINs."""
    require(re.fullmatch(r"[0-9]+", pin), "a PIN has digits only")
    require(policy.get("min_length", 5) <= len(pin) <= policy.get("max_length", 32), "a PIN of this length")
    require(max(map(pin.count, pin)) <= policy.get("max_repeats", 3), "a digit too often")
    steps = {(int(after) - int(before)) % 10 for before, after in zip(pin, pin[1:])}
    require(policy.get("sequences") or len(steps) != 1 or not steps <= {1, 2, 8, 9}, "a sequence")
    require(pin not in policy.get("blocked", []), "a blocked PIN")


# Texts ----------------------------------------------------------------------------------------------------------------

IGNORABLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def check_text(text: str, limit: int | None, is_line: bool = True) -> str:
    """The text, if it may be shown and signed; receipts.md, Texts.

    The page asks for Unicode 14.0, which Python 3.11 has; later ones accept more characters here.
    """
    require(limit is None or len(text) <= limit, "a text that is too long")
    marks = 0
    for index, character in enumerate(text):
        category = unicodedata.category(character)
        marks = marks + 1 if category[0] == "M" else 0
        require(marks <= 6, "too many marks")
        if character == "\n" and not is_line:
            continue
        if character in "\u200c\u200d":
            around = text[max(index - 1, 0):index] + text[index + 1:index + 2]
            is_inside = len(around) == 2 and {unicodedata.category(each)[0] for each in around} <= {"L", "M"}
            require(is_inside, "an invisible character")
            continue
        require(category not in ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"), f"a character of the category {category}")
        require(not IGNORABLE.match(character), "an invisible character")
    lines = text.split("\n")
    require(text.strip("\n \u2800") and any(not is_blank(each) for line in lines for each in line), "an empty text")
    require(not any(line and is_blank(line[-1]) for line in lines), "a line that ends in a blank")
    require(lines[0] and lines[-1] and "\n\n\n" not in text, "line ends in wrong places")
    require(unicodedata.normalize("NFC", text) == text, "a text that is not normalized")
    return text


def is_blank(character: str) -> bool:
    """Whether a character looks like a blank; receipts.md, Texts."""
    return unicodedata.category(character) == "Zs" or character == "\u2800"


def timestamp(seconds: float) -> str:
    """A time to the second; challenges.md."""
    return datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(text: str) -> float:
    """The time of a text with no fraction or with three digits; challenges.md."""
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", text), "not a time")
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        raise Refused("not a time") from None


# Challenges and receipts ----------------------------------------------------------------------------------------------

ID = r"_[0-7][0-9a-hjkmnp-tv-z]{25}"
METHOD = r"confirm|pin|biometric|custom:[a-z][a-z0-9_-]{0,31}"
TYPE_NAME = r"[a-z][a-z0-9_-]{0,63}"
HEX_32 = r"[0-9a-f]{64}"
TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
RECEIPT = re.compile(
    rf"""Countersign\ receipt\ v1
    \nissuer:\ (?P<issuer>https?://[a-z0-9._:\[\]-]+)
    \nchallenge:\ (?P<challenge>chl{ID}) \nnonce:\ (?P<nonce>{HEX_32})
    \nclient:\ (?P<client_name>.+)\ \((?P<client>cli{ID})\)
    \nuser:\ (?P<user>usr{ID}) \ndevice:\ (?P<device>[0-9A-F]{{40}})
    \ndecision:\ (?P<decision>approved(?=\nmethod)|denied(?=\ntype)|reported(?=\ntype))
    (?:\nmethod:\ (?P<method>{METHOD}))? (?:\nnumber:\ (?P<number>[0-9]{{6}}))?
    (?:\ncustom-data:\ (?P<custom_data>sha256:{HEX_32}))?
    \ntype:\ (?P<type>{TYPE_NAME}) (?:\ncontext:\ (?P<context>.+))?
    \nasked:\ (?P<asked>{TIME}) \nanswered:\ (?P<answered>{TIME}) (?P<details>(?:\ndetail:\ .+)*)
    (?:\nsigning-data:\ (?P<signing_data>sha256:{HEX_32}))? \nmessage:\n(?P<message>(?s:.+))""", re.VERBOSE)


LANGUAGE = r"[A-Za-z0-9-]{1,35}"


def read_challenge(content: bytes, challenge: str, issuer: str, user: str, enrollment: str, now: float,
                   schemes: tuple[str, ...] = ()) -> dict[str, Any]:
    """The body of a challenge, if a device may show it that opens `https` and these schemes; challenges.md."""
    body = json.loads(content)
    require(isinstance(body, dict), "not an object")
    body = {name: value for name, value in body.items() if value is not None}  # null and absent mean the same
    require(is_whole(body["v"]) and body["v"] == 1 and body["kind"] == "challenge", "another kind or version")
    for name, pattern in {"challenge": "chl" + ID, "nonce": HEX_32, "user": "usr" + ID, "enrollment": "enr" + ID,
                          "type": TYPE_NAME}.items():
        require(re.fullmatch(pattern, body[name]), f"a malformed {name}")
    require(re.fullmatch("cli" + ID, body["client"]["id"]), "a malformed client")
    require(not set("()") & set(check_text(body["client"]["name"], 64)), "a malformed client's name")
    check_text(body["message"], None, is_line=False)
    check_text(body.get("alert", "-"), None, is_line=False)
    check_text(body.get("context", "-"), 1000)
    body.setdefault("details", [])
    require(isinstance(body["details"], list), "malformed details")
    for detail in body["details"]:
        require("=" not in check_text(detail["label"], 64), "a label with =")
        check_text(detail["value"], 1000)
    require(isinstance(body.get("signing_data", ""), str), "malformed signing data")
    require(is_whole(body.get("number_entry", 6)) and body.get("number_entry", 6) == 6, "not a number of six digits")
    left = body.get("attempts_left", 0)
    require(is_whole(left) and 0 <= left <= 100, "a count of attempts that cannot be")
    require(re.fullmatch(LANGUAGE, body.get("locale", "en")), "a malformed language tag")
    require(isinstance(body.get("claimed", False), bool), "a malformed claim")
    require(len(body["asked_at"]) == 20 and seconds(body["asked_at"]), "a time that is not to the second")
    require(isinstance(body["methods"], list) and all(isinstance(each, str) for each in body["methods"]),
            "malformed methods")
    require(body["challenge"] == challenge, "another challenge")
    require((body["issuer"], body["user"], body["enrollment"]) == (issuer, user, enrollment), "for somebody else")
    require(seconds(body["expires_at"]) + SKEW > now, "an expired challenge")
    body["methods"] = [method for method in body["methods"] if re.fullmatch(METHOD, method)]
    require(body["methods"], "no method that is known")
    if "return_uri" in body:
        check_return_uri(body["return_uri"])
        require(body["return_uri"].split(":")[0] in ("https", *schemes), "a URL that this device does not open")
    return body


def is_whole(value: Any) -> bool:
    """Whether a value of JSON is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Pending:
    """A challenge that waits for this device: its body, or None if the device must fetch it; challenges.md, Poll."""

    challenge: str
    body: dict[str, Any] | None


def read_poll(reply: dict[str, Any], open_: Callable[[bytes, str], dict[str, Any]]) -> list[Pending]:
    """The entries of a poll's reply, newest first, without those that must not be shown; challenges.md, Poll.

    `open_` opens and reads the sealed challenge of an id.
    """
    pending = []
    for entry in reply["challenges"]:
        try:  # a malformed entry must not hide the others
            challenge, message = entry["id"], entry.get("message")
            require(re.fullmatch("chl" + ID, challenge) and seconds(entry["expires_at"]), "a malformed entry")
            pending.append(Pending(challenge, None if message is None else open_(decode64(message), challenge)))
        except (Refused, KeyError, TypeError, ValueError, AttributeError):
            continue
    return pending


@dataclass(frozen=True)
class Receipt:
    """What a receipt says; receipts.md."""

    issuer: str
    challenge: str
    nonce: str
    client_name: str
    client: str
    user: str
    device: str
    decision: str
    type: str
    asked: str
    answered: str
    message: str
    method: str | None = None
    number: str | None = None
    custom_data: str | None = None
    context: str | None = None
    details: tuple[tuple[str, str], ...] = ()
    signing_data: str | None = None

    @staticmethod
    def of(body: dict[str, Any], device: PublicKey, decision: str, answered: float, method: str | None = None,
           number: str | None = None, sealed_custom_data: bytes | None = None) -> Receipt:
        """The receipt of a decision about a challenge; receipts.md, The text."""
        data = body.get("signing_data")
        return Receipt(
            body["issuer"], body["challenge"], body["nonce"], body["client"]["name"], body["client"]["id"],
            body["user"], device.name, decision, body["type"], body["asked_at"], timestamp(answered), body["message"],
            method, number, hash_value(sealed_custom_data), body.get("context"),
            tuple((each["label"], each["value"]) for each in body.get("details") or []),
            hash_value(None if data is None else data.encode()))

    @property
    def text(self) -> str:
        """The text that is signed; receipts.md, The text."""
        def optional(name: str, value: str | None) -> list[str]:
            return [] if value is None else [f"{name}: {value}"]

        return "\n".join([
            "Countersign receipt v1", f"issuer: {self.issuer}", f"challenge: {self.challenge}", f"nonce: {self.nonce}",
            f"client: {self.client_name} ({self.client})", f"user: {self.user}", f"device: {self.device}",
            f"decision: {self.decision}", *optional("method", self.method), *optional("number", self.number),
            *optional("custom-data", self.custom_data), f"type: {self.type}", *optional("context", self.context),
            f"asked: {self.asked}", f"answered: {self.answered}",
            *(f"detail: {label} = {value}" for label, value in self.details),
            *optional("signing-data", self.signing_data), "message:", self.message])

    @staticmethod
    def parse(text: str) -> Receipt:
        """Reads a receipt; only the text that is rendered from the same values is one; receipts.md, Canonical form."""
        match = RECEIPT.fullmatch(text)
        require(match, "not a receipt")
        values = match.groupdict() if match else {}
        details = [line.removeprefix("detail: ").split(" = ", 1) for line in values.pop("details").split("\n")[1:]]
        require(all(len(each) == 2 and "=" not in check_text(each[0], 64) for each in details), "a malformed detail")
        receipt = Receipt(**values, details=tuple((label, check_text(value, 1000)) for label, value in details))
        require(not set("()") & set(check_text(receipt.client_name, 64)), "a malformed client's name")
        check_text(receipt.message, None, is_line=False)
        check_text(receipt.context or "-", 1000)
        require((receipt.method or "").startswith("custom:") == bool(receipt.custom_data), "custom data out of place")
        require(seconds(receipt.asked) and seconds(receipt.answered), "a malformed time")
        require(receipt.text == text, "not canonical")
        return receipt


def hash_value(data: bytes | None) -> str | None:
    """The value of the lines `custom-data:` and `signing-data:`; receipts.md."""
    return None if data is None else "sha256:" + hashlib.sha256(data).hexdigest()


def verify_receipt(message: str, certificate: Certificate, now: float) -> Receipt:
    """Verifies a receipt by steps 1 to 5 of receipts.md; the caller then compares it with what was asked."""
    text, signature = read_clear_text(message)
    receipt = Receipt.parse(text)
    require(receipt.device == certificate.primary.key.name, "the certificate of another device")
    signer = certificate.signer(signature, text_content(text), int(now))
    answered = int(seconds(receipt.answered))
    require(signer.flags(answered) & 0x02, "the key could not sign when it was answered")
    if receipt.method in ("pin", "biometric"):
        statement = signer.statement(answered)
        expected = [(f"method@{host(receipt.issuer)}", receipt.method)]
        is_proof = signer is not certificate.primary and statement and statement.notations == expected
        require(is_proof, "the key of another method")
    else:
        require(signer is certificate.primary, "not by the primary key")
    return receipt


# Other texts ----------------------------------------------------------------------------------------------------------

def change_text(issuer: str, enrollment: str, nonce: str, method: str, old: str | None, new: str | None,
                certificate: bytes) -> str:
    """The text of a change of PIN or biometric; methods.md, The text for PIN and biometric."""
    keys = [f"{name}: {value}" for name, value in (("old", old), ("new", new)) if value]
    return "\n".join(["Countersign change v1", f"issuer: {issuer}", f"enrollment: {enrollment}", f"nonce: {nonce}",
                      f"method: {method}", *keys, f"certificate: {encode64(certificate)}"])


def custom_change_text(issuer: str, enrollment: str, nonce: str, name: str, sealed_custom_data: bytes | None) -> str:
    """The text that registers or deregisters a custom authenticator; methods.md."""
    data = hash_value(sealed_custom_data)
    return "\n".join(["Countersign change v1", f"issuer: {issuer}", f"enrollment: {enrollment}", f"nonce: {nonce}",
                      f"method: custom:{name}", *([f"custom-data: {data}"] if data else [])])


def custom_data_text(data: str) -> str:
    """The text of custom data; methods.md, Custom authenticators."""
    return f"Countersign custom data v1\ndata: {encode64(data.encode())}"


def act_text(issuer: str, enrollment: str, nonce: str, act: str, device: str) -> str:
    """The text of an act on another device; devices.md, An act."""
    return "\n".join(["Countersign device act v1", f"issuer: {issuer}", f"enrollment: {enrollment}",
                      f"nonce: {nonce}", f"act: {act}", f"device: {device}"])


def return_url(uri: str, code: str) -> str:
    """The URL that a device opens after an approval by a link; codes-and-links.md, Approval by a link."""
    separator = "?" if "?" not in uri else "" if uri.endswith("?") else "&"
    return f"{uri}{separator}return_code={code}"


def check_return_uri(uri: str) -> None:
    """Refuses a URL to which no device goes back; codes-and-links.md, Approval by a link.

    A device whose issuer is `http` would open `http`, too; this one does not.
    """
    require(re.fullmatch(r"[!-~]{1,2000}", uri), "a URL that is too long, or none")
    parts = urllib.parse.urlsplit(uri)
    is_app = re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", parts.scheme)
    require(parts.scheme == "https" and parts.hostname or is_app, "a URL of another scheme")
    require("#" not in uri and "@" not in parts.netloc, "a URL with a user or a fragment")
    names = [name for name, _ in urllib.parse.parse_qsl(parts.query, keep_blank_values=True)]
    require("return_code" not in names, "a URL that has a code already")


def read_return(content: bytes, challenge: str, issuer: str, enrollment: str) -> str:
    """The code in a return message that is for this approval; codes-and-links.md, Approval by a link."""
    body = json.loads(content)
    require(body.get("v") == 1 and body.get("kind") == "return", "another kind or version")
    named = body["issuer"], body["challenge"], body["enrollment"]
    require(named == (issuer, challenge, enrollment), "another approval")
    require(decode64url(body["code"]), "a malformed code")
    return body["code"]


def read_code(text: str, via: str, issuer: str) -> dict[str, str]:
    """The body of a claim by a code that came as a picture (`qr`) or as a link; codes-and-links.md, The code."""
    if via == "link":
        require(text.startswith(issuer + "/q#"), "a link to another server")
        content = decode64url(text.removeprefix(issuer + "/q#"))
    else:
        content = decode64(text)
    code = json.loads(content)
    require(isinstance(code, dict) and set(code) == {"transaction_id", "otp"}, "other members")
    require(re.fullmatch("chl" + ID, str(code["transaction_id"])), "a malformed challenge")
    require(str(code["otp"]).startswith(via + "."), "a code of the other form")
    return {**code, "via": via}


def read_invitation(text: str, issuer: str) -> dict[str, str]:
    """The invitation in a ticket's QR code; enrollment.md, The invitation."""
    invitation = json.loads(decode64(text))
    require(isinstance(invitation["ticket"], str), "a malformed ticket")
    for name, pattern in {"fingerprint": "[0-9A-F]{40}", "user": "usr" + ID, "enrollment": "enr" + ID}.items():
        require(re.fullmatch(pattern, str(invitation[name])), f"a malformed {name}")
    require(invitation["issuer"] == issuer, "an invitation of another issuer")
    return invitation


def webhook_signature(secret: str, identifier: str, timestamp: int | str, body: bytes) -> str:
    """A signature of a call of the server; relying-party.md, Calls of the server; Standard Webhooks."""
    key = decode64(secret.removeprefix("whsec_"))
    return "v1," + encode64(hmac.digest(key, f"{identifier}.{timestamp}.".encode() + body, "sha256"))


def verify_webhook(fields: dict[str, str], body: bytes, secret: str, now: float, tolerance: int = 300) -> None:
    """Refuses a call that the server has not made, or not now; relying-party.md, Calls of the server."""
    timestamp = fields.get("webhook-timestamp", "")
    require(re.fullmatch(r"[0-9]+", timestamp) and abs(int(timestamp) - now) <= tolerance, "another time")
    expected = webhook_signature(secret, fields.get("webhook-id", ""), timestamp, body)
    signatures = fields.get("webhook-signature", "").split(" ")
    require(any([hmac.compare_digest(each.encode(), expected.encode()) for each in signatures]), "a bad signature")


def verify_removal_notice(message: str, server: Certificate, issuer: str, enrollment: str, now: float) -> str:
    """The reason in a removal notice that is good; enrollment.md, The end of an enrollment."""
    text, signature = read_clear_text(message)
    pattern = (f"Countersign removal notice v1\nissuer: {re.escape(issuer)}\nenrollment: {enrollment}\n"
               rf"removed: ({TIME})\nreason: ([a-z0-9_]{{1,64}})")
    match = re.fullmatch(pattern, text)
    require(match and seconds(match[1]), "not a removal notice of this enrollment")
    signer = server.signer(signature, text_content(text), int(now))
    require(signer is not server.primary and not signer.is_revoked(int(now)), "a signer that counts no more")
    return match[2] if match else ""


def alert_hash(title: str, body: str) -> str:
    """The hash of what a push displays; pushes.md, The hash of the alert."""
    strings = b"".join(str(len(each)).encode() + b":" + each + b"," for each in (title.encode(), body.encode()))
    return base64.urlsafe_b64encode(hashlib.sha256(strings).digest()).rstrip(b"=").decode()


def verify_jws(algorithm: str, point: bytes, value: bytes, signed: bytes) -> None:
    """Refuses a signature of a JWS that the key with a point has not made; RFC 7518 §3.4, RFC 8037 §3.1."""
    require(len(value) == 64, "malformed")
    try:
        if algorithm == "EdDSA":
            ed25519.Ed25519PublicKey.from_public_bytes(point).verify(value, signed)
            return
        der = utils.encode_dss_signature(int.from_bytes(value[:32], "big"), int.from_bytes(value[32:], "big"))
        ec.EllipticCurvePublicKey.from_encoded_point(CURVE, point).verify(der, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused("a bad signature") from None


def read_jws(jws: str, kinds: str | tuple[str | None, ...], point_of: Callable[[dict[str, Any]], bytes],
             algorithms: tuple[str, ...] = ("ES256",)) -> dict[str, Any]:
    """The claims of a JWS of one of these types that the key with a point has signed; RFC 7515 §5.2."""
    parts = jws.split(".")
    require(len(parts) == 3, "malformed")
    try:
        header, claims = (json.loads(decode64url(part)) for part in parts[:2])
        value = decode64url(parts[2])
    except ValueError:
        raise Refused("malformed") from None
    require(not {"crit", "b64"} & set(header), "a critical header")
    require(header.get("alg") in algorithms, "another algorithm")
    require(header.get("typ") in ((kinds,) if isinstance(kinds, str) else kinds), "another type")
    verify_jws(header["alg"], point_of(header), value, f"{parts[0]}.{parts[1]}".encode())
    return claims


def sign_jws(header: dict[str, Any], claims: dict[str, Any], key: SecretKey) -> str:
    """A JWS; RFC 7515 §5.1."""
    parts = (json.dumps(each, separators=(",", ":"), ensure_ascii=False).encode() for each in (header, claims))
    signed = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    return f"{signed}.{base64.urlsafe_b64encode(key.raw_signature(signed.encode())).rstrip(b'=').decode()}"


ASSERTION = "countersign-assertion+jwt"


def assertion_claims(issuer: str, user: str, enrollment: str, client: str, name: str, now: int,
                     challenge: str | None = None) -> dict[str, Any]:
    """What a device signs to sign its user in; signing-in.md, The assertion."""
    claims = {"iss": enrollment, "sub": user, "aud": issuer, "client_id": client, "challenge": challenge, "jti": name,
              "iat": now, "exp": now + 60}
    return {name: value for name, value in claims.items() if value is not None}


def read_assertion(text: str, point: bytes, issuer: str, client: str, now: float) -> dict[str, Any]:
    """The claims of an assertion that a server takes; signing-in.md, The assertion."""
    def ours(header: dict[str, Any]) -> bytes:
        require("kid" not in header, "a named key")
        return point

    claims = read_jws(text, ASSERTION, ours)
    require(re.fullmatch("enr" + ID, str(claims.get("iss"))), "malformed")
    require(re.fullmatch("usr" + ID, str(claims.get("sub"))), "malformed")
    require(all(isinstance(claims.get(name), int) for name in ("iat", "exp")), "malformed")
    require(isinstance(claims.get("jti"), str) and re.fullmatch("[!-~]{16,64}", claims["jti"]), "malformed")
    require("challenge" not in claims or re.fullmatch("chl" + ID, str(claims["challenge"])), "malformed")
    require(claims.get("aud") == issuer and claims.get("client_id") == client, "for somebody else")
    require(0 < claims["exp"] - claims["iat"] <= 60, "too long")
    require(now < claims["exp"] and claims["iat"] <= now + SKEW, "out of time")
    return claims


JWT_ANSWER = "okta-pushbind+jwt"
ROLES = ("proofOfPossession", "userVerification")
# What approves and denies: consent, purpose of the key that signs, decision and method.
DECISIONS = {
    ("APPROVED_CONSENT_PROMPT", "proofOfPossession"): ("approved", "confirm"),
    ("APPROVED_USER_VERIFICATION", "userVerification"): ("approved", "biometric"),
    ("DENIED_CONSENT_PROMPT", "proofOfPossession"): ("denied", None)}


def answer_claims(issuer: str, user: str, enrollment: str, challenge: str, nonce: str, name: str, now: int,
                  consent: str = "APPROVED_CONSENT_PROMPT", role: str = "proofOfPossession") -> dict[str, Any]:
    """What a device with JWKs signs about a challenge; jwk-devices.md, The answer."""
    return {"iss": enrollment, "aud": issuer, "sub": user, "iat": now, "exp": now + 300, "nbf": now - 300, "jti": name,
            "tx": challenge, "nonce": nonce, "keyType": role, "challengeResponseContext": {"userConsent": consent}}


def verify_by_jwk(key: dict[str, Any], algorithm: str, value: bytes, signed: bytes) -> None:
    """Refuses a signature of a JWS that a JWK has not made; RFC 7518 §3.3 and §3.4, RFC 8037 §3.1."""
    kinds = {("EC", "P-256"): "ES256", ("OKP", "Ed25519"): "EdDSA", ("RSA", None): "RS256"}
    require(kinds.get((key["kty"], key.get("crv"))) == algorithm, "another algorithm than that of the key")
    if algorithm == "ES256":
        return verify_jws(algorithm, b"\x04" + decode64url(key["x"]) + decode64url(key["y"]), value, signed)
    if algorithm == "EdDSA":
        return verify_jws(algorithm, decode64url(key["x"]), value, signed)
    numbers = rsa.RSAPublicNumbers(*(int.from_bytes(decode64url(key[name]), "big") for name in ("e", "n")))
    require(numbers.n.bit_length() >= 2048 and numbers.e >= 65537, "a weak key")
    try:
        numbers.public_key().verify(value, signed, padding.PKCS1v15(), hashes.SHA256())
    except InvalidSignature:
        raise Refused("a bad signature") from None


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of an object, of which none occurs twice."""
    require(len(pairs) == len(dict(pairs)), "a name that occurs twice")
    return dict(pairs)


def read_jwt_answer(token: str, keys: dict[str, Any], issuer: str, user: str, enrollment: str, challenge: str,
                    nonce: str, methods: list[str], now: float) -> tuple[str, str | None]:
    """Decision and method of an answer that a server takes; jwk-devices.md, Checks."""
    parts = token.split(".")
    require(len(parts) == 3 and len(token) <= 16384, "malformed")
    try:
        header, claims = (json.loads(decode64url(part), object_pairs_hook=once) for part in parts[:2])
        value = decode64url(parts[2])
    except ValueError:
        raise Refused("malformed") from None
    require(not {"crit", "b64"} & set(header) and header.get("typ") == JWT_ANSWER, "another type")
    named = [role for role in ROLES if role in keys and keys[role]["kid"] == header.get("kid")]
    require(len(named) == 1, "an unknown key")
    verify_by_jwk(keys[named[0]], header.get("alg"), value, f"{parts[0]}.{parts[1]}".encode())
    require(claims.get("keyType") == named[0], "another purpose than that of the key")
    expected = {"iss": enrollment, "aud": issuer, "sub": user, "tx": challenge, "nonce": nonce}
    require(all(claims.get(name) == value for name, value in expected.items()), "for something else")
    require(isinstance(claims.get("jti"), str) and 1 <= len(claims["jti"].encode()) <= 128, "malformed")
    require("\0" not in claims["jti"], "malformed")
    times = [claims.get("nbf", claims.get("iat")), claims.get("iat"), claims.get("exp")]
    require(all(is_whole(each) and 0 <= each <= 2**40 for each in times), "malformed")
    require(times[0] <= times[1] < times[2] <= times[0] + 600, "too long")
    require(times[0] <= now + SKEW and now - SKEW < times[2], "out of time")
    consent = (claims.get("challengeResponseContext") or {}).get("userConsent")
    require((consent, named[0]) in DECISIONS, "no decision")
    decision, method = DECISIONS[consent, named[0]]
    require(method is None or method in methods, "another method")
    return decision, method


def organization(issuer: str) -> str:
    """The issuer's name as an organization; jwk-devices.md, The challenge."""
    return "00o" + hashlib.sha256(issuer.encode()).digest()[:8].hex()


def read_jwt_challenge(token: str, keys: dict[str, Any], issuer: str, enrollment: str, now: float) -> dict[str, Any]:
    """The claims of a challenge that a device with JWKs believes; jwk-devices.md, The challenge."""
    parts = token.split(".")
    require(len(parts) == 3, "malformed")
    header, claims = (json.loads(decode64url(part), object_pairs_hook=once) for part in parts[:2])
    require(not {"crit", "b64"} & set(header) and header.get("typ") == JWT_ANSWER, "another type")
    named = [key for key in keys["keys"] if key["kid"] == header.get("kid")]
    require(len(named) == 1 and header.get("alg") == "RS256", "an unknown key")
    verify_by_jwk(named[0], "RS256", decode64url(parts[2]), f"{parts[0]}.{parts[1]}".encode())
    require(claims.get("iss") == issuer and claims.get("orgId") == organization(issuer), "another server")
    require(claims.get("authenticatorEnrollmentId") == enrollment, "for something else")
    require(all(is_whole(claims.get(name)) for name in ("iat", "exp")), "malformed")
    require(claims["iat"] <= now + SKEW and now - SKEW < claims["exp"], "out of time")
    where = f"{issuer}/idp/myaccount/app-authenticators/challenge/{claims['transactionId']}/verify"
    require(claims.get("verificationUri") == where, "an answer that goes elsewhere")
    return claims


MAINTENANCE = "urn:okta:devices:app:authenticator"


def maintenance_claims(issuer: str, user: str, enrollment: str, name: str, now: int) -> dict[str, Any]:
    """What a device with JWKs signs for a token of its own; jwk-devices.md, A token for the device's own enrollment."""
    return {"iss": MAINTENANCE, "aud": issuer, "sub": user, "methodEnrollmentId": enrollment, "jti": name, "iat": now,
            "exp": now + 300, "nbf": now - 300}


def read_maintenance_assertion(text: str, key: dict[str, Any], issuer: str, user: str, enrollment: str,
                               now: float) -> dict[str, Any]:
    """The claims of an assertion that a server takes; jwk-devices.md, A token for the device's own enrollment."""
    parts = text.split(".")
    require(len(parts) == 3 and len(text) <= 16384, "malformed")
    header, claims = (json.loads(decode64url(part), object_pairs_hook=once) for part in parts[:2])
    require(not {"crit", "b64"} & set(header) and header.get("typ") == "JWT", "another type")
    require(header.get("kid") == key["kid"], "an unknown key")
    verify_by_jwk(key, header.get("alg"), decode64url(parts[2]), f"{parts[0]}.{parts[1]}".encode())
    expected = {"iss": MAINTENANCE, "aud": issuer, "sub": user, "methodEnrollmentId": enrollment}
    require(all(claims.get(name) == value for name, value in expected.items()), "for something else")
    require(isinstance(claims.get("jti"), str) and 1 <= len(claims["jti"].encode()) <= 128, "malformed")
    require("\0" not in claims["jti"], "malformed")
    times = [claims.get("nbf", claims.get("iat")), claims.get("iat"), claims.get("exp")]
    require(all(is_whole(each) and 0 <= each <= 2**40 for each in times), "malformed")
    require(times[0] <= times[1] < times[2] <= times[0] + 600, "too long")
    require(times[0] <= now + SKEW and now - SKEW < times[2], "out of time")
    return claims


def read_event_key(text: str, algorithm: str | None) -> Any:
    """The key of a device that signs events; jwk-devices.md, Events."""
    try:
        octets = base64.b64decode(re.sub("[ \\t\\r\\n]", "", text), validate=True)
        key = ed25519.Ed25519PublicKey.from_public_bytes(octets) if len(octets) == 32 else load_der_public_key(octets)
    except ValueError:
        raise Refused("no key") from None
    kinds = {ec.EllipticCurvePublicKey: ("EC", "ECDSA"), rsa.RSAPublicKey: ("RSA",),
             ed25519.Ed25519PublicKey: ("ED25519",)}
    named = next((names for kind, names in kinds.items() if isinstance(key, kind)), ())
    require(bool(named) and algorithm in (None, *named), "another algorithm")
    if isinstance(key, ec.EllipticCurvePublicKey):
        require(isinstance(key.curve, ec.SECP256R1), "another curve")
    if isinstance(key, rsa.RSAPublicKey):
        require(2048 <= key.key_size <= 8192 and key.public_numbers().e >= 65537, "a weak key")
    return key


def verify_event(key: Any, text: str, signature: str) -> None:
    """Refuses a signature of an event that a key has not made; jwk-devices.md, Events."""
    try:
        value = base64.b64decode(re.sub("[ \\t\\r\\n]", "", signature), validate=True)
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(value, text.encode(), ec.ECDSA(hashes.SHA256()))
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(value, text.encode(), padding.PKCS1v15(), hashes.SHA256())
        else:
            key.verify(value, text.encode())
    except (ValueError, InvalidSignature):
        raise Refused("a bad signature") from None


PROOF = "dpop+jwt"


class NonceNeeded(Refused):
    """A proof is refused for want of a nonce of the server's."""


def public_jwk(point: bytes) -> dict[str, str]:
    """The members that make a public key; RFC 7517, RFC 7638 §3.2."""
    return {"crv": "P-256", "kty": "EC", "x": encode64url(point[1:33]), "y": encode64url(point[33:])}


def thumbprint(key: dict[str, Any]) -> str:
    """The name of a key by its members; RFC 7638 §3."""
    members = {name: key[name] for name in ("crv", "kty", "x", "y") if name in key}
    return encode64url(hashlib.sha256(json.dumps(members, separators=(",", ":")).encode()).digest())


def proof_claims(method: str, uri: str, name: str, now: int, nonce: str | None = None,
                 token: str | None = None) -> dict[str, Any]:
    """What shows that a request comes from whoever has a key; signing-in.md, Tokens that are bound to a key."""
    claims = {"jti": name, "htm": method, "htu": uri, "iat": now,
              "ath": token and encode64url(hashlib.sha256(token.encode()).digest()), "nonce": nonce}
    return {name: value for name, value in claims.items() if value is not None}


def bare_address(uri: str) -> tuple[str, str, str]:
    """An address as proofs are compared: without query, fragment and usual port; RFC 9449 §4.3."""
    parts = urllib.parse.urlsplit(uri)
    usual = ":443" if parts.scheme == "https" else ":80"
    return parts.scheme, parts.netloc.lower().removesuffix(usual), parts.path


def read_proof(text: str, method: str, uri: str, nonces: dict[str, int], now: float,
               token: str | None = None) -> str:
    """The name of the key that a proof shows; signing-in.md, Tokens that are bound to a key; RFC 9449 §4.3."""
    shown: dict[str, Any] = {}

    def own(header: dict[str, Any]) -> bytes:
        require(isinstance(header.get("jwk"), dict) and "d" not in header["jwk"], "no public key")
        shown.update(header["jwk"])
        kind = (header["alg"], shown.get("kty"), shown.get("crv"))
        require(kind in (("ES256", "EC", "P-256"), ("EdDSA", "OKP", "Ed25519")), "another kind of key")
        point = decode64url(shown["x"])
        return point if kind[0] == "EdDSA" else b"\x04" + point + decode64url(shown["y"])

    claims = read_jws(text, PROOF, own, ("ES256", "EdDSA"))
    require(all(isinstance(claims.get(name), str) for name in ("jti", "htu")) and is_whole(claims.get("iat")),
            "malformed")
    require(claims.get("htm") == method and bare_address(claims["htu"]) == bare_address(uri), "for another request")
    require(token is None or claims.get("ath") == proof_claims("", "", "", 0, token=token)["ath"], "another token")
    made = nonces.get(str(claims.get("nonce")))
    if made is None or not made - SKEW <= now < made + 120:
        raise NonceNeeded("a nonce of the server's is needed")
    require(abs(claims["iat"] - now) <= SKEW, "out of time")
    require("nbf" not in claims or is_whole(claims["nbf"]) and claims["nbf"] <= now + SKEW, "out of time")
    require("exp" not in claims or is_whole(claims["exp"]) and now < claims["exp"], "out of time")
    return thumbprint(shown)


def read_request_object(text: str, point: bytes, issuer: str, client: str, now: float) -> dict[str, Any]:
    """What a client has signed of its request; signing-in.md, Requests that are pushed; RFC 9101 §6."""
    claims = read_jws(text, ("oauth-authz-req+jwt", "JWT", None), lambda header: point)
    require(claims.get("client_id") == client and claims.get("iss") == client, "another client's")
    audience = claims.get("aud")
    require(issuer in (audience if isinstance(audience, list) else [audience]), "for somebody else")
    require(claims.get("sub") != client and not {"request", "request_uri"} & set(claims), "of another kind")
    require(all(is_whole(claims.get(name)) for name in ("nbf", "exp")), "malformed")
    require(claims["nbf"] <= now + 10 and now < claims["exp"] <= claims["nbf"] + 3600, "out of time")
    require("iat" not in claims or is_whole(claims["iat"]) and claims["iat"] <= now + 10, "out of time")
    return claims


def verify_push(payload: dict[str, Any], issuer: str, enrollment: str, keys: dict[str, Any], now: float,
                skew: int = 300) -> dict[str, Any]:
    """The claims of a push that may be shown; pushes.md, What a device verifies, RFC 7515 §5.2."""
    ours, alert = payload.get("countersign", {}), payload.get("aps", {}).get("alert", {})
    jws, title, body = ours.get("jws"), alert.get("title"), alert.get("body")
    require(ours.get("v") == 1 and all(isinstance(each, str) for each in (jws, title, body)), "malformed")
    def named(header: dict[str, Any]) -> bytes:
        """The point of the key that the header names."""
        found = [each for each in keys["keys"] if each.get("kid") == header.get("kid") and each.get("kty") == "EC"]
        require(len(found) == 1, "an unknown key")
        return b"\x04" + decode64url(found[0]["x"]) + decode64url(found[0]["y"])

    claims = read_jws(jws, "countersign-push+jwt", named)
    require(all(isinstance(claims.get(name), int) for name in ("iat", "exp")), "malformed")
    require(re.fullmatch("chl" + ID, str(claims.get("jti"))), "malformed")
    require(re.fullmatch(TYPE_NAME, str(claims.get("type"))) and isinstance(claims.get("alert"), str), "malformed")
    require(claims.get("iss") == issuer and claims.get("aud") == enrollment, "not for this enrollment")
    require(claims["iat"] <= now + skew and claims["exp"] > now - skew, "out of time")
    require(hmac.compare_digest(claims["alert"], alert_hash(title, body)), "an altered alert")
    return claims


# A device -------------------------------------------------------------------------------------------------------------

def reaction(status: int, media: str, data: str, is_notice: Callable[[str], bool]) -> str:
    """What a device does about a reply without success, in a word of problem.json; errors.md.

    `is_notice` tells whether a text is a removal notice of this enrollment that the server has signed.
    """
    try:
        problem = json.loads(data) if media == "application/problem+json" else {}
    except ValueError:
        problem = {}
    code = problem.get("code") if isinstance(problem, dict) else None
    if not isinstance(code, str):
        return "repeat"  # not the server's decision
    if code in ("already_ended", "challenge_not_found"):
        return "take_off"
    if code == "pin_incorrect":
        return "ask_again" if problem.get("attempts_left", 0) > 0 else "tell"
    if code == "device_deregistered":
        return "delete" if isinstance(problem.get("notice"), str) and is_notice(problem["notice"]) else "keep"
    if code == "unknown_enrollment":
        return "keep"
    return "repeat" if status >= 500 else "wait" if status == 429 else "tell"


def read_device_authorization(status: int, data: str, issuer: str) -> dict[str, Any]:
    """What a device reads in the reply to its request; signing-in.md, By an approval on another device."""
    require(status == 200, "the server refuses")
    reply = json.loads(data)
    require(isinstance(reply, dict), "it is no object")

    def visible(name: str, longest: int | None = None) -> str:
        require(isinstance(reply.get(name), str) and re.fullmatch("[!-~]+", reply[name]), f"{name} is no visible text")
        require(longest is None or len(reply[name]) <= longest, f"{name} is too long")
        return reply[name]

    def page(name: str) -> str:
        require(visible(name).startswith(("https://", issuer + "/")), f"{name} is neither https nor at the issuer")
        return reply[name]

    shown: dict[str, Any] = {
        "device_code": visible("device_code"), "user_code": visible("user_code", 64),
        "verification_uri": page("verification_uri"), "verification_uri_complete": None, "number": None,
        "expires_in": reply.get("expires_in"), "interval": 5}
    if "verification_uri_complete" in reply:
        shown["verification_uri_complete"] = page("verification_uri_complete")
    if "number" in reply:
        require(re.fullmatch("[0-9]{6}", visible("number")), "number is not six digits")
        shown["number"] = reply["number"]
    require(is_whole(shown["expires_in"]) and shown["expires_in"] > 0, "it does not say how long it is good")
    if is_whole(reply.get("interval")):
        shown["interval"] = max(1, reply["interval"])
    return shown


def poll_reaction(status: int, data: str, retry_after: int | None, interval: int) -> tuple[str, int | None]:
    """What a device does about a reply to a poll, in a word of device-poll.json, and when it asks again.

    signing-in.md, By an approval on another device.
    """
    try:
        reply = json.loads(data)
    except ValueError:
        reply = None
    if not isinstance(reply, dict):
        reply = {}
    if status == 200:
        return ("tokens" if reply.get("access_token") and reply.get("token_type") == "Bearer" else "end"), None
    error = reply.get("error") if 400 <= status < 500 else None
    if error == "authorization_pending":
        return "ask_again", interval
    if error == "slow_down":
        return "slower", max(interval + 5, retry_after or 0)
    if status in (408, 429) or status >= 500:
        return "later", max(interval, retry_after or 0)
    return {"access_denied": "declined", "expired_token": "expired"}.get(error or "", "end"), None


def exchange(base: str, method: str, path: str, body: bytes = b"", fields: dict[str, str] | None = None) -> Any:
    """One HTTP exchange without redirects; the reply as JSON or text; requests.md, errors.md."""
    parts = urllib.parse.urlsplit(base)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=90)
    try:
        headers = {**({"Content-Type": "application/json"} if body else {}), **(fields or {})}
        connection.request(method, path, body or None, headers)
        reply = connection.getresponse()
        data, media = reply.read(), reply.headers.get_content_type()
    finally:
        connection.close()
    if media == "application/problem+json":
        raise Problem(reply.status, json.loads(data))
    require(200 <= reply.status < 300, f"status {reply.status} without a problem")
    return json.loads(data) if media == "application/json" else data.decode()


def fetch_server_certificate(issuer: str) -> Certificate:
    """The server's certificate, which is not yet trusted; messages.md, Rotation."""
    return Certificate.parse(dearmor("PUBLIC KEY BLOCK", exchange(issuer, "GET", "/v1/server-certificate")))


@dataclass
class Device:
    """One enrollment."""

    issuer: str
    user: str
    enrollment: str
    keys: DeviceKeys
    server: Certificate
    policies: dict[str, Any]
    pin: StoredPIN | None = None
    approval: dict[str, Any] | None = None  # the wait for approval; enrollment.md
    cursor: str | None = None  # of the list that the device has; challenges.md
    schemes: tuple[str, ...] = ()  # of URLs that it opens besides https; codes-and-links.md

    @staticmethod
    def enroll(qr: str, issuer: str, name: str, **described: str) -> Device:
        """Enrolls by the text of a ticket's QR code; enrollment.md, The steps of a device."""
        invitation = read_invitation(qr, issuer)
        pinned = bytes.fromhex(invitation["fingerprint"])
        server = fetch_server_certificate(issuer)
        require(server.fingerprint == pinned, "another server")
        now = int(time.time())
        keys = DeviceKeys.make(now)
        certificate = keys.certificate(invitation["user"], invitation["enrollment"], issuer, now)
        body = {"ticket": invitation["ticket"], "certificate": encode64(certificate), "versions": [1],
                "device": {"name": name, "storage": "software", **described}}
        device = Device(issuer, invitation["user"], invitation["enrollment"], keys, server, {})
        reply = device.call("POST", "/v1/enrollments", body, key_id=keys.primary.public.name)
        device.approval = reply.get("approval")
        require((reply["enrollment"], reply["user"]) == (device.enrollment, device.user), "enrolled as somebody else")
        device.server = Certificate.parse(dearmor("PUBLIC KEY BLOCK", reply["server_certificate"]))
        require(device.server.fingerprint == pinned, "another server")
        device.policies = reply["policies"]
        return device

    def call(self, method: str, path: str, body: dict[str, Any] | None = None, key_id: str | None = None) -> Any:
        """A signed request; requests.md."""
        data = b"" if body is None else json.dumps(body).encode()
        nonce = base64.urlsafe_b64encode(os.urandom(18)).decode()
        fields = signed_fields(method, self.issuer + path, data, self.keys.authentication, key_id or self.enrollment,
                               int(time.time()), nonce)
        return exchange(self.issuer, method, path, data, fields)

    def poll(self, wait: int = 0) -> list[Pending]:
        """The pending challenges, opened as far as the reply brings them; challenges.md, Poll."""
        cursor = f"&cursor={urllib.parse.quote(self.cursor, safe='')}" if self.cursor is not None else ""
        reply = self.call("GET", f"/v1/enrollments/self/challenges?wait={wait}{cursor}")
        self.cursor = reply["cursor"]
        return read_poll(reply, self.open)

    def fetch(self, challenge: str) -> dict[str, Any]:
        """The opened body of a challenge; challenges.md, Fetch."""
        return self.open(decode64(self.call("GET", f"/v1/challenges/{challenge}/message")["message"]), challenge)

    def open(self, message: bytes, challenge: str) -> dict[str, Any]:
        """The body of a sealed challenge that was listed or fetched by its id; challenges.md, The sealed body."""
        now = time.time()
        content = open_from_server(message, self.keys, self.server, int(now))
        return read_challenge(content, challenge, self.issuer, self.user, self.enrollment, now, self.schemes)

    def claim(self, text: str, via: str) -> str:
        """Claims the challenge of a code that came as a picture (`qr`) or as a link; codes-and-links.md, Claim."""
        claim = read_code(text, via, self.issuer)
        self.call("POST", "/v1/challenges/claim", claim)
        return claim["transaction_id"]

    def place_of_return(self, body: dict[str, Any], reply: dict[str, Any]) -> str:
        """The URL that the device opens after an approval by a link; codes-and-links.md, Approval by a link."""
        content = open_from_server(decode64(reply["return"]), self.keys, self.server, int(time.time()))
        return return_url(body["return_uri"], read_return(content, body["challenge"], self.issuer, self.enrollment))

    def take_pushes(self, port: int, path: str) -> None:
        """Has pushes sent to a port of this machine; pushes.md, Registration; enrollment.md, Updates."""
        push = {"service": "local", "app": "com.example.play", "token": f"{port}:{path}"}
        self.call("PATCH", "/v1/enrollments/self", {"push": push})

    def others(self) -> dict[str, Any]:
        """The user's other devices, as far as this one may act on them; devices.md, The list."""
        return self.call("GET", "/v1/enrollments/self/others")

    def answer(self, body: dict[str, Any], decision: str, method: str | None = None, number: str | None = None,
               pin: str | None = None) -> dict[str, Any]:
        """Signs, seals and sends an answer; challenges.md, Answer."""
        now = int(time.time())
        primary = self.keys.primary
        receipt = Receipt.of(body, primary.public, decision, now, method, number)
        signer = self.pin.key(pin, primary.public.fingerprint) if self.pin and method == "pin" and pin else primary
        message = seal_text(receipt.text, signer, self.server, now)
        return self.call("POST", f"/v1/challenges/{body['challenge']}/answer", {"message": encode64(message)})

    def set_pin(self, pin: str) -> None:
        """Sets a first PIN; methods.md, A change, Setting a PIN."""
        state = self.call("GET", "/v1/enrollments/self/methods")
        policy, now, primary = state["pin"]["policy"], int(time.time()), self.keys.primary
        check_pin_rules(pin, policy)
        stored = StoredPIN.make(policy.get("cost", 16), now)
        key = stored.key(pin, primary.public.fingerprint)
        certificate = pin_certificate(primary, self.user, self.enrollment, self.issuer, key, now)
        text = change_text(self.issuer, self.enrollment, state["nonce"], "pin", None, key.public.name, certificate)
        message = seal_text(text, primary, self.server, now)
        self.call("POST", "/v1/enrollments/self/methods", {"message": encode64(message)})
        self.pin = stored

    def sign_in(self, client: str, pin: str | None = None) -> dict[str, Any]:
        """Signs the user in at a client; signing-in.md."""
        challenge = None
        if pin is not None:
            challenge = self.call("POST", "/v1/enrollments/self/sign-ins", {"client": client})["challenge"]
            self.answer(self.fetch(challenge), "approved", "pin", None, pin)
        name = base64.urlsafe_b64encode(os.urandom(18)).decode()
        claims = assertion_claims(
            self.issuer, self.user, self.enrollment, client, name, int(time.time()), challenge)
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "client_id": client,
                "assertion": sign_jws({"alg": "ES256", "typ": ASSERTION}, claims, self.keys.authentication)}
        reply = exchange(self.issuer, "POST", "/oauth2/token", urllib.parse.urlencode(form).encode(),
                         {"Content-Type": "application/x-www-form-urlencoded"})
        identity = json.loads(decode64url(reply["id_token"].split(".")[1]))
        require(identity["sub"] == self.user and identity["aud"] == client, "signed in as somebody else")
        return identity


def pin_certificate(primary: SecretKey, user: str, enrollment: str, issuer: str, key: SecretKey, at: int) -> bytes:
    """The certificate in a change that sets a first PIN; methods.md, The certificate in a change."""
    return (packet(6, primary.public.body) + bind_user_id(primary, f"{user} <{enrollment}@{host(issuer)}>", at)
            + bind_subkey(primary, key, 0x02, at, method_notation("pin", issuer)))
