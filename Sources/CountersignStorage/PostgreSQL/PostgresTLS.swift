import Foundation

/// What libpq speaks TLS with: OpenSSL, which every process has one of.
enum PostgresTLS {
    /// Keeps OpenSSL from tearing itself down when the process ends.
    ///
    /// It would, first of all, while connections on other threads still use it, and they would crash: a command that did all it
    /// should would end as if it had not. The memory goes with the process in any case. Must be called before OpenSSL is used
    /// for the first time; libpq alone links it, so it is looked up by name. See OPENSSL_init_crypto(3),
    /// *OPENSSL_INIT_NO_ATEXIT*.
    static let stayUp: Void = {
        typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32
        let withoutEnd: UInt64 = 0x0008_0000
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "OPENSSL_init_crypto") else { return }
        _ = unsafeBitCast(symbol, to: Initialize.self)(withoutEnd, nil)
    }()
}
