/// # NuthatchImaging: bytes in, pixels out
///
/// Turns the bytes of a picture into thumbnails: sniff, probe, decode, resample, orient, encode. It does no I/O and uses no
/// clock. Its only global state is the list of the last `ResamplePlan`s. It must not know of URLs, caches or networks.
///
/// Start here: `ImageProbe` identifies a picture while its first bytes arrive. `Thumbnailer` makes thumbnails and whole
/// pictures from complete input, `IncrementalThumbnailer` from input that arrives in pieces. All errors are `ImageFault`.
