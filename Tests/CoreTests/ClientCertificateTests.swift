import CountersignWire
import Crypto
import Encodings
import Foundation
import StorageTestSupport
import SwiftASN1
import Testing
import X509

@testable import CountersignCore

// Spec: RFC 8705 §2.1, §2.1.2, §2.2, §3.1; RFC 5280 §4.2.1.6, §7.2.
@Suite("By which certificates a client authenticates")
struct ClientCertificateTests {
    private typealias Attribute = RelativeDistinguishedName.Attribute

    private static func name(_ parts: [[Attribute]]) -> DistinguishedName {
        DistinguishedName(parts.map { RelativeDistinguishedName($0) })
    }

    private static func verified(
        _ subject: DistinguishedName, _ names: [GeneralName] = []
    ) throws -> ClientCertificate {
        ClientCertificate(try TestCertificate(subject, names).bytes, isVerified: true)
    }

    private static func subject(_ text: String) throws -> CertificateRule { .subject(try #require(SubjectName(text))) }

    /// A name of a country, an organization, and a common name with a number beside it.
    private static func example() throws -> DistinguishedName {
        let country = try Attribute(type: .RDNAttributeType.countryName, printableString: "DE")
        let organization = Attribute(type: .RDNAttributeType.organizationName, utf8String: "Example, Inc.")
        let common = Attribute(type: .RDNAttributeType.commonName, utf8String: "shop")
        let number = try Attribute(type: [2, 5, 4, 5], printableString: "7")
        return name([[country], [organization], [common, number]])
    }

    @Test(
        "RFC 8705 §2.1: the subject is compared part by part, whatever string types it has",
        arguments: [
            ("CN=shop+serialNumber=7,O=Example\\, Inc.,C=DE", true),
            ("2.5.4.5=7+cn=shop, o=Example\\2C Inc., c=DE", true),
            ("2.5.4.5=#130137+CN=#0C0473686F70,O=Example\\, Inc.,C=DE", true),
            // The order of the certificate, another case, less, more, and a comma that ends a value.
            ("C=DE,O=Example\\, Inc.,CN=shop+serialNumber=7", false),
            ("CN=Shop+serialNumber=7,O=Example\\, Inc.,C=DE", false), ("CN=shop,O=Example\\, Inc.,C=DE", false),
            ("CN=shop+serialNumber=7,O=Example\\, Inc.", false), ("CN=shop+serialNumber=7", false),
            ("CN=shop,serialNumber=7,O=Example\\, Inc.,C=DE", false),
            ("OU=x,CN=shop+serialNumber=7,O=Example\\, Inc.,C=DE", false),
        ])
    func subject(_ registered: String, _ fits: Bool) throws {
        #expect(try Self.verified(try Self.example()).fits(try Self.subject(registered)) == fits)
    }

    @Test("A subject with an attribute that is no text is compared by its encoding; an empty one is nobody's")
    func otherValues() throws {
        let bits = try ASN1Any(erasing: ASN1BitString(bytes: [1]))
        let odd = Self.name([[Attribute(type: .RDNAttributeType.commonName, value: bits)]])
        let certificate = try Self.verified(odd)
        #expect(try certificate.fits(Self.subject("CN=#03020001")))
        #expect(try !certificate.fits(Self.subject("CN=#03020002")))
        #expect(try !Self.verified(DistinguishedName()).fits(Self.subject("CN=shop")))
    }

    @Test("RFC 8705 §2.1.2: one alternative name of the registered kind is enough, and it is the whole name")
    func alternativeNames() throws {
        let certificate = try Self.verified(
            try Self.example(),
            [
                .dnsName("shop.example.com"), .dnsName("*.example.org"),
                .uniformResourceIdentifier("https://shop.example/a"),
                .ipAddress(ASN1OctetString(contentBytes: [192, 0, 2, 1])), .rfc822Name("shop@example.com"),
            ])
        let address = try #require(CertificateAddress("192.0.2.1"))
        let fitting: [CertificateRule] = [
            .domain("shop.example.com"), .domain("SHOP.example.com"), .domain("*.example.org"),
            .uri("https://shop.example/a"), .address(address), .mail("shop@example.com"),
        ]
        for rule in fitting { #expect(certificate.fits(rule), "\(rule)") }
        let other = try #require(CertificateAddress("::ffff:192.0.2.1"))
        let unfitting: [CertificateRule] = [
            .domain("example.com"), .domain("a.shop.example.com"), .domain("shop.example.org"), .domain("shop"),
            .domain("https://shop.example/a"), .uri("shop.example.com"), .uri("https://shop.example/A"),
            .uri("https://shop.example/"), .address(other), .mail("Shop@example.com"), .mail("shop.example.com"),
        ]
        for rule in unfitting { #expect(!certificate.fits(rule), "\(rule)") }
        let plain = try Self.verified(try Self.example())
        for rule in fitting { #expect(!plain.fits(rule), "\(rule)") }
    }

    @Test("A name in a certificate that nobody has verified is worth nothing: anybody can sign it")
    func unverified() throws {
        let made = try TestCertificate(try Self.example(), [.dnsName("shop.example.com")])
        let (verified, unverified) = (
            ClientCertificate(made.bytes, isVerified: true), ClientCertificate(made.bytes, isVerified: false)
        )
        let rule = try Self.subject("CN=shop+serialNumber=7,O=Example\\, Inc.,C=DE")
        for rule in [rule, .domain("shop.example.com")] {
            #expect(verified.fits(rule) && !unverified.fits(rule))
        }
        #expect(unverified.fits(.thumbprints([unverified.thumbprint])))
    }

    @Test("RFC 8705 §2.2: a registered certificate is compared by its hash alone, also when its time is over")
    func registered() throws {
        let end = Date(timeIntervalSince1970: 1_100_000_000)
        let old = ClientCertificate(try TestCertificate(named: "shop", until: end).bytes, isVerified: false)
        let next = ClientCertificate(try TestCertificate(named: "shop").bytes, isVerified: false)
        #expect(old.fits(.thumbprints([old.thumbprint])) && !next.fits(.thumbprints([old.thumbprint])))
        #expect(next.fits(.thumbprints([old.thumbprint, next.thumbprint])))
        // RFC 8705 §3.1: the SHA-256 of the DER in base64url.
        let bytes = try TestCertificate(named: "shop").bytes
        #expect(
            ClientCertificate(bytes, isVerified: true).thumbprint
                == Base64URL.encode(Array(SHA256.hash(data: bytes))))
    }

    @Test("Bytes that are no certificate fit no name")
    func garbage() throws {
        let whole = try TestCertificate(try Self.example(), [.dnsName("shop.example.com")]).bytes
        let broken: [[UInt8]] = [[], [0x30], Array(whole.dropLast()), whole + [0]]
        for bytes in broken {
            let certificate = ClientCertificate(bytes, isVerified: true)
            #expect(!certificate.fits(.domain("shop.example.com")))
            #expect(try !certificate.fits(Self.subject("CN=shop")))
        }
    }
}
