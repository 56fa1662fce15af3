import CountersignCore
import CountersignWire
import Encodings
import Hummingbird
import RelyingPartyAPI

/// The replies of operations on what clients replace on their pages.
extension NativeAPI {
    func reply(_ outcome: SetLook.Outcome, of client: ClientID) throws -> Response {
        switch outcome {
        case .set(let look): return Response(json: look.view(of: client).json)
        case .notFound: throw ProblemDetails(.clientNotFound)
        case .logoRefused(let refusal): throw ProblemDetails(logo: refusal)
        case .noColour(let scheme):
            throw JSONShapeError.invalid(
                pointer: scheme.pointer, expected: "a number sign and six hexadecimal digits, such as #8a1538")
        case .hardToRead(let colour): throw ProblemDetails(colour: colour)
        }
    }

    func reply(_ outcome: ShowLook.Outcome, of client: ClientID) throws(ProblemDetails) -> Response {
        switch outcome {
        case .shown(let look):
            return Response(json: (look ?? Look(logo: nil, accent: nil)).view(of: client).json)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }

    func reply(_ outcome: RemoveLook.Outcome) throws(ProblemDetails) -> Response {
        switch outcome {
        case .removed: return Response(status: .noContent)
        case .notFound: throw ProblemDetails(.clientNotFound)
        }
    }
}

extension Look {
    fileprivate func view(of client: ClientID) -> LookView {
        LookView(
            client: client,
            logo: logo.map { logo in
                LookView.Logo(
                    sha256: logo.hash.hex, width: logo.width, height: logo.height,
                    path: SignInDoor.path(of: logo.hash))
            },
            accent: accent.map { LookColours(light: "\($0.light)", dark: $0.dark.map { "\($0)" }) })
    }
}

extension Accent.Scheme {
    /// The JSON pointer to its colour in a request.
    fileprivate var pointer: String { "/accent/\(rawValue)" }
}

extension ProblemDetails {
    /// The problem for a logo that cannot be used.
    fileprivate init(logo refusal: Logo.Refusal) {
        let (reason, detail): (String, String) =
            switch refusal {
            case .tooLarge(let bytes):
                ("too_large", "the file has \(bytes) bytes; at most \(Logo.maximumSize)")
            case .notPNG: ("not_png", "the file does not begin as a PNG does")
            case .tooManyPixels(let width, let height):
                (
                    "too_many_pixels",
                    "the picture has \(width) by \(height) pixels; at most \(Logo.maximumSide) by \(Logo.maximumSide)"
                )
            case .damaged(let fault, let offset): ("damaged", "the part at byte \(offset) \(fault.words)")
            }
        self.init(.logoRefused, detail: detail, members: ["pointer": "/logo", "reason": .string(reason)])
    }

    /// The problem for a colour that is hard to read.
    fileprivate init(colour: Accent.HardToRead) {
        let (contrast, panel) = (Self.ratio(colour.hundredths), "\(colour.scheme.panel)")
        let detail =
            "\(colour.scheme.pointer): \(contrast):1 on \(panel); at least \(Self.ratio(Accent.leastHundredths)):1"
        self.init(
            .contrastTooLow, detail: detail,
            members: [
                "pointer": .string(colour.scheme.pointer), "contrast": .double(Double(colour.hundredths) / 100),
                "panel": .string(panel),
            ])
    }

    /// Hundredths as people write them: 4.05, 4.5.
    private static func ratio(_ hundredths: Int) -> String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        return rest.isMultiple(of: 10) ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }
}

extension PNGFault {
    /// What is wrong, after "the part at byte 8".
    fileprivate var words: String {
        switch self {
        case .length: "has a wrong length"
        case .type: "is of no known type"
        case .checksum: "has a wrong checksum"
        case .order: "stands where it may not"
        case .header: "says of the picture what there is not"
        case .palette: "has not the colours that the picture needs"
        case .data: "has no compressed data"
        case .trailing: "follows the end"
        }
    }
}
