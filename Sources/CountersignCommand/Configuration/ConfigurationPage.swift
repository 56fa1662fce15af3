/// The page docs/reference/configuration.md.
enum ConfigurationPage {
    static var text: String {
        let rows = Settings.all.map(\.description).map { setting in
            let name = setting.isSecret ? "(not in the file)" : "`\(setting.key)`"
            let flag = setting.flag.map { "`\($0)`" } ?? "(none)"
            let columns = [name, "`\(setting.variable)`", flag, setting.form, setting.fallback, setting.summary]
            return "| \(columns.joined(separator: " | ")) |"
        }
        return """
            # Configuration

            This page is printed by `countersign config reference`; a test compares the two.

            Without any setting a server runs for this machine alone. A flag goes over the environment, the environment over
            the file, the file over the default. The file is what `--config` or `COUNTERSIGN_CONFIG` names, else
            `countersign.yaml` in the current folder if there is one. Names with a dot are indented in it:

            ```yaml
            issuer: https://login.example.com
            data: /var/lib/countersign
            tls:
              certificate: /etc/countersign/fullchain.pem
              key: /etc/countersign/key.pem
            proxies: [10.0.0.0/8]
            ```

            A key or a variable `COUNTERSIGN_…` that is not listed here is an error, and so is a value of another form:
            `countersign config check` names all of them at once, with their lines. Paths are relative to the folder the server is
            started in. Lists stand in brackets in the file, are separated by commas in the environment, and are flags given
            several times. Secrets stand in the environment or in files of their own, never in this file or on the command line.

            | in the file | in the environment | as a flag | value | default | meaning |
            |---|---|---|---|---|---|
            \(rows.joined(separator: "\n"))

            Other variables: `COUNTERSIGN_CONFIG` names the file; `COUNTERSIGN_URL`, `COUNTERSIGN_TOKEN`,
            `COUNTERSIGN_CALLBACK_PASSWORD` and `COUNTERSIGN_DEVICE_HOME` are read by the commands that call a server. A
            Kubernetes service called `countersign` makes variables of that beginning in its pods: set
            `enableServiceLinks: false` there.

            """
    }
}
