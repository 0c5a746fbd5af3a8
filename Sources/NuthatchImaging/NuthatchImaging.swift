/// # NuthatchImaging: bytes in, pixels out
///
/// Turns the bytes of a picture into thumbnails: sniff, probe, decode, orient, resample, encode. Pure: it does
/// no I/O, knows no clock, keeps no global state, and must not know of URLs, caches or networks.
///
/// Start here: `ImageProbe` identifies a picture while its first bytes arrive. `Thumbnailer` makes thumbnails and whole
/// pictures from complete input, `IncrementalThumbnailer` from input that arrives in pieces; it also tells when it needs no
/// more. All errors are `ImageFault`.
