import Encodings
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// A reply that holds JSON.
    init(json: JSONValue, status: Int = 200) {
        self.init(bytes: json.encoded, type: "application/json", status: status)
    }

    /// A reply that holds a document which is the same for everybody; its bytes are not copied.
    init(document: ByteBuffer, type: String) {
        self.init(status: .ok, headers: [.contentType: type], body: ResponseBody(byteBuffer: document))
    }

    /// A reply that holds bytes of a media type.
    init(bytes: [UInt8], type: String, status: Int = 200) {
        self.init(
            status: .init(code: status), headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
