/// A parser of the project, with everything that must hold for each of its inputs.
///
/// The fuzzer and the test that replays its corpus run the same properties.
struct Parser: Sendable, CustomStringConvertible {
    /// What became of an input.
    enum Verdict: Sendable {
        /// It was read, and what was read stood every comparison.
        case read
        /// It was refused, by the parser's own error.
        case refused
    }

    /// What must not be: the parser has a fault.
    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    /// Its name, which is also the folder of its corpus.
    let description: String
    /// How many bytes of memory each byte of an input may take while the property is checked, reading, writing and
    /// reading again.
    let memoryPerByte: Int
    /// Reads an input; throws a ``Violation`` when a property does not hold, and nothing else.
    let check: @Sendable ([UInt8]) async throws -> Verdict

    init(
        _ name: String, memoryPerByte: Int = 128, _ check: @escaping @Sendable ([UInt8]) async throws -> Verdict
    ) {
        description = name
        self.memoryPerByte = memoryPerByte
        self.check = check
    }
}

extension Parser {
    /// Every parser; a new one is one more line.
    static let all: [Parser] = [
        .packets, .armor, .cleartext, .certificate, .secretKeys, .detachedSignature, .signedMessage, .message,
        .messageContent,
        .jws, .jwsHeader, .jwks,
        .cbor, .passkeyRegistration, .passkeySignIn,
        .json, .wireBodies, .serverBodies, .pushEnvelope,
        .httpSignature, .receipt, .methodChange, .invitation, .challengeCode, .values,
        .form, .logo,
        .requestObject, .dpopProof, .jwtAnswer, .eventKey, .userCode,
    ]

    /// Throws a ``Violation`` unless the condition holds.
    static func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
        guard condition else { throw Violation(description: otherwise()) }
    }

    /// What reading gives that must not be refused, because it was read or written before.
    static func again<Value>(_ what: String, _ read: () throws -> Value?) throws -> Value {
        do {
            if let value = try read() { return value }
        } catch let violation as Violation {
            throw violation
        } catch {
            throw Violation(description: "\(what) is refused when it is read again: \(error)")
        }
        throw Violation(description: "\(what) is refused when it is read again")
    }
}
