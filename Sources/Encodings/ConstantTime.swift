/// Whether two sequences of bytes are equal, in a time that depends only on their lengths.
///
/// Use it to compare everything secret: tokens, numbers, hashes of either.
@inline(never)
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
