/// What a custom authenticator is asked for.
public struct CustomRequest: Hashable, Sendable {
    /// What it is asked for.
    public enum Purpose: Hashable, Sendable {
        /// To approve a question.
        case approve
        /// To be registered.
        case register
    }

    /// The authenticator's name.
    public let name: String
    /// What it is asked for.
    public let purpose: Purpose
    /// What it has said to the app after the try before; nil for nothing, and before the first one.
    public let payload: String?
    /// How many tries are left; nil if they are not limited, and before the first one.
    public let attemptsLeft: Int?

    /// A request of these parts.
    public init(name: String, purpose: Purpose, payload: String? = nil, attemptsLeft: Int? = nil) {
        self.name = name
        self.purpose = purpose
        self.payload = payload
        self.attemptsLeft = attemptsLeft
    }

    init(_ name: String, _ purpose: Purpose, after problem: ApprovePromptModel.CustomProblem?) {
        guard case .again(let attemptsLeft, let payload) = problem else {
            self.init(name: name, purpose: purpose)
            return
        }
        self.init(name: name, purpose: purpose, payload: payload, attemptsLeft: attemptsLeft)
    }
}

/// What a view of the app's own has of a custom authenticator that is asked, in place of a field that hides what is
/// typed.
@MainActor
public struct CustomEntry {
    private static let texts = PromptTexts(.english)

    /// What the authenticator is asked for.
    public let request: CustomRequest
    private let model: any PromptModel
    private let submit: @MainActor () -> Void

    /// The request of a model's screen; nil if none is on it.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - submit: has the model do what ``PromptAct/submit`` says. It shall not end with the view, which is gone as soon
    ///     as the authenticator judges.
    public init?(_ model: any PromptModel, submit: @escaping @MainActor () -> Void) {
        guard let request = model.screen(Self.texts).custom else { return nil }
        self.request = request
        self.model = model
        self.submit = submit
    }

    /// Gives what the authenticator judges, in a format of its own, of 16,384 bytes of UTF-8 at most.
    ///
    /// It does nothing without data, and once something else is asked, such as after the person has gone back.
    public func give(_ data: String) {
        guard !data.isEmpty, model.screen(Self.texts).custom == request else { return }
        model.type(data)
        submit()
    }
}
