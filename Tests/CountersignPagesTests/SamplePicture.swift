import Foundation

/// A picture that looks like a QR code and is none.
enum SamplePicture {
    static let bytes = Array(
        Data(
            base64Encoded: """
                iVBORw0KGgoAAAANSUhEUgAAACEAAAAhAQAAAAB/n//CAAAAzUlEQVR42mNgTNZ0qGeoPcMQX8/gam0dCCR/Wl4Eku12QLL27J/7\
                9QyMi9sP1DP836hU/5+hISf2aj1DtnhFx3+Gnrfe/fUMfRfPqtQzhAn11dYziPM81PrPsC6rzvg/w0FH9YT/DJdz/+TWM+yudnaq\
                Z7CML6z9zxCQUZtWzyBf/efFf4bpKbdX1zOUZb2MqGeQfMUa+5/BbMIJu/8M/88e+vWfgfGk2yKgGx6V/gG6Z5qs+H8G1/c35wBJ\
                ZZN7/xlq/zx3Abrt/+V79QBfHliCLiCynAAAAABJRU5ErkJggg==
                """)!)
}
