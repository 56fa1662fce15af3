import Countersign
import CountersignPrompts
import Foundation
import Synchronization

/// A clock that goes on only when somebody sleeps by it, or a test sets it.
final class HandClock: PromptClock {
    private let time = Mutex(Duration.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(_ duration: Duration) { time.withLock { $0 += duration } }

    func sleep(for duration: Duration) async throws {
        try Task.checkCancellation()
        advance(duration)
        await Task.yield()
    }
}

/// Says what each call comes to, one after the other, and writes down that it was called.
final class Script: Sendable {
    private struct State {
        var errors: [CountersignError?] = []
        var calls: [String] = []
        var isHeld = false
    }

    private let state = Mutex(State())

    var calls: [String] { state.withLock { $0.calls } }

    /// What the next calls come to: an error, or nil for success; calls beyond them succeed.
    func next(_ errors: CountersignError?...) { state.withLock { $0.errors += errors } }

    /// Holds calls until they are let go.
    func hold() { state.withLock { $0.isHeld = true } }

    func letGo() { state.withLock { $0.isHeld = false } }

    func call(_ name: String) async throws(CountersignError) {
        let error = state.withLock { state -> CountersignError? in
            state.calls.append(name)
            return state.errors.isEmpty ? nil : state.errors.removeFirst()
        }
        while state.withLock({ $0.isHeld }) {
            guard !Task.isCancelled else { throw .cancelled }
            await Task.yield()
        }
        if let error { throw error }
    }

    /// Waits until so many calls have come.
    func reached(_ count: Int) async {
        while calls.count < count { await Task.yield() }
    }
}

extension PromptQuestion {
    /// A payment at the shop.
    static func payment(
        _ id: String = "chl_1", number: Bool = false, methods: [PromptMethod] = [.confirmation],
        attemptsLeft: Int? = nil, origin: Origin = .asked, seconds: Int = 120
    ) -> PromptQuestion {
        PromptQuestion(
            id: id, client: "ACME Shop", message: "Pay EUR 1,250.00?",
            details: [
                PromptFact(label: "Amount", value: "EUR 1,250.00"), PromptFact(label: "Payee", value: "ACME GmbH"),
            ], context: "Firefox on Windows, 203.0.113.7, Berlin, Germany", signingData: "order 4711",
            signedLines: ["Countersign receipt v1", "message:", "Pay EUR 1,250.00?"], askedAt: 1_795_428_900_000,
            timeLeft: .seconds(seconds), numberLength: number ? 6 : nil, methods: methods, attemptsLeft: attemptsLeft,
            origin: origin)
    }
}

struct FakeQuestion: OpenQuestion {
    let question: PromptQuestion
    let script: Script
    var approval = PromptApproval()

    func approve(with proof: Proof, number: String?) async throws(CountersignError) -> PromptApproval {
        try await script.call("approve \(proof.name)\(number.map { " " + $0 } ?? "")")
        return approval
    }

    func deny() async throws(CountersignError) { try await script.call("deny") }

    func report() async throws(CountersignError) { try await script.call("report") }
}

extension Proof {
    var name: String {
        switch self {
        case .confirmation: "confirmation"
        case .pin: "pin"
        case .biometric(let prompt): "biometric (\(prompt))"
        case .custom(let name, let data): "\(name) \(data)"
        }
    }
}

struct FakeSource: QuestionSource {
    let question: FakeQuestion
    let script: Script

    func open() async throws(CountersignError) -> any OpenQuestion {
        try await script.call("open")
        return question
    }
}

struct FakeSignIn: ElsewhereSignIn {
    let script: Script
    var shown: WaitingNumber?

    func signIn(
        showing show: @escaping @Sendable (WaitingNumber) async -> Void
    ) async throws(CountersignError) {
        if let shown { await show(shown) }
        try await script.call("sign in")
    }
}

extension WaitingNumber {
    static func example(number: String? = "471932", seconds: Int = 60) -> WaitingNumber {
        WaitingNumber(
            number: number, userCode: "WDJB-MJHT", page: URL(string: "https://login.example.com/device")!,
            timeLeft: .seconds(seconds))
    }
}

struct FakeKeeper: PINKeeper {
    let script: Script
    var kind = PINStatus.Kind.none

    func status() async throws(CountersignError) -> PINStatus {
        try await script.call("status")
        return PINStatus(kind: kind)
    }

    func set(_ pin: PIN) async throws(CountersignError) { try await script.call("set") }

    func change(from old: PIN, to new: PIN) async throws(CountersignError) { try await script.call("change") }
}

struct FakeReader: ScanReader {
    let script: Script

    func kind(of text: String) -> ScannedKind {
        text.hasPrefix("ticket") ? .ticket : text.hasPrefix("code") ? .code : .unknown
    }

    func claim(_ text: String) async throws(CountersignError) -> any OpenQuestion {
        try await script.call(text)
        return FakeQuestion(question: .payment(origin: .code), script: script)
    }

    func claim(link: URL) async throws(CountersignError) -> any OpenQuestion {
        try await script.call("link")
        return FakeQuestion(question: .payment(origin: .link), script: script)
    }
}

struct FakeCodes: CodeSource {
    let script: Script

    func makeCode() async throws(CountersignError) -> ShownCode {
        try await script.call("code")
        return ShownCode(text: "code \(script.calls.count)", timeLeft: .seconds(60))
    }
}

struct FakeWaitingDevice: WaitingDevice {
    let script: Script
    /// After so many calls it is active.
    var activeAfter = Int.max

    func waitingUntil() async throws(CountersignError) -> Int64? {
        try await script.call("look")
        return script.calls.count > activeAfter ? nil : 1_795_500_000_000
    }

    func undo() async throws(CountersignError) { try await script.call("undo") }
}

struct FakeRegistrar: CustomRegistrar {
    let script: Script
    var isRegistered = false
    var needsPIN = false
    let name = "voice"

    func status() async throws(CountersignError) -> (isRegistered: Bool, needsPIN: Bool) {
        try await script.call("status")
        return (isRegistered, needsPIN)
    }

    func register(_ data: String, pin: PIN?) async throws(CountersignError) -> String? {
        try await script.call("register \(data) \(pin == nil ? "" : "with PIN")")
        return "welcome"
    }

    func deregister(pin: PIN?) async throws(CountersignError) {
        try await script.call("deregister \(pin == nil ? "" : "with PIN")")
    }
}

/// A list that a test changes.
final class FakePending: PendingSource {
    let script = Script()
    private let items: Mutex<[PendingItem]>

    init(_ items: [PendingItem]) {
        self.items = Mutex(items)
    }

    func set(_ items: [PendingItem]) { self.items.withLock { $0 = items } }

    func pending() async throws(CountersignError) -> [PendingItem] {
        let now = items.withLock { $0 }
        try await script.call("list")
        return now
    }
}

extension PendingItem {
    static func example(
        _ id: String, _ script: Script, seconds: Int = 120, account: String? = nil, isOfOneOfSeveral: Bool = false
    ) -> PendingItem {
        let question = PromptQuestion.payment(id, seconds: seconds)
        return PendingItem(
            row: PendingRow(
                id: id, client: question.client, message: question.message, askedAt: question.askedAt,
                timeLeft: question.timeLeft),
            source: FakeSource(question: FakeQuestion(question: question, script: script), script: Script()),
            account: account, isOfOneOfSeveral: isOfOneOfSeveral)
    }
}

struct FakeDirectory: DeviceDirectory {
    let script: Script
    var list = DeviceList(rows: [.this, .other()])

    func devices() async throws(CountersignError) -> DeviceList {
        try await script.call("list")
        return list
    }

    func suspend(_ id: String, with proof: Proof?) async throws(CountersignError) {
        try await script.call("suspend \(id) \(proof?.name ?? "")")
    }

    func resume(_ id: String, with proof: Proof?) async throws(CountersignError) {
        try await script.call("resume \(id) \(proof?.name ?? "")")
    }

    func remove(_ id: String, with proof: Proof?) async throws(CountersignError) {
        try await script.call("remove \(id) \(proof?.name ?? "")")
    }

    func undo(_ method: String, of id: String) async throws(CountersignError) {
        try await script.call("undo \(method) of \(id)")
    }
}

extension DeviceRow {
    static let this = DeviceRow(id: "this", name: "iPhone 15", isThisOne: true, methods: [.pin])

    static func other(
        _ standing: Standing = .active, methods: [PromptMethod] = [], waiting: [WaitingMethod] = []
    ) -> DeviceRow {
        DeviceRow(
            id: "other", name: "Pixel 9", standing: standing, enrolledAt: 1_795_428_900_000, methods: methods,
            waitingMethods: waiting)
    }
}
