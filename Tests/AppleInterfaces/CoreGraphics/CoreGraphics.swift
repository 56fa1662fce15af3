/// Page: coregraphics/cgimage iOS 2.0 macOS 10.0
public final class CGImage {}
