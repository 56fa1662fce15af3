#if canImport(SwiftUI) && canImport(CoreImage)
    import CoreGraphics
    import CoreImage
    import Foundation
    import SwiftUI

    /// A QR code: black on white in every mode, because many scanners read no other.
    struct QRImage: View {
        let text: String
        let label: String

        var body: some View {
            if let image = Self.image(text) {
                Image(image, scale: 1, orientation: .up, label: Text(verbatim: label))
                    .interpolation(.none)
                    .resizable()
                    .scaledToFit()
                    .padding(24)
                    .background { Color.white }
                    .frame(maxWidth: 320)
            }
        }

        private static func image(_ text: String) -> CGImage? {
            let filter = CIFilter(
                name: "CIQRCodeGenerator", parameters: ["inputMessage": Data(text.utf8), "inputCorrectionLevel": "M"])
            guard let image = filter?.outputImage else { return nil }
            return CIContext().createCGImage(image, from: image.extent)
        }
    }
#endif
