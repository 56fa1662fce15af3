import CountersignCore
import Encodings

/// The number that an app which was written for Cotter gets and sends beside an authorization code.
///
/// It follows from the code, so that nothing has to be kept of it. It has 53 bits, which every language's numbers hold.
enum CotterChallenge {
    /// The number of a code.
    static func id(of code: Secret<String>) -> Int64 {
        let bits = SecretHash(of: code).bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return Int64(bits >> 11)
    }
}
