import Foundation

/// OpenSSL, with which libpq does TLS; a process has only one instance of it.
enum PostgresTLS {
    /// Prevents OpenSSL from cleaning up when the process ends.
    ///
    /// Its cleanup runs before everything else, while other threads may still use their connections. They would crash,
    /// and a successful command would end with an error. The operating system frees the memory anyway. This must run
    /// before the first use of OpenSSL. Only libpq links OpenSSL, so the function is looked up by name. See
    /// OPENSSL_init_crypto(3), *OPENSSL_INIT_NO_ATEXIT*.
    static let stayUp: Void = {
        typealias Initialize = @convention(c) (UInt64, UnsafeRawPointer?) -> Int32
        let withoutEnd: UInt64 = 0x0008_0000
        guard let program = dlopen(nil, RTLD_NOW), let symbol = dlsym(program, "OPENSSL_init_crypto") else { return }
        _ = unsafeBitCast(symbol, to: Initialize.self)(withoutEnd, nil)
    }()
}
