#if !canImport(UIKit)
    package import CountersignPrompts
    import Observation
    package import UIKitStandIn

    /// A prompt that nobody sees: it runs its model as a view does, and whoever presents it drives the model.
    @MainActor
    package final class PromptController: UIViewController {
        package let model: any PromptModel
        private let look: Look
        private let closed: @MainActor () -> Void
        private var running: Task<Void, Never>?

        init(_ model: any PromptModel, _ look: Look, closed: @escaping @MainActor () -> Void) {
            self.model = model
            self.look = look
            self.closed = closed
            super.init()
        }

        /// What a view would show now.
        package var screen: PromptScreen { model.screen(look.texts) }

        /// Does what a view does when a button is tapped.
        package func perform(_ act: PromptAct) async {
            await model.perform(act)
            if act == .close { dismiss(animated: true) }
        }

        override package func viewDidAppear(_ animated: Bool) {
            running = Task { await model.run() }
            watch()
        }

        override package func viewDidDisappear(_ animated: Bool) {
            running?.cancel()
            model.leave()
            closed()
        }

        /// Closes itself as soon as the model says so.
        private func watch() {
            let isClosed = withObservationTracking {
                model.isClosed
            } onChange: {
                Task { @MainActor in self.watch() }
            }
            if isClosed { dismiss(animated: true) }
        }
    }
#endif
