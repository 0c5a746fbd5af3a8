/// Bitstreams of AV1, made by libaom through avifenc.
extension AVIFFixture {
  /// 8 bits, 4:2:0, limited range.
  static let color = Bits(
    90, 70, config: [0x81, 0x00, 0x0C, 0x00],
    """
    EgAKCRgZrMXkgIaDAjKWARZACBCDBATumEEibSKUwki7fSet1F1MVZf+zXxGkJ/hSdlTLfnNbgWBZe8zAx/AH782FSKffA/6
    IReIBiiMcbrg10bp8iqTHRp/MDVEPmtAq9oIYxjadY3SQt3c0y6fvG/Ag3x5Vvzc5squmC3aWFyLqMZch1tMT5zB3Uu7gxsd
    8ddwFZjTjbyE+qJhOZg6cNnlwSv5YA==
    """)

  /// 8 bits, grey, full range: falls from the left to the right.
  static let alpha = Bits(
    90, 70, config: [0x81, 0x00, 0x1C, 0x00],
    """
    EgAKBhgZrMXlUDJdEADEiHLn8mQqf4K9yi+duzCGGjaRLTJk98lSR4h263pBZI+rKKzQjPCJqWupmhetdpWkHg+teD5fucWz
    wElF+pVV////vG72q28BxLcmA5O7pD26Pxp3yZtWRScu
    """)

  /// 10 bits, 4:4:4, full range.
  static let deep = Bits(
    64, 48, config: [0x81, 0x20, 0x40, 0x00],
    """
    EgAKCTgVf7+cBDQaQDKNARZABBByRADR4hEwkFRCuIFFzH8Qe9gNlwtsicbedl41Jwqux7x3e3jydPyCE8377hwNpRoe0BHB
    qe9u8ontuieFmvWRhRHvFWY5IOY/tVJu+f5zZFB+SgUg6Zb39bvpoODWdesjl7cBZBIIzlLyMUtt1AMOGGzG7kYrKXdgf258
    mB4hn0wVyW/Xc5EasA==
    """)

  /// 10 bits, 4:2:0, full range.
  static let deepHalved = Bits(
    32, 24, config: [0x81, 0x00, 0x4C, 0x00],
    "EgAKCRgRP3YoCGg0IDIiGgAYYYYEADrsVGnnA/TTNWNJGXjuSPtglcZo3UviTfSLgA==")

  /// 10 bits, grey: the same everywhere.
  static let deepAlpha = Bits(32, 24, config: [0x81, 0x00, 0x5C, 0x00], "EgAKBRgRP3Y1MgkQAABB4c7+TSg=")

  /// 12 bits, 4:2:2, limited range.
  static let deepest = Bits(
    33, 21, config: [0x81, 0x40, 0x68, 0x00],
    """
    EgAKCVgVIKc6AhoMiDJJFkAGDNBEAPoXalYbgxZxkk17z96KL8Skjnxe8LA8aOF5mS/vCqvVsnFlQrsR6o4blfQ4w5Slf2Qb
    CEOnpXavlaVzcF2wyCVtIA==
    """)

  /// 8 bits, 4:2:0, limited range.
  static let large = Bits(
    901, 603, config: [0x81, 0x04, 0x0C, 0x00],
    """
    EgAKChkmeElrkgIaDAgyxQsS0APPPWFdQP1mk5F0lbz6wUWRJyKhZSHqG3Pq4Gq4k+yV6rihgxa/7Wu5N1rCECJt+n162Fea
    z3ptJ45DRnqW2gZQ5DOFI0zDXMpgmn3vUoyHLhb+jblIw9mfKkfGD3ViAmYh7M19SbAZ6e1kiGMuDWsDYfettbjwZOS+66aG
    UpO8aiY9D72I4RdBbynld84w/3st+c8YGaqo7EBzblav/LqGoyfqqDp+GEqR0JUgVIbfvPHoPuilMJPGr9BTjDu2+wZ58wdK
    ZtKRA70zn3j2/Q4QINF24GA9ooLxWwirpnGFjQSnhrcDnU+9Kb+cZMmH+xXPFi7DB/EcJU/weIeOkJ6LjjC+k2xt0E98dP6P
    CBUUabXiOuGv1O/1hCWMipZ91cSrHUjbiFieH/gVFJcMeWnYaVNxkFhqjFc/fcw7uA/TaA+Fma1cNRx+T34XjDeKKAUCKaUd
    c6JcIu31iRD6oPjfTv0wmXs8GuLQcRPOCBNfnmNhyViztcco9/c2dHGBkKfUFz7gr9O3ClSl180pnupzyuTnub8tHTVCflhd
    vtkNSJGFQJzA4zIgFUS+jRVfecl4PtzkLjLKy+PJRRIZ5G1/jV1FbgOvqxwVCulWBnv+d/RyH9ibQBA0kWa3eS/nFC3zSAV+
    hyDDQKwLJpsvAN506bWr3rwgXW89utlgvXYCKbJG0XqT/gSWxTU+kELZgwIVZD6sxVVNKvToaIhomb6DK8wMGJ9dRtms0B/1
    3hsQQzgxOR1CLNKzUvK+rnwFeNyKWcJ5Rf01eJyHRAPcbN95swUiSmDrMYPtGFjJ/HBlPyHzKP3r8OitmFAcUf+97jfdxzvj
    xUFqJtjltpzYn/G/yQjF1SsLlbx9tzpky0kCx4prKndiMwZzutC0uQD39nNGi0dGcxlnm80xL63Q3NvcDMed5UtWvN61RYC1
    1Ex5PyZ7EOalnvXC3RhC2nM1WcE3+M68SCW0kEFu7McaoZ6+psoi6Aurzql9LQ5IANm6kShyLXHdWrR9bWvOOsF+r3z0OMNy
    huB4IkkdNOOgqYP/k3EBzt9m3L/DKSt/9WNPJTnOKQhXTLtDQN/AYnqbZRCj8vEMq5f1w90nLlXxYPxv3PXuaTaColWtH6lb
    C8EFF6WNqGjrg/nB6b7OX9AdcPDvicizzvLeZeOD2bkhgGC3mlCJywLXnL4iUXtvh9rxxxUIWC5oTQM7kgoLZUiU0ElciKQr
    JslnntqQNvCU9/+rfz+/pt+GTZ9obFeofX+u3uckpUNHcGxqCaKtQDFSBqlzPg/LqeBztqrC3wcFCsKGon1u4v9A5NYEApqH
    iFbCS4qpdkcuAow+mVBL0C/efGg1f/gvggW4kjP9txl7wp27cAIodQ4ctCjhSaWa1RN6RGpBZd6e48ynXjTuqriEO7o2sGS4
    IfVDcht1yficG99Hogx1SEr5FNQv/q0WekvAtl9iRJxePIndR0vfeGSQmhdFgMOYdmpRpcdCsev4Bp/bM64YrrkHyqq7WbkH
    pqF4v4ItlRPU/DmYBwnI5DvvAJXl4zXtQamdV85c/lK4vKm5MqwxOoqPpVge1oyB7izTmP0Dxe35cpGNpJS37YmNbvRLEyIX
    GqBmAnL3+tL7wOdEr9V9rnbMIEeQWCIoEdaTyEWGz2MJOp1Wmpuo4ygsPTJvETUlRYnVMTspVVnzQWI68JLWwC9Yvb9rT3mJ
    JVpFIpO9OQEohqovUw93voB65gUMs5QJJ2mPoVjJTFz0nDefr57HEezbjWpUjOBiJm0p96gUZKhvXG+6ZRlKb8F2tG3eBPeb
    RkkhnkDYV2Og94hzCrOtevuOECYcH7UZdas1iLsS43pdxG/s1RGw0sKSXYMwYDWys+TrLgJQujpL8HLY/Hew4Ic0HtdI3EBS
    ksqKDHZvyU97wGaL89SXxuJ/Pa0XPwAD0gYOq+emosTKC8JVgTDI05Tqwf/yrTLcBWWkMq7A
    """)

  /// 8 bits, 4:4:4: Y is 120, U 90 and V 180.
  static let plain = Bits(
    16, 16, config: [0x81, 0x20, 0x00, 0x00],
    """
    EgAKCDgM//lAQ0AIMhMQAAAAFLnMleAxIktIk3a9hWyQ
    """)

  /// 10 bits, 4:4:4: Y is 480, U 361 and V 722.
  static let plainDeep = Bits(
    16, 16, config: [0x81, 0x20, 0x40, 0x00],
    """
    EgAKCDgM//nAQ0AIMhQQAAAAFLm+3h4DEhmKZNN2vWhzOQ==
    """)

  /// 12 bits, 4:4:4: Y is 1920, U 1441 and V 2890.
  static let plainDeepest = Bits(
    16, 16, config: [0x81, 0x40, 0x60, 0x00],
    """
    EgAKCFgM//nQENACMhYQAAAAFLm4wN/TRRa1ZT7So5OXvT6Q
    """)
}
