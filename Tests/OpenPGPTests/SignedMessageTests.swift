@testable import OpenPGP
import TestSupport
import Testing

@Suite("RFC 9580 §10.3: signed messages that are not encrypted")
struct SignedMessageTests {
    private let holder: Holder

    init() async throws {
        holder = try await Holder()
    }

    private func sign(_ content: MessageContent) async throws -> [UInt8] {
        try await SignedMessage.sign(content, by: holder.primary, at: Holder.time)
    }

    @discardableResult
    private func open(_ message: [UInt8]) throws(OpenPGPError) -> VerifiedMessage {
        try SignedMessage.open(message, signers: holder.certificate.keys, now: Holder.time)
    }

    @Test("A message opens to what was signed, binary and text, also through armor")
    func roundTrip() async throws {
        let every = Array(UInt8.min...UInt8.max)
        for (content, expected) in [
            (MessageContent.binary(every), every), (.binary([]), []), (.text(""), []),
            (.text("one\ntwo\n\nfour é"), Array("one\ntwo\n\nfour é".utf8)),
        ] {
            let message = try await sign(content)
            let armored = Armor.encode(message, as: .message)
            for read in [message, try Armor.decode(armored, as: .message)] {
                let opened = try open(read)
                #expect(opened.content == expected)
                #expect(opened.signer.fingerprint == holder.certificate.fingerprint)
                #expect(opened.signature.createdAt == Holder.time)
            }
        }
    }

    @Test("A notation of the signer's arrives with the signature")
    func notations() async throws {
        let notation = Notation(name: "purpose@example.com", value: "release")
        let message = try await SignedMessage.sign(
            .text("a"), by: holder.primary, notations: [notation], at: Holder.time)
        #expect(try open(message).signature.subpackets.notations == [notation])
    }

    @Test("A change of any byte is refused, unless no signature covers it and it says the same")
    func everyByte() async throws {
        let message = try await sign(.text("two\nlines"))
        var accepted = 0
        for index in message.indices {
            for change in [0x01, 0x20, 0x80] as [UInt8] {
                var other = message
                other[index] ^= change
                guard let opened = try? open(other) else { continue }
                accepted += 1
                #expect(opened.content == Array("two\nlines".utf8), "byte \(index)")
            }
        }
        // Format (text or UTF-8), the length and date of the literal, and the unsigned key ID with its type.
        #expect(accepted <= (1 + 4 + 9) * 3)
    }

    @Test("What is not exactly one announced signature over one content is refused by name")
    func shapes() async throws {
        let box = try await MessageForge()
        let parts = try await box.parts()
        func refused(_ error: OpenPGPError, _ packets: [UInt8]..., location: SourceLocation = #_sourceLocation) {
            #expect(throws: error, sourceLocation: location) {
                try SignedMessage.open(
                    Array(packets.joined()), signers: box.sender.certificate.keys, now: Holder.time)
            }
        }
        let (announcement, literal, signature) = (parts.announcement, parts.literal, parts.signature)
        refused(.truncated)
        refused(.notSigned, literal)
        refused(.notSigned, literal, signature)
        refused(.notSigned, announcement, literal)
        refused(.truncated, announcement)
        refused(.severalSignatures, announcement, announcement, literal, signature, signature)
        refused(.severalSignatures, announcement, literal, signature, signature)
        refused(.trailingData, announcement, literal, signature, literal)
        refused(.unexpectedPacket(.signature), signature, literal)
        refused(.unexpectedPacket(.protectedData), Forge.packet(.protectedData, [1]))
        refused(.compressedData, Forge.packet(.compressedData, [0]))
        refused(.compressedData, announcement, Forge.packet(.compressedData, [0]), signature)
        var otherHash = announcement
        otherHash[4] = HashAlgorithm.sha512.rawValue
        refused(.malformedPacket(.onePassSignature), otherHash, literal, signature)
        refused(.tooLarge, [UInt8](repeating: 0, count: SignedMessage.maximumSize + 1))
    }

    @Test("A message by somebody else is refused")
    func signers() async throws {
        let message = try await sign(.binary([1]))
        let other = try await Holder()
        #expect(throws: OpenPGPError.unknownSigner) {
            try SignedMessage.open(message, signers: other.certificate.keys, now: Holder.time)
        }
    }
}
