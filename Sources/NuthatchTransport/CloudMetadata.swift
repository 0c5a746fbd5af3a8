/// Addresses where clouds serve the secrets of a machine. Most such addresses are missing here, because
/// `AddressClass.linkLocal` covers them: 169.254.169.254 (nearly all), 169.254.170.2 and .23 (Amazon's containers),
/// 169.254.42.42 (Scaleway), 169.254.0.23 (Tencent), fe80::a9fe:a9fe (OpenStack).
enum CloudMetadata {
  static let v4: [UInt32] = [
    // 100.100.100.200: Alibaba Cloud, "View instance metadata"
    0x6464_64C8,
    // 192.0.0.192: Oracle Cloud at Customer, "Retrieving instance metadata"
    0xC000_00C0,
    // 168.63.129.16: Microsoft Azure, "What is IP address 168.63.129.16?". A public address by IANA's registries
    0xA83F_8110,
  ]

  private static let v6: [(high: UInt64, low: UInt64)] = [
    // fd20:ce::254: Google Cloud, "About VM metadata"
    (0xfd20_00ce_0000_0000, 0x254),
    // fd00:c1::a9fe:a9fe: Oracle Cloud, "Getting instance metadata"
    (0xfd00_00c1_0000_0000, 0xa9fe_a9fe),
    // fd00:42::42: Scaleway, cloud-init's data source of that name
    (0xfd00_0042_0000_0000, 0x42),
    // fd00:a9fe:a9fe::1: Akamai (Linode), "Overview of the Metadata service"
    (0xfd00_a9fe_a9fe_0000, 1),
    // fd00:100::100:200: Alibaba Cloud, "View instance metadata"
    (0xfd00_0100_0000_0000, 0x100_0200),
  ]

  static func has(_ high: UInt64, _ low: UInt64) -> Bool {
    // fd00:ec2::/32: Amazon EC2, "Use instance metadata". ::254 serves machines, ::23 serves pods
    high >> 32 == 0xfd00_0ec2 || v6.contains { $0 == (high, low) }
  }
}
