#if canImport(SwiftUI) && canImport(AVFoundation)
    import AVFoundation
    import Dispatch
    import Foundation
    import SwiftUI

    #if canImport(UIKit)
        import UIKit
    #elseif canImport(AppKit)
        import AppKit
    #endif

    /// What the camera sees, and the texts of the QR codes in it.
    struct QRScanner: View {
        let read: @MainActor (String) -> Void
        let refused: @MainActor () -> Void
        @State private var session: AVCaptureSession? = nil

        var body: some View {
            CameraPreview(session: session)
                .frame(maxWidth: .infinity, minHeight: 280)
                .accessibilityHidden(true)
                .task {
                    let (texts, continuation) = AsyncStream.makeStream(
                        of: String.self, bufferingPolicy: .bufferingNewest(1))
                    let reader = QRReader(texts: continuation)
                    guard let session = await Self.start(reader) else {
                        refused()
                        return
                    }
                    self.session = session
                    for await text in texts { read(text) }
                    session.stopRunning()
                    // The camera's output does not keep it.
                    withExtendedLifetime(reader) {}
                }
        }

        /// A session that looks for codes, or nil if there is no camera for it.
        ///
        /// It starts before it is handed over, because starting one takes a moment, for which the main thread cannot wait.
        @concurrent private static func start(_ reader: QRReader) async -> sending AVCaptureSession? {
            guard await AVCaptureDevice.requestAccess(for: .video), let camera = AVCaptureDevice.default(for: .video),
                let input = try? AVCaptureDeviceInput(device: camera)
            else { return nil }
            let session = AVCaptureSession()
            let output = AVCaptureMetadataOutput()
            guard session.canAddInput(input), session.canAddOutput(output) else { return nil }
            session.addInput(input)
            session.addOutput(output)
            guard output.availableMetadataObjectTypes.contains(.qr) else { return nil }
            output.metadataObjectTypes = [.qr]
            output.setMetadataObjectsDelegate(reader, queue: .main)
            session.startRunning()
            return session
        }
    }

    /// Hands on the texts of the codes that the camera finds.
    private final class QRReader: NSObject, AVCaptureMetadataOutputObjectsDelegate, Sendable {
        private let texts: AsyncStream<String>.Continuation

        init(texts: AsyncStream<String>.Continuation) {
            self.texts = texts
        }

        func metadataOutput(
            _ output: AVCaptureMetadataOutput, didOutput metadataObjects: [AVMetadataObject],
            from connection: AVCaptureConnection
        ) {
            for case let code as AVMetadataMachineReadableCodeObject in metadataObjects {
                if let text = code.stringValue { texts.yield(text) }
            }
        }
    }

    #if canImport(UIKit)
        /// What the camera sees.
        private struct CameraPreview: UIViewRepresentable {
            let session: AVCaptureSession?

            final class Preview: UIView {
                override class var layerClass: AnyClass { AVCaptureVideoPreviewLayer.self }

                func show(_ session: AVCaptureSession?) {
                    guard let layer = layer as? AVCaptureVideoPreviewLayer, layer.session !== session else { return }
                    layer.videoGravity = .resizeAspectFill
                    layer.session = session
                    setNeedsLayout()
                }

                // The screen may have been turned: the camera does not turn its picture by itself.
                override func layoutSubviews() {
                    super.layoutSubviews()
                    guard let layer = layer as? AVCaptureVideoPreviewLayer, let connection = layer.connection,
                        connection.isVideoRotationAngleSupported(angle)
                    else { return }
                    connection.videoRotationAngle = angle
                }

                /// By how much the picture of the camera on the back is turned, which is upright where the screen is turned to
                /// the right.
                private var angle: CGFloat {
                    switch window?.windowScene?.effectiveGeometry.interfaceOrientation {
                    case .landscapeRight: 0
                    case .landscapeLeft: 180
                    case .portraitUpsideDown: 270
                    default: 90
                    }
                }
            }

            func makeUIView(context: Context) -> Preview { Preview() }

            func updateUIView(_ view: Preview, context: Context) { view.show(session) }
        }
    #elseif canImport(AppKit)
        /// What the camera sees.
        private struct CameraPreview: NSViewRepresentable {
            let session: AVCaptureSession?

            func makeNSView(context: Context) -> NSView {
                let view = NSView()
                let layer = AVCaptureVideoPreviewLayer()
                layer.videoGravity = .resizeAspectFill
                view.layer = layer
                view.wantsLayer = true
                return view
            }

            func updateNSView(_ view: NSView, context: Context) {
                guard let layer = view.layer as? AVCaptureVideoPreviewLayer else { return }
                layer.session = session
            }
        }
    #endif
#endif
