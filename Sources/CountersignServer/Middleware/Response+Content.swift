import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    init(json: JSONValue, status: Int = 200) {
        self.init(bytes: json.encoded, type: "application/json", status: status)
    }

    /// A reply with a document that is the same for all callers; its bytes are not copied.
    init(document: ByteBuffer, type: String) {
        self.init(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: document))
    }

    init(bytes: [UInt8], type: String, status: Int = 200) {
        self.init(
            status: .init(code: status), headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
