import CountersignWire
import Crypto
import Encodings
import Foundation
import Testing

/// A receipt whose text was written by another hand, not by the renderer; the files end in a newline that is not part
/// of the text.
enum Golden: String, CaseIterable, Sendable {
    case approved, denied, reported, full, multibyte, custom

    /// The text that is signed.
    var text: String {
        get throws {
            let file = try #require(Bundle.module.url(forResource: "Golden/\(rawValue)", withExtension: "txt"))
            let bytes = Array(try Data(contentsOf: file))
            #expect(bytes.last == 0x0A)
            return try #require(String(strictUTF8: bytes.dropLast()))
        }
    }

    /// The receipt that the text says.
    var receipt: Receipt {
        get throws {
            let sample = try Sample()
            switch self {
            case .approved: return sample.receipt(of: try sample.question())
            case .denied: return sample.receipt(of: try sample.question("Sign in to ACME?"), .denied)
            case .reported:
                var question = try sample.question("Sign in to ACME?\n\nBrowser: Firefox")
                question.context = try DisplayLine("Firefox on Windows, 203.0.113.7, Berlin")
                return sample.receipt(of: question, .reported)
            case .full:
                return sample.receipt(of: try sample.fullQuestion(), .approved(.confirm, number: sample.number))
            case .custom:
                let name = try #require(AuthenticatorName("voice-print"))
                return Receipt(
                    of: try sample.fullQuestion(), user: sample.user, device: sample.device,
                    decision: .approved(.custom(name), number: sample.number),
                    customDataHash: Array(SHA256.hash(data: Array("foo".utf8))), answeredAt: Sample.answeredAt)
            case .multibyte:
                var question = try sample.question(Self.message, from: "Банк «Пример»")
                question.context = try DisplayLine("Café Zürich, 大阪")
                question.details = [
                    try Detail(label: "Empfänger", value: "Žofie Müller – Straße 5"),
                    try Detail(label: "金额", value: "￥1,250.00"),
                ]
                return sample.receipt(of: question)
            }
        }
    }

    private static let message = """
        Überweisung bestätigen: 1 250,00 € an Café Zürich?
        - ein Strich am Anfang
        -----BEGIN PGP SIGNATURE-----
        From hier an

        您确认向北京的张伟支付一千二百五十元人民币吗？\
        请仔细核对收款人姓名、账号和金额，确认无误后再批准；如果这不是您本人发起的操作，请选择拒绝并立即联系我们的客户服务中心，\
        切勿将屏幕上显示的数字告诉任何人。
        می\u{200C}خواهید پرداخت کنید؟
        क्\u{200D}ष 🙂 done
        decision: approved
          indented
        message:
        \(String(repeating: "Pay again and again ", count: 60))end.
        """
}
