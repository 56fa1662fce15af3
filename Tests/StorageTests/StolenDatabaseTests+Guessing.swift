import CountersignStorage
import CountersignWire
import Crypto
import Encodings
import StorageTestSupport
import TestSupport
import Testing

@testable import CountersignCore

/// What has so little to guess that a computer goes through all of it.
///
/// Without the master key no guess can be tested: nothing that the thief could make of the right one stands in the copy.
/// With it the thief goes through all guesses. PINs, of which one half is on the device, are in `SDKTests/PINGuessTests`.
extension StolenDatabaseTests {
    /// The hash that the copy has of the number of a question.
    private func numberHash(of challenge: ChallengeID, _ theft: Theft) throws -> [UInt8] {
        let row = theft.copy.rows["challenges"]?.first { $0["id"] == .text("\(challenge)") }
        guard case .blob(let hash) = row?["number_hash"] else { throw World.Broken("number") }
        return hash
    }

    /// Everything that anybody could make of a guess without a key.
    private func plainHashes(of guess: String, _ theft: Theft) -> [[UInt8]] {
        let ids = theft.copy.texts("challenges", "id") + theft.copy.texts("clients", "id")
        let texts = [guess] + ids.flatMap { ["\($0)\(guess)", "\($0) \(guess)", "number \($0) \(guess)"] }
        return texts.map { Array(SHA256.hash(data: Array($0.utf8))) }
    }

    @Test(
        "Guessing the number of an open question, or a code sent by text, fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func numbers(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let open = [
            (theft.asked.challenge.id, try #require(theft.asked.number)),
            (theft.texted.challenge.id, theft.textCode),
            (theft.addition.challenge, theft.addition.number),
        ]
        let (guessed, right) = (theft.guessedHashers, try await theft.opened().ports.hasher)
        #expect(guessed.count > 100)
        for (id, number) in open {
            let hash = try numberHash(of: id, theft)
            #expect(!guessed.contains { $0.hash(of: number, challenge: id).bytes == hash })
            #expect(!plainHashes(of: number.digits, theft).contains(hash))
            #expect(right.hash(of: number, challenge: id).bytes == hash)
            let other = EntryNumber(value: (try #require(UInt32(number.digits)) + 1) % 1_000_000)
            #expect(right.hash(of: other, challenge: id).bytes != hash)
        }
        // What a new device shows is made of its question and of the key: there is not even anything to guess.
        #expect(right.approvalNumber(of: theft.addition.challenge) == theft.addition.number)
        // Of a question that has ended nothing is left to guess.
        let ended = (theft.copy.rows["challenges"] ?? []).filter { $0["state"] != .text("pending") }
        #expect(!ended.isEmpty && ended.allSatisfy { $0["number_hash"] == .null })
    }

    @Test("With the master key a million guesses find the number of an open question, and no other")
    func everyNumber() async throws {
        let theft = try await Theft(by: StolenCopy.Way.allCases[0])
        let id = theft.asked.challenge.id
        let hash = try numberHash(of: id, theft)
        let keyed = HMAC<SHA256>(key: try await theft.opened().hashKey)
        var text = Array("number \(id) 000000".utf8)
        var found: [EntryNumber?] = []
        for value in 0..<1_000_000 {
            // There are few threads that all tests share.
            if value % 10_000 == 0 { await Task.yield() }
            var rest = value
            for place in 1...6 {
                text[text.count - place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            }
            var code = keyed
            code.update(data: text)
            guard code.finalize().withUnsafeBytes({ $0.elementsEqual(hash) }) else { continue }
            found.append(EntryNumber(String(decoding: text.suffix(6), as: UTF8.self)))
        }
        #expect(found == [theft.asked.number])
    }

    @Test(
        "Guessing telephone numbers, browsers and names of deleted users fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func people(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let client = theft.shop.client.id
        let phone = PersonalAddress.phone(try #require(PhoneNumber(Theft.phone)))
        let browser = try #require(BrowserID(Theft.browser))
        let name = try ExternalID(Theft.formerName)
        let counted = theft.copy.texts("attempts", "key")
        let browsers = theft.copy.blobs("known_browsers", "browser")
        let left = theft.copy.texts("left_behind", "subject")
        /// Which of the right guesses a hasher tells from others.
        func told(by hasher: KeyedHasher) -> [Bool] {
            [
                counted.contains("text code \(hasher.name(of: phone))"),
                browsers.contains(hasher.hash(of: browser, client: client).bytes),
                left.contains(hasher.name(of: name, client: client)),
            ]
        }
        #expect(!theft.guessedHashers.contains { told(by: $0).contains(true) })
        for guess in [Theft.phone, Theft.browser, Theft.formerName] {
            let hashes = plainHashes(of: guess, theft)
            #expect(theft.copy.everything.isDisjoint(with: hashes + hashes.map { Array(Hex.encode($0).utf8) }))
        }
        #expect(told(by: try await theft.opened().ports.hasher) == [true, true, true])
    }

    @Test(
        "Guessing what a request said whose reply is kept fails without the master key, and not with it",
        arguments: StolenCopy.Way.allCases)
    func requests(_ way: StolenCopy.Way) async throws {
        let theft = try await Theft(by: way)
        let digests = theft.copy.blobs("replies", "request_digest")
        #expect(digests.count >= 4)
        let opened = try await theft.opened()
        let guessed = theft.guessedHashers
        for body in [Theft.clientRequest, Theft.textRequest] {
            // All of it but a telephone number or a password is known, or soon guessed.
            #expect(!digests.contains(Array(SHA256.hash(data: body))))
            #expect(!guessed.contains { digests.contains($0.digest(ofRequest: body).bytes) })
            #expect(digests.contains(opened.ports.hasher.digest(ofRequest: body).bytes))
        }
    }
}
