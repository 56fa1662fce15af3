#if canImport(SwiftUI) && canImport(UIKit)
    import Countersign
    import CountersignApple
    import CountersignPrompts
    import CountersignWire
    import Foundation
    import Observation
    import UIKit

    /// What the app knows and does; the views show it.
    @MainActor
    @Observable
    final class AppModel {
        /// What the screen is about.
        enum Stage {
            /// The keys are being opened.
            case starting
            /// Nobody is enrolled on this phone.
            case welcome
            /// The questions of whoever is enrolled.
            case home(PendingListModel)
        }

        /// A prompt that stands over the screen.
        enum Prompt: Identifiable {
            case scanner(ScannerModel)
            case question(ApprovePromptModel)
            case furtherDevice(FurtherDeviceModel)
            case pin(PINPadModel)
            case devices(DevicesModel)
            case elsewhere(WaitingModel)

            var id: ObjectIdentifier {
                switch self {
                case .scanner(let model): ObjectIdentifier(model)
                case .question(let model): ObjectIdentifier(model)
                case .furtherDevice(let model): ObjectIdentifier(model)
                case .pin(let model): ObjectIdentifier(model)
                case .devices(let model): ObjectIdentifier(model)
                case .elsewhere(let model): ObjectIdentifier(model)
                }
            }
        }

        private(set) var stage = Stage.starting
        /// What was done last, or went wrong.
        private(set) var notice = ""
        /// The prompt that stands over the screen; nil for none.
        var prompt: Prompt? {
            didSet { if let prompt { last = prompt } }
        }
        @ObservationIgnored private var last: Prompt?
        @ObservationIgnored private var enrollment: Enrollment?
        @ObservationIgnored private let bank = Task { try await Bank.open() }

        /// Opens the keys, and takes questions as they arrive, for as long as the app runs.
        func start() async {
            await doing {
                let authenticator = try await bank.value.authenticator
                show(await authenticator.enrollments.first, of: authenticator)
                // The system hands out the push token at each launch.
                if enrollment != nil { Notifications.registerForPushes(UIApplication.shared) }
                await showWaiting()
                let source = SDKPending(authenticator)
                for await challenge in authenticator.challenges() {
                    if case .home(let list) = stage { list.take(await source.item(challenge)) }
                }
            }
        }

        // MARK: Enrolling

        /// Enrolls by an access token: the person signs in on the issuer's pages, in their browser.
        func enrollBySigningIn() async {
            await doing {
                let client = try await bank.value.client
                _ = try await client.authorize(in: browser, SignInRequest(maxAge: 600))
                try await enroll(with: .accessToken(try await client.accessToken()))
            }
        }

        private func enroll(with authority: EnrollmentAuthority) async throws {
            let authenticator = try await bank.value.authenticator
            let enrollment = try await authenticator.enroll(with: authority)
            show(enrollment, of: authenticator)
            // Somebody who has a device already approves this one there, by the number that this one shows.
            prompt = FurtherDeviceModel(enrollment).map { .furtherDevice($0) } ?? .pin(PINPadModel(SDKPIN(enrollment)))
            if try await Notifications.askPermission() { Notifications.registerForPushes(UIApplication.shared) }
        }

        /// Shows that this phone still waits for an earlier device of the person's, if it does.
        func showWaiting() async {
            await doing {
                guard let enrollment, let waiting = try await FurtherDeviceModel.waiting(enrollment) else { return }
                prompt = .furtherDevice(waiting)
            }
        }

        private func show(_ enrollment: Enrollment?, of authenticator: Authenticator) {
            self.enrollment = enrollment
            guard enrollment != nil else {
                stage = .welcome
                return
            }
            stage = .home(
                PendingListModel(
                    SDKPending(authenticator), account: Bank.name, biometricPrompt: Bank.biometricPrompt))
        }

        // MARK: Codes and links

        /// Scans a ticket, or the code of a question once somebody is enrolled.
        func scan() async {
            await doing {
                let authenticator = try await bank.value.authenticator
                let reader: any ScanReader = enrollment.map { SDKScanReader($0, of: authenticator) } ?? TicketReader()
                prompt = .scanner(ScannerModel(reader))
            }
        }

        /// Enrolls by the text of a ticket that was pasted, since a simulator has no camera.
        func enroll(byTicket text: String) async {
            await doing { try await enroll(with: .ticket(text)) }
        }

        /// The system opened the app with a link.
        func opened(_ link: URL) async {
            await doing {
                let authenticator = try await bank.value.authenticator
                guard authenticator.isChallengeLink(link), let enrollment = await authenticator.enrollments.first else {
                    return
                }
                let scanner = ScannerModel(SDKScanReader(enrollment, of: authenticator))
                prompt = .scanner(scanner)
                await scanner.opened(link)
            }
        }

        // MARK: Ways to answer, and devices

        /// Chooses a PIN, or changes it.
        func choosePIN() {
            if let enrollment { prompt = .pin(PINPadModel(SDKPIN(enrollment))) }
        }

        /// Registers a fingerprint or a face, by the PIN if there is one.
        func registerBiometric(pin: String) async {
            await doing {
                guard let enrollment else { return }
                try await enrollment.registerBiometric(
                    prompt: Bank.biometricPrompt, pin: pin.isEmpty ? nil : try PIN(pin))
                notice = "From now on your face or your finger approves as well."
            }
        }

        /// Shows this device and the person's others.
        func showDevices() {
            guard let enrollment else { return }
            prompt = .devices(
                DevicesModel(SDKDevices(enrollment, named: "iPhone"), biometricPrompt: Bank.biometricPrompt))
        }

        // MARK: Signing in

        /// Signs in on the issuer's pages, in the person's browser.
        func signIn() async {
            await doing {
                let signedIn = try await bank.value.client.authorize(in: browser)
                notice = "Signed in as \(signedIn.identity.subject)."
            }
        }

        /// Signs in here by approving on another device.
        func signInElsewhere(_ address: String) async {
            await doing {
                let hint = address.isEmpty ? nil : address
                prompt = .elsewhere(WaitingModel(SDKElsewhereSignIn(try await bank.value.client, loginHint: hint)))
            }
        }

        private var browser: WebAuthenticationBrowser {
            WebAuthenticationBrowser {
                let windows = UIApplication.shared.connectedScenes.compactMap { ($0 as? UIWindowScene)?.keyWindow }
                return windows.first ?? UIWindow()
            }
        }

        // MARK: Pushes

        /// The system has handed out a push token.
        func registered(_ token: Data) async {
            #if DEBUG
                let environment = APNsEnvironment.development
            #else
                let environment = APNsEnvironment.production
            #endif
            await doing {
                try await bank.value.authenticator.registerPush(
                    token: token, app: Bundle.main.bundleIdentifier ?? "", environment: environment)
            }
        }

        /// A push has woken the app in the background.
        func woken(by push: PushNotification?) async -> UIBackgroundFetchResult {
            guard let authenticator = try? await bank.value.authenticator else { return .failed }
            if let push {
                await Notifications.removeWithdrawn(by: push)
                _ = try? await authenticator.receive(push)
            }
            let fetch = await authenticator.fetchInBackground()
            try? await Notifications.showBadge(after: fetch)
            return fetch.result
        }

        /// The person has chosen something on a notification.
        func carryOut(_ choice: NotificationChoice) async {
            await doing {
                let authenticator = try await bank.value.authenticator
                guard case .review(let question) = try await authenticator.carryOut(choice) else { return }
                ask(SDKQuestion(question, at: await authenticator.millisecondsSince1970))
            }
        }

        // MARK: Prompts

        /// Does what comes after a prompt that has left the screen.
        func dismissed() async {
            await doing {
                switch last {
                case .scanner(let scanner):
                    if let claimed = scanner.claimed { ask(claimed) }
                    if let ticket = scanner.ticket { try await enroll(with: .ticket(ticket)) }
                case .furtherDevice(let device):
                    if device.state == .active { choosePIN() }
                case .devices(let devices):
                    if devices.state == .thisOneRemoved { show(nil, of: try await bank.value.authenticator) }
                case .elsewhere(let waiting):
                    guard waiting.state == .signedIn else { return }
                    guard let signedIn = try await bank.value.client.signedIn() else { return }
                    notice = "Signed in as \(signedIn.identity.subject)."
                case .question, .pin, nil: break
                }
            }
        }

        private func ask(_ question: any OpenQuestion) {
            prompt = .question(
                ApprovePromptModel(opened: question, account: Bank.name, biometricPrompt: Bank.biometricPrompt))
        }

        private func doing(_ act: () async throws -> Void) async {
            notice = ""
            do {
                try await act()
            } catch let error as CountersignError {
                notice = "\(error). \(error.suggestion)"
            } catch {
                notice = "\(error)"
            }
        }
    }

    /// Reads tickets, before anybody is enrolled who could claim a question.
    private struct TicketReader: ScanReader {
        func kind(of text: String) -> ScannedKind {
            EnrollmentInvitation(text) == nil ? .unknown : .ticket
        }

        func claim(_ text: String) async throws(CountersignError) -> any OpenQuestion { throw .notEnrolled }

        func claim(link: URL) async throws(CountersignError) -> any OpenQuestion { throw .notEnrolled }
    }
#endif
