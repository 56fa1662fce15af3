import Dispatch
import Foundation
import QuartzCore

/// Page: avfoundation/avmediatype iOS 4.0 macOS 10.7
public struct AVMediaType: Hashable, Sendable {
    /// Page: avfoundation/avmediatype/video iOS 4.0 macOS 10.7
    public static let video = AVMediaType()
}

/// Page: avfoundation/avcapturedevice iOS 4.0 macOS 10.7
open class AVCaptureDevice: NSObject {
    /// Page: avfoundation/avcapturedevice/requestaccess(for:completionhandler:) iOS 7.0 macOS 10.14
    open class func requestAccess(for mediaType: AVMediaType) async -> Bool { false }

    /// Page: avfoundation/avcapturedevice/default(for:) iOS 4.0 macOS 10.7
    open class func `default`(for mediaType: AVMediaType) -> AVCaptureDevice? { nil }
}

/// Page: avfoundation/avcaptureinput iOS 4.0 macOS 10.7
open class AVCaptureInput: NSObject {}

/// Page: avfoundation/avcapturedeviceinput iOS 4.0 macOS 10.7
open class AVCaptureDeviceInput: AVCaptureInput {
    /// Page: avfoundation/avcapturedeviceinput/init(device:) iOS 4.0 macOS 10.7
    public init(device: AVCaptureDevice) throws {}
}

/// Page: avfoundation/avcaptureoutput iOS 4.0 macOS 10.7
open class AVCaptureOutput: NSObject {}

/// Page: avfoundation/avcaptureconnection iOS 4.0 macOS 10.7
open class AVCaptureConnection: NSObject {
    /// Page: avfoundation/avcaptureconnection/isvideorotationanglesupported(_:) iOS 17.0 macOS 14.0
    open func isVideoRotationAngleSupported(_ videoRotationAngle: CGFloat) -> Bool { false }

    /// Page: avfoundation/avcaptureconnection/videorotationangle iOS 17.0 macOS 14.0
    open var videoRotationAngle: CGFloat = 0
}

/// Page: avfoundation/avcapturemetadataoutput iOS 6.0 macOS 13.0
open class AVCaptureMetadataOutput: AVCaptureOutput {
    /// Page: avfoundation/avcapturemetadataoutput/availablemetadataobjecttypes iOS 6.0 macOS 13.0
    open var availableMetadataObjectTypes: [AVMetadataObject.ObjectType] { [] }

    /// Page: avfoundation/avcapturemetadataoutput/metadataobjecttypes iOS 6.0 macOS 13.0
    open var metadataObjectTypes: [AVMetadataObject.ObjectType] = []

    /// Page: avfoundation/avcapturemetadataoutput/setmetadataobjectsdelegate(_:queue:) iOS 6.0 macOS 13.0
    open func setMetadataObjectsDelegate(
        _ objectsDelegate: (any AVCaptureMetadataOutputObjectsDelegate)?, queue objectsCallbackQueue: DispatchQueue?
    ) {}
}

/// Page: avfoundation/avcapturemetadataoutputobjectsdelegate iOS 6.0 macOS 13.0
public protocol AVCaptureMetadataOutputObjectsDelegate: NSObjectProtocol {
    /// Page: avfoundation/avcapturemetadataoutputobjectsdelegate/metadataoutput(_:didoutput:from:) iOS 6.0 macOS 13.0
    func metadataOutput(
        _ output: AVCaptureMetadataOutput, didOutput metadataObjects: [AVMetadataObject],
        from connection: AVCaptureConnection)
}

/// Page: avfoundation/avmetadataobject iOS 6.0 macOS 10.15
open class AVMetadataObject: NSObject {
    /// Page: avfoundation/avmetadataobject/objecttype iOS 6.0 macOS 10.15
    public struct ObjectType: Hashable, Sendable {
        /// Page: avfoundation/avmetadataobject/objecttype/qr iOS 7.0 macOS 10.15
        public static let qr = ObjectType()
    }
}

/// Page: avfoundation/avmetadatamachinereadablecodeobject iOS 7.0 macOS 10.15
open class AVMetadataMachineReadableCodeObject: AVMetadataObject {
    /// Page: avfoundation/avmetadatamachinereadablecodeobject/stringvalue iOS 7.0 macOS 10.15
    open var stringValue: String? { nil }
}

/// Page: avfoundation/avcapturesession iOS 4.0 macOS 10.7
open class AVCaptureSession: NSObject {
    /// Page: avfoundation/avcapturesession/canaddinput(_:) iOS 4.0 macOS 10.7
    open func canAddInput(_ input: AVCaptureInput) -> Bool { false }

    /// Page: avfoundation/avcapturesession/addinput(_:) iOS 4.0 macOS 10.7
    open func addInput(_ input: AVCaptureInput) {}

    /// Page: avfoundation/avcapturesession/canaddoutput(_:) iOS 4.0 macOS 10.7
    open func canAddOutput(_ output: AVCaptureOutput) -> Bool { false }

    /// Page: avfoundation/avcapturesession/addoutput(_:) iOS 4.0 macOS 10.7
    open func addOutput(_ output: AVCaptureOutput) {}

    /// Page: avfoundation/avcapturesession/startrunning() iOS 4.0 macOS 10.7
    open func startRunning() {}

    /// Page: avfoundation/avcapturesession/stoprunning() iOS 4.0 macOS 10.7
    open func stopRunning() {}
}

/// Page: avfoundation/avlayervideogravity iOS 4.0 macOS 10.7
public struct AVLayerVideoGravity: Hashable, Sendable {
    /// Page: avfoundation/avlayervideogravity/resizeaspectfill iOS 4.0 macOS 10.7
    public static let resizeAspectFill = AVLayerVideoGravity()
}

/// Page: avfoundation/avcapturevideopreviewlayer iOS 4.0 macOS 10.7
open class AVCaptureVideoPreviewLayer: CALayer {
    /// Page: avfoundation/avcapturevideopreviewlayer/session iOS 4.0 macOS 10.7
    open var session: AVCaptureSession?

    /// Page: avfoundation/avcapturevideopreviewlayer/connection iOS 6.0 macOS 10.7
    open var connection: AVCaptureConnection? { nil }

    /// Page: avfoundation/avcapturevideopreviewlayer/videogravity iOS 4.0 macOS 10.7
    open var videoGravity = AVLayerVideoGravity.resizeAspectFill
}
