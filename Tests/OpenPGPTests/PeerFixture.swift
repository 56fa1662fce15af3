import Crypto
import Encodings
import OpenPGP

/// What gpg 2.2.40 made with a key that exists for these tests only.
///
/// The scalars are SHA-256 of `countersign test key: primary` and `countersign test key: encryption`. Both keys were
/// made at ``time``, imported into gpg as unprotected secret keys, and used with `--faked-system-time 1790000000!`:
/// `--armor --export`, `--clearsign` and `--compress-algo none --textmode --sign --encrypt`. The session key is what
/// `--show-session-key` printed, the fingerprints are those of `--with-subkey-fingerprint`.
enum PeerFixture {
    static let time: UnixSeconds = 1_790_000_000
    static let fingerprint = "794351BA00D79C08F21B15ACE50739DA214D91AE"
    static let subkeyFingerprint = "9913034783856EB8887A7BCB29FFE3CDFF0EF9DC"
    static let userID = "Test <test@example.com>"
    static let sessionKey = "0fc6cbe675c94a8fb85905177e6d898ecfd7a005319bca85e965e53b7a44f962"
    static let signedText = "From gpg\n- dashed\n-----five\n\nlast line"
    static let encryptedText = "one\ntwo\n"

    static func primary() throws -> SigningKeyPair {
        let scalar = Hex.decode("43859a3e7e64349c5708fa2e14cb13c21648f4fe86e24d5171a608b301363d98") ?? []
        return SigningKeyPair(try P256.Signing.PrivateKey(rawRepresentation: scalar), createdAt: time)
    }

    static func encryption() throws -> DecryptionKeyPair {
        let scalar = Hex.decode("ff966c4c0b2c52026f1f53035e859393b676dc586252964c69e260e37187a8d1") ?? []
        return DecryptionKeyPair(try P256.KeyAgreement.PrivateKey(rawRepresentation: scalar), createdAt: time)
    }

    static let certificate = """
        -----BEGIN PGP PUBLIC KEY BLOCK-----

        mFIEarE7gBMIKoZIzj0DAQcCAwTLwc1XnbRp3Vu+hMioyzCUiDwtM0FRYrZnQKqx
        6V297U8mrQEgTmVW07Iuw40sf29WSW0SaCGQTmBObtwyp+sWtBdUZXN0IDx0ZXN0
        QGV4YW1wbGUuY29tPoiEBBMTCAAsBQJqsTuAFiEEeUNRugDXnAjyGxWs5Qc52iFN
        ka4CGwMCCwkCFQgCFgACHgEACgkQ5Qc52iFNka6jzgEA9SzVyBwesToTiZ5isrqk
        mlc+R3c1Bs2N+ZR3ekZLMeQA/0nmth+WNT5Fe7vQZClU7ugUpladGRTzheYUSE+/
        DZbfuFYEarE7gBIIKoZIzj0DAQcCAwRf7FTKpQixqndW27iyJizskBiqOpFsUJ0m
        b3e14KE2UI4S+68AjCt7/9JQzSGDU5JJqHfscLoumcxOC63LTFV7AwEICYh4BBgT
        CAAgBQJqsTuAFiEEeUNRugDXnAjyGxWs5Qc52iFNka4CGwwACgkQ5Qc52iFNka4j
        NAEA++QQOHeWhhQIJhML/EKAByUGpCHM/YtAVVgMAgsG8L4A/RhGKYFGN6pWG/I5
        rVIcI20wbM80bhKeAz2q5QP6aPKN
        =SN8/
        -----END PGP PUBLIC KEY BLOCK-----
        """

    static let cleartext = """
        -----BEGIN PGP SIGNED MESSAGE-----
        Hash: SHA256

        - From gpg
        - - dashed
        - -----five

        last line
        -----BEGIN PGP SIGNATURE-----

        iHUEARMIAB0WIQR5Q1G6ANecCPIbFazlBznaIU2RrgUCarE7gAAKCRDlBznaIU2R
        rsobAP9pMuTs9kJF0tAueNmGdZ9TsD6SnRIjK17bE+BEsWZ9egEAqO1sH9A6evxg
        Q4nvZnnWpZOPauVXNkU87ER/YA+ZuKw=
        =qfii
        -----END PGP SIGNATURE-----
        """

    static let message =
        "847e0329ffe3cdff0ef9dc12020304865e66ed05ed4b77e7c6cc0895742c6d2e7a851ec8e53caec61425e0e68afefcf0"
        + "d229b31fba35c609f0c6d3688383f5d8a12a900478c92264cd23dab3d25efe30aea1d7ad6106659af89d48f84679c161"
        + "c104fb33a10972e0348209727de1de04a8c20df98e66fe8f5cf146cde52938c6d2c00101d9487bfee58503297c3cfc49"
        + "f14cd0a4dba4c38c850c77fae8d9f616f1e2546927a658b73ab44184d4eb62b6878bbe3cca90340964d355458b650c70"
        + "a1a56db594d45def2ef047b61fcc1ad42ec49177dd9ba7a2d6fe271413fc484aeae975d782a64c8b1959dd4ac2dcb534"
        + "90ae05a0696c57bef4f449c5f04c06a14ac90711a4c012e96501b67174efa2c8f6ae96251bf0a0618d49c41182e73b15"
        + "c9e4ca6cd19eef53949c2705bbddcb950d16bc9f498b17090c4d78f62b1ef0727ad27ad1"
}
