import CountersignWire
import Encodings
import Testing

// Spec: RFC 4514 §2.1, §2.3, §2.4, §3; RFC 8705 §2.1.
@Suite("The name of a certificate's subject, as an operator writes it")
struct SubjectNameTests {
    private static func text(_ text: String) -> SubjectName.Attribute.Value { .text(Array(text.utf8)) }

    @Test("RFC 4514 §4: its parts are read in the order in which they are written")
    func order() throws {
        let name = try #require(SubjectName("UID=jsmith,DC=example,DC=net"))
        #expect(
            name.parts == [
                [.init(type: "0.9.2342.19200300.100.1.1", value: Self.text("jsmith"))],
                [.init(type: "0.9.2342.19200300.100.1.25", value: Self.text("example"))],
                [.init(type: "0.9.2342.19200300.100.1.25", value: Self.text("net"))],
            ])
        #expect(name.description == "UID=jsmith,DC=example,DC=net")
    }

    @Test(
        "RFC 4514 §2.3, §2.4, §3: one name has several spellings",
        arguments: [
            ("CN=Shop,O=Example", "cn=Shop, o=Example"), ("CN=Shop,C=DE", "2.5.4.3=Shop,2.5.4.6=DE"),
            ("CN=a+SN=b,C=DE", "SN=b+CN=a,C=DE"), ("CN=Lu\\C4\\8Di\\C4\\87", "CN=Lučić"),
            ("CN=James \\\"Jim\\\" Smith\\, III", "CN=James \\22Jim\\22 Smith\\2c III"), ("CN=\\ a\\ ", "CN=\\20a\\20"),
            ("CN=\\#1", "CN=\\231"), ("CN=a=b", "CN=a\\=b"), ("CN=Shop", "CN=#0C0453686F70"),
            ("CN=Shop", "2.5.4.3=#130453686f70"), ("E=a@example.com", "emailAddress=a@example.com"),
        ])
    func spellings(_ one: String, _ other: String) throws {
        let (one, other) = (try #require(SubjectName(one)), try #require(SubjectName(other)))
        #expect(one.parts == other.parts)
    }

    @Test(
        "What looks alike is another name",
        arguments: [
            ("CN=Shop,O=Example", "O=Example,CN=Shop"), ("CN=Shop", "CN=shop"), ("CN=a,CN=b", "CN=a+CN=b"),
            ("CN=a\\,O=b", "CN=a,O=b"), ("CN=a\\+O=b", "CN=a+O=b"), ("CN=a  b", "CN=a b"),
            // One letter, and two that look like it.
            ("CN=\\C3\\A9", "CN=e\\CC\\81"), ("CN=a", "CN=a,C=DE"), ("CN=a", "OU=a"), ("CN=a", "CN=a\\00"),
        ])
    func differences(_ one: String, _ other: String) throws {
        let (one, other) = (try #require(SubjectName(one)), try #require(SubjectName(other)))
        #expect(one.parts != other.parts)
    }

    @Test(
        "RFC 4514 §2.4, §3: what is no name is refused",
        arguments: [
            "", "Shop", "CN", "CN=", "=a", "CN=a,", ",CN=a", "CN=a+", "CN=a,,O=b", "XX=a", "CN=a;O=b", "CN=\"a\"",
            "CN=<a>", "CN= a", "CN=a ", "CN=a ,O=b", "CN=a\\", "CN=a\\z", "CN=a\\C", "CN=\\FF", "CN=#", "CN=#0",
            "CN=#zz",
            "CN=a+CN=a", "2=a", "2.=a", ".2=a", "02.5=a", "2..5=a", "C = DE, CN = a", "/C=DE/CN=a",
        ])
    func refused(_ text: String) {
        #expect(SubjectName(text) == nil)
    }

    @Test("A name may be long, and not longer")
    func size() {
        #expect(SubjectName("CN=" + String(repeating: "a", count: 1021)) != nil)
        #expect(SubjectName("CN=" + String(repeating: "a", count: 1022)) == nil)
    }

    @Test(
        "A network address is the same however it is written, and no other text is one",
        arguments: [
            ("192.0.2.1", 4), ("2001:db8::1", 16), ("::ffff:192.0.2.1", 16), ("192.0.2", 0), ("shop", 0), ("", 0),
        ])
    func addresses(_ text: String, _ size: Int) {
        #expect(CertificateAddress(text)?.bytes.count ?? 0 == size)
        #expect(CertificateAddress("2001:DB8:0::1")?.bytes == CertificateAddress("2001:db8::1")?.bytes)
        #expect(CertificateAddress("192.0.2.1\0") == nil)
    }
}

// Spec: RFC 9440 §2.1, §2.2.
@Suite("The field in which a proxy hands on a certificate")
struct ClientCertificateFieldFormTests {
    @Test("RFC 9440 §2.2: it is one byte sequence")
    func form() {
        #expect(ClientCertificateField.value(of: [1, 2, 3]) == ":AQID:")
        for text in [":AQID:", " :AQID: ", ":AQID:;a=1"] {
            #expect(ClientCertificateField.certificate(in: text) == [1, 2, 3], "\(text)")
        }
    }

    @Test(
        "RFC 9440 §2.1: anything else is none",
        arguments: [
            "", "AQID", "\"AQID\"", ":AQID", "AQID:", "::", ":AQID:, :AQID:", ":AQID: :AQID:", ":AQ ID:", "?1", "1",
            "-----BEGIN CERTIFICATE----- AQID -----END CERTIFICATE-----", "%2D%2D%2D%2D%2DBEGIN%20CERTIFICATE",
            "(:AQID:)",
            ":A_ID:",
        ])
    func refused(_ text: String) {
        #expect(ClientCertificateField.certificate(in: text) == nil)
    }
}
