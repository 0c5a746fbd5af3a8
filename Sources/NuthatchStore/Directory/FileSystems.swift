import CSystem

/// Properties of file systems. On network file systems and on those of user programs, locks and mappings may not work between
/// machines. Then only one machine at a time may use the directory.
enum FileSystems {
  private static let others: [UInt32: String] = [
    0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x517B: "SMB", 0x6573_5546: "FUSE",
    0x0102_1997: "9P",
    0x5346_414F: "AFS", 0x00C3_6400: "Ceph", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS", 0x0116_1970: "GFS2",
    0x7461_636F: "OCFS2", 0x7375_7245: "Coda", 0x1983_0326: "BeeGFS", 0x564C: "NCP", 0x786F_4256: "vboxsf",
    0xBACB_ACBC: "HGFS",
  ]

  /// Returns a warning about a type of file system; nil for a local one.
  static func warning(_ magic: UInt32) -> String? {
    others[magic].map {
      "the cache is on \($0): only one machine at a time may use it, and it may be slow; use a local directory instead"
    }
  }

  /// Returns whether a written page can be written again without new room. False for copy-on-write file systems (btrfs,
  /// bcachefs) and where the layer below is unknown (overlayfs).
  static func writesInPlace(_ magic: UInt32) -> Bool {
    switch magic {
    case 0xEF53, 0x5846_5342, 0x0102_1994: true
    default: false
    }
  }

  /// Returns whether the kernel uses large pages for large pieces of a file, and a mapped page of reserved room can be written
  /// without new room. True for ext4 and XFS, from these kernels on.
  static func givesLargePages(_ magic: UInt32, kernel: UInt32 = nhs_kernel_version()) -> Bool {
    switch magic {
    case 0xEF53: kernel >= 6 << 16 | 16
    case 0x5846_5342: kernel >= 6 << 16 | 1
    default: false
    }
  }
}
