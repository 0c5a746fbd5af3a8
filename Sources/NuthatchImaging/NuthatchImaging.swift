/// # NuthatchImaging: bytes in, pixels out
///
/// Turns the bytes of a picture into thumbnails: sniff, probe, decode, orient, resample, encode. Pure: it does
/// no I/O, knows no clock, keeps no global state, and must not know of URLs, caches or networks.
///
/// The doors: `ImageProbe` says what a picture is while its first bytes arrive; `Thumbnailer` makes thumbnails and
/// whole pictures from bytes that are there, `IncrementalThumbnailer` from bytes that arrive, and says when it has
/// had enough of them. All faults are `ImageFault`.
