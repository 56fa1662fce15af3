import CountersignWire
import OpenPGP
import Testing

/// Values that tests begin with and change in one respect.
struct Sample {
    /// 2026-11-20T10:15:02.123Z.
    static let time = Timestamp(milliseconds: 1_795_169_702_123)
    static let answeredAt = Timestamp(seconds: 1_795_169_731)

    let issuer: Issuer
    let challenge = ChallengeID(at: Sample.time, random: [UInt8](repeating: 1, count: 10))
    let client = ClientID(at: Sample.time, random: [UInt8](repeating: 2, count: 10))
    let user = UserID(at: Sample.time, random: [UInt8](repeating: 3, count: 10))
    let enrollment = EnrollmentID(at: Sample.time, random: [UInt8](repeating: 4, count: 10))
    let nonce: Nonce
    let device: Fingerprint
    let number: EntryNumber
    let payment: TypeName

    init() throws {
        issuer = try #require(Issuer("https://login.example.com"))
        nonce = try #require(Nonce(bytes: Array(0..<32)))
        device = try #require(Fingerprint(bytes: Array(0x9A..<0x9A + 20)))
        number = try #require(EntryNumber("471932"))
        payment = try #require(TypeName("payment"))
    }

    /// The beginning of a change of methods.
    var changeHeader: ChangeHeader { ChangeHeader(issuer: issuer, enrollment: enrollment, nonce: nonce) }

    /// A question with only what every question has.
    func question(_ message: String = "Pay EUR 1,250.00 to ACME GmbH?", from client: String = "Acme Bank") throws
        -> Question
    {
        Question(
            challenge: challenge, nonce: nonce, issuer: issuer, client: self.client,
            clientName: try ClientName(client), type: .confirm, context: nil, askedAt: Self.time,
            details: [], signingData: nil, message: try DisplayMessage(message))
    }

    /// A question with everything a question can have.
    func fullQuestion() throws -> Question {
        var question = try question()
        question.type = payment
        question.context = try DisplayLine("Firefox on Windows, 203.0.113.7, Berlin")
        question.details = [
            try Detail(label: "Amount", value: "EUR 1,250.00"),
            try Detail(label: "Payee", value: "ACME GmbH, DE89 3704 0044 0532 0130 00"),
            try Detail(label: "Payee", value: "a = b"),
        ]
        question.signingData = "{\"iban\":\"DE89370400440532013000\"}\n"
        return question
    }

    /// The receipt of an answer.
    func receipt(of question: Question, _ decision: Decision = .approved(.confirm, number: nil)) -> Receipt {
        Receipt(of: question, user: user, device: device, decision: decision, answeredAt: Self.answeredAt)
    }
}
