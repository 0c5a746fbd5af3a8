import CSystem

extension ImageFault {
  /// Converts a C decoder's error.
  init(_ fault: UnsafePointer<nhs_fault>, format: ImageFormat) {
    let kind: Kind
    switch Int(fault.pointee.kind) {
    case Int(NHS_FAULT_CORRUPT): kind = .corrupt
    case Int(NHS_FAULT_TRUNCATED): kind = .truncated
    case Int(NHS_FAULT_TOO_LARGE): kind = .tooLarge
    case Int(NHS_FAULT_TOO_MANY_PIXELS): kind = .tooManyPixels
    case Int(NHS_FAULT_UNSUPPORTED): kind = .unsupportedFormat(format.rawValue)
    case Int(NHS_FAULT_OUT_OF_MEMORY): kind = .outOfMemory
    default: kind = .internal
    }
    let offset = fault.pointee.offset
    self.init(kind, String(cString: nhs_fault_message(fault)), at: offset < 0 ? nil : Int(offset))
  }

  /// Whether the pixels decoded before the fault may be delivered.
  var leavesPixels: Bool {
    kind == .corrupt || kind == .truncated
  }
}

/// The warnings that a C decoder kept.
func keptWarnings(_ warnings: UnsafePointer<nhs_warnings>) -> [String] {
  (0..<warnings.pointee.kept).compactMap { index in
    nhs_warning(warnings, index).map { String(cString: $0) }
  }
}
