/// # NuthatchImaging: bytes in, pixels out
///
/// Turns the bytes of a picture into thumbnails: sniff, probe, decode, orient, resample, encode. Pure: it does
/// no I/O, knows no clock, keeps no global state, and must not know of URLs, caches or networks.
import CSystem
