import Countersign
public import Observation

/// The list of questions that wait for this device, and the one that is open.
///
/// One question is open at a time. It stays on the screen after it was answered, until the person closes it: no other
/// takes its place under their finger.
@MainActor
@Observable
public final class PendingListModel {
    /// The app was not running if a second took longer than this: what was answered elsewhere meanwhile is told to
    /// nobody, so the list is fetched anew.
    nonisolated static let absence = Duration.seconds(10)

    /// What the person sees.
    public enum State: Hashable, Sendable {
        /// The list is fetched for the first time.
        case loading
        /// Nothing waits.
        case empty
        /// The questions that wait, newest first.
        case rows([PendingRow])
        /// The list could not be fetched, and this can be tried again; the rows are those of the last time.
        case unreachable(PromptFailure, [PendingRow])
        /// This device can be asked nothing, for this reason.
        case failed(PromptFailure)
    }

    private struct Entry {
        let item: PendingItem
        let countdown: Countdown
    }

    /// What the person sees.
    public private(set) var state = State.loading
    /// The question that is open; nil for none.
    public private(set) var current: ApprovePromptModel?

    private let source: any PendingSource
    private let clock: any PromptClock
    private let account: String?
    private let biometricPrompt: String
    @ObservationIgnored private var entries: [Entry] = []
    @ObservationIgnored private var isLoading = false
    /// What has arrived since the list was last asked for.
    @ObservationIgnored private var arrived: Set<String> = []
    @ObservationIgnored private var currentID: String?
    /// The prompts that were closed while their answers were on the way: another prompt could say something else.
    @ObservationIgnored private var unfinished: [String: ApprovePromptModel] = [:]
    @ObservationIgnored private var answered: Set<String> = []

    /// The list.
    ///
    /// - Parameters:
    ///   - source: fetches the list.
    ///   - account: the name of the account, as the app knows it; it is shown where no item can be about another one.
    ///   - biometricPrompt: the text of the system's prompt for a fingerprint or a face.
    ///   - clock: counts down.
    public init(
        _ source: any PendingSource, account: String? = nil, biometricPrompt: String,
        clock: any PromptClock = SystemPromptClock()
    ) {
        self.source = source
        self.account = account
        self.biometricPrompt = biometricPrompt
        self.clock = clock
    }

    /// Fetches the list, also after the system has stopped the app for a while, and takes from it what has expired, until
    /// the task is cancelled.
    public func run() async {
        await refresh()
        while !Task.isCancelled {
            let before = clock.now
            do { try await clock.sleep(for: .seconds(1)) } catch { return }
            tick()
            if clock.now - before > Self.absence { await refresh() }
        }
    }

    /// Fetches the list.
    public func refresh() async {
        guard !isLoading else { return }
        isLoading = true
        defer { isLoading = false }
        arrived = []
        do throws(CountersignError) {
            let items = try await source.pending()
            let listed = Set(items.map(\.row.id))
            // The list may have been made before they were asked.
            let late = entries.filter { arrived.subtracting(listed).contains($0.item.row.id) }
            entries = late + items.flatMap { entry(for: $0) }
            state = list
        } catch {
            let failure = PromptFailure(error)
            if !failure.retryHelps { entries = [] }
            state = failure.retryHelps ? .unreachable(failure, rows) : .failed(failure)
        }
    }

    /// Takes a question that has just arrived, by a push for example.
    public func take(_ item: PendingItem) {
        arrived.insert(item.row.id)
        entries.removeAll { $0.item.row.id == item.row.id }
        entries.insert(contentsOf: entry(for: item), at: 0)
        show()
    }

    /// Does what a button of the screen says.
    public func perform(_ act: PromptAct) async {
        switch act {
        case .open(let id): open(id)
        case .retry: await refresh()
        case .close: close()
        default: break
        }
    }

    /// Opens a question; does nothing while another one is open.
    public func open(_ id: String) {
        guard current == nil, let entry = entries.first(where: { $0.item.row.id == id }) else { return }
        current =
            unfinished[id]
            ?? ApprovePromptModel(
                entry.item.source, account: entry.item.account ?? (entry.item.isOfOneOfSeveral ? nil : account),
                biometricPrompt: biometricPrompt, clock: clock)
        currentID = id
    }

    /// Closes the question that is open: what is answered, or over for every device, is taken from the list.
    public func close() {
        if let current, let currentID {
            current.forgetTyped()
            unfinished[currentID] = current.state.isUnderWay ? current : nil
            if current.state.isSettled {
                answered.insert(currentID)
                entries.removeAll { $0.item.row.id == currentID }
                show()
            }
        }
        current = nil
        currentID = nil
    }

    /// What the screen shows now.
    public func screen(_ texts: PromptTexts) -> PromptScreen {
        state.screen(texts)
    }

    /// Looks at the clock.
    func tick() {
        guard entries.contains(where: { $0.countdown.left(at: clock.now) == .zero }) else { return }
        entries.removeAll { $0.countdown.left(at: clock.now) == .zero }
        show()
    }

    private var rows: [PendingRow] { entries.map(\.item.row) }

    /// The entry of an item; none if the person has answered it: a list that was on its way still has it.
    private func entry(for item: PendingItem) -> [Entry] {
        guard !answered.contains(item.row.id) else { return [] }
        return [Entry(item: item, countdown: Countdown(item.row.timeLeft, from: clock.now))]
    }

    private var list: State { entries.isEmpty ? .empty : .rows(rows) }

    /// Shows what has changed; that the list could not be fetched is said until it was.
    private func show() {
        if case .unreachable(let failure, _) = state { state = .unreachable(failure, rows) } else { state = list }
    }
}

extension PendingListModel.State {
    /// The screen of a state.
    func screen(_ texts: PromptTexts) -> PromptScreen {
        switch self {
        case .loading: return texts.screen(.loadingHeading)
        case .empty: return texts.screen(.pendingEmptyHeading, .pendingEmptyText)
        case .rows(let rows):
            var screen = texts.screen(.pendingHeading)
            screen.buttons = rows.map { texts.button(for: $0) }
            return screen
        case .unreachable(let failure, let rows):
            var screen = texts.screen(.pendingHeading, failure.word, values: failure.values)
            screen.buttons = rows.map { texts.button(for: $0) } + [texts.button(.retry, .tryAgain)]
            return screen
        case .failed(let failure): return texts.screen(.deviceCannotHeading, failure.word, values: failure.values)
        }
    }
}

extension PromptTexts {
    /// The row of a question, which is a button as a whole.
    fileprivate func button(for row: PendingRow) -> PromptButton {
        PromptButton(
            .open(row.id),
            text(.pendingRow, ["client": row.client, "message": row.message, "moment": moment(row.askedAt)]))
    }
}
