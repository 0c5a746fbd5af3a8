/* Generated from options.toml by Scripts/make-header, in bindings/c/nuthatch.hpp.in; edit these. */
#ifndef NUTHATCH_HPP
#define NUTHATCH_HPP

/*
 * Nuthatch for C++17: handles that release themselves, options by chained setters, errors as exceptions.
 *
 *     using namespace std::chrono_literals;
 *
 *     nuthatch::Cache cache("thumbs.cache");
 *     auto image = cache.thumbnail("https://example.org/a.jpg", nuthatch::Options().size(256).timeout(5s).retries(0));
 *     show(image.pixels(), image.info().width, image.info().height);
 *
 * A thin layer over nuthatch.h, which is the manual: each call does the same as the function of that name there. For other
 * functions, get() returns the handle. If a function fails, the call throws nuthatch::Error.
 * Views and pointers are valid as long as the object that returned them. Callbacks must not throw.
 */

#include <nuthatch.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace nuthatch {

namespace detail {

/** Options that are newer than version 0.1. A library may be too old for them. */
struct Newer {
  std::string_view name, since;
  std::size_t offset, size;
};
inline constexpr Newer newer[] = {
    {"site", "0.2", offsetof(nh_options, site), sizeof(nh_options::site)},
    {"keep_headers_across_origins", "0.2", offsetof(nh_options, keep_headers_across_origins), sizeof(nh_options::keep_headers_across_origins)},
    {"decode", "0.2", offsetof(nh_options, decode), sizeof(nh_options::decode)},
    {"redirects", "0.2", offsetof(nh_options, redirects), sizeof(nh_options::redirects)},
    {"ca_file", "0.2", offsetof(nh_options, ca_file), sizeof(nh_options::ca_file)},
    {"ca_dir", "0.2", offsetof(nh_options, ca_dir), sizeof(nh_options::ca_dir)},
    {"insecure", "0.2", offsetof(nh_options, insecure), sizeof(nh_options::insecure)},
    {"check_bytes", "0.2", offsetof(nh_options, check_bytes), sizeof(nh_options::check_bytes)},
    {"expire_after", "0.2", offsetof(nh_options, expire_after_ms), sizeof(nh_options::expire_after_ms)},
    {"config", "0.2", offsetof(nh_options, config), sizeof(nh_options::config)},
    {"decoding", "0.2", offsetof(nh_options, decoding), sizeof(nh_options::decoding)},
};

/** Returns a message of the library. If the library is too old for an option, its message has only the option's place in
 *  the struct; the returned one has the option's name. */
inline std::string named(const std::string &told) {
  constexpr std::string_view place = "options has a value at byte ";
  if (told.compare(0, place.size(), place) != 0) return told;
  const std::size_t byte = std::strtoul(told.c_str() + place.size(), nullptr, 10);
  for (const Newer &option : newer) {
    if (byte < option.offset || byte >= option.offset + option.size) continue;
    return std::string(option.name) + ": the library is Nuthatch " + nh_version() + ", which doesn't have this option (it came with " +
           std::string(option.since) + ")";
  }
  return told;
}

}  // namespace detail

/** The error of a call: what() is the message, and word() the stable word, such as "timeout". */
class Error : public std::runtime_error {
 public:
  Error(nh_status code, const std::string &message) : std::runtime_error(message), status(code) {}

  /** Returns the error of the last call on this thread that failed. */
  static Error last() {
    nh_error_info info = {};
    info.struct_size = sizeof info;
    nh_error_get_info(&info);
    Error error(info.code, detail::named(info.message));
    error.http_status = info.http_status;
    error.retry_after = info.retry_after;
    error.outbox_id = info.outbox_id;
    return error;
  }

  const char *word() const { return nh_status_name(status); }

  nh_status status;
  /** As in nh_error_info. */
  int http_status = 0;
  int retry_after = -1;
  std::uint64_t outbox_id = 0;
};

/** `none`: none, off or no limit, see the comment of the option. `forever`: no limit. */
struct None {};
struct Forever {};
inline constexpr None none{};
inline constexpr Forever forever{};

/** The number of an option. */
struct Number {
  constexpr Number(std::int64_t number) : raw(number) {}
  constexpr Number(None) : raw(NH_NONE) {}
  constexpr Number(Forever) : raw(NH_FOREVER) {}
  std::int64_t raw;
};

/** A time of whole milliseconds: 5s, 250ms, none, forever. */
struct Duration {
  constexpr Duration(std::chrono::milliseconds time) : raw(time.count()) {}
  template <typename Time, typename = std::enable_if_t<std::is_convertible_v<Time, std::chrono::milliseconds>>>
  constexpr Duration(Time time) : Duration(std::chrono::milliseconds(time)) {}
  constexpr Duration(None) : raw(NH_NONE) {}
  constexpr Duration(Forever) : raw(NH_FOREVER) {}
  /** The value for functions that wait: -1 for no limit. */
  constexpr std::int64_t wait() const { return raw == NH_FOREVER ? -1 : raw; }
  std::int64_t raw;
};

/** Which stored answers count as fresh. */
enum class Policy { kit = NH_POLICY_KIT, rfc9111 = NH_POLICY_RFC9111, offline = NH_POLICY_OFFLINE, reload = NH_POLICY_RELOAD };

/** Which addresses may be connected to. The address of the actual connection is checked, for every redirect. */
enum class Addresses { guarded = NH_ADDRESSES_GUARDED, public_ = NH_ADDRESSES_PUBLIC, any = NH_ADDRESSES_ANY };

/** How user and password are sent. */
enum class SignIn { basic = NH_SIGN_IN_BASIC, digest = NH_SIGN_IN_DIGEST, ntlm = NH_SIGN_IN_NTLM, negotiate = NH_SIGN_IN_NEGOTIATE, any = NH_SIGN_IN_ANY };

/** Whether a site's cookies are sent back to its servers, and where they are stored. */
enum class CookieJar { off = NH_COOKIE_JAR_OFF, memory = NH_COOKIE_JAR_MEMORY, disk = NH_COOKIE_JAR_DISK };

/** When answers from the cache are delivered (docs/HTTP.md of the sources has a table). */
enum class Delivery { twice = NH_DELIVERY_TWICE, first = NH_DELIVERY_FIRST, fresh = NH_DELIVERY_FRESH };

/** When new answers are written to disk. */
enum class Spill { eager = NH_SPILL_EAGER, pressure = NH_SPILL_PRESSURE };

/** When bytes read from the disk are compared with their checksum. */
enum class CheckBytes { first = NH_CHECK_BYTES_FIRST, always = NH_CHECK_BYTES_ALWAYS };

/** How thumbnails are stored on disk. Those of at most 16 KiB are always stored raw. */
enum class ThumbStore { packed = NH_THUMB_STORE_PACKED, lossless = NH_THUMB_STORE_LOSSLESS, raw = NH_THUMB_STORE_RAW, small = NH_THUMB_STORE_SMALL };

/** Whether a process sends the requests of an outbox. */
enum class Outbox { auto_ = NH_OUTBOX_AUTO, off = NH_OUTBOX_OFF };

/** How a picture is made to fit its box. */
enum class Fit { inside = NH_FIT_INSIDE, cover = NH_FIT_COVER, stretch = NH_FIT_STRETCH };

/** How much of a picture is decoded before it is scaled down. */
enum class Scaling { best = NH_SCALING_BEST, fast = NH_SCALING_FAST };

/** Where pictures are decoded. */
enum class Decoding { here = NH_DECODING_HERE, isolated = NH_DECODING_ISOLATED };

using Headers = std::vector<std::pair<std::string, std::string>>;

/** A header whose value isn't written to disk (nh_secret). */
struct Secret {
  std::string header, prefix, provider;
};

namespace detail {

inline void check(nh_status status) {
  if (status != NH_OK) throw Error::last();
}

inline std::int32_t count(std::int32_t number) {
  if (number < 0) throw Error::last();
  return number;
}

inline std::string_view view(const void *bytes, std::size_t size) { return {static_cast<const char *>(bytes), size}; }

/** A handle that is released with the object. It can be moved. After that, don't use the old object. */
template <typename Raw, nh_status (*release)(Raw *)>
class Handle {
 public:
  explicit Handle(Raw *raw) : raw_(raw) {}
  Handle(Handle &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Handle() {
    if (raw_ != nullptr) release(raw_);
  }

  /** Returns the handle. It still belongs to this object. */
  Raw *get() const { return raw_; }

 protected:
  Raw *raw_ = nullptr;
};

template <typename Type, typename Raw>
std::optional<Type> found(Raw *raw) {
  if (raw == nullptr) return std::nullopt;
  return Type(raw);
}

/** Returns an empty struct with its struct_size. */
template <typename Info>
Info sized() {
  Info info = {};
  info.struct_size = sizeof info;
  return info;
}

inline nh_status close(nh_cache *cache) {
  nh_status status = nh_close(cache, 2000);
  return status == NH_TIMEOUT ? nh_close(cache, 0) : status;
}

}  // namespace detail

class Site;

/** Options of a cache, a site, a request, or the process: nh_options. It keeps copies of texts. */
class Options {
 public:
  operator const nh_options *() const { return &raw_; }

  /** Which stored answers count as fresh. */
  Options &policy(Policy said) { raw_.policy = static_cast<nh_policy>(said); return *this; }
  /** kit: how long pictures with a validator and no lifetime are fresh. */
  Options &validator_ttl(Duration said) { raw_.validator_ttl_ms = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** kit: how long pictures without any caching header are fresh. */
  Options &image_ttl(Duration said) { raw_.image_ttl_ms = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** kit: how long answers marked no-cache are fresh. */
  Options &no_cache_ttl(Duration said) { raw_.no_cache_ttl_ms = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** rfc9111: share of the time since Last-Modified for which an answer without a lifetime is fresh. */
  Options &heuristic(double said) { raw_.heuristic = said == 0 ? static_cast<double>(NH_NONE) : said; return *this; }
  Options &heuristic(None) { raw_.heuristic = static_cast<double>(NH_NONE); return *this; }
  /** Longest time without a byte: connecting, waiting, between two bytes. */
  Options &timeout(Duration said) { raw_.timeout_ms = above_zero(said.raw, "timeout is 0; it must be 1 ms or more, or none"); return *this; }
  /** Longest time for the whole request. */
  Options &deadline(Duration said) { raw_.deadline_ms = above_zero(said.raw, "deadline is 0; it must be 1 ms or more, or none"); return *this; }
  /** Further attempts after a failed one. */
  Options &retries(Number said) { raw_.retries = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** How long a host may be unreachable before its requests fail. */
  Options &give_up_after(Duration said) { raw_.give_up_after_ms = said.raw == 0 ? 1 : said.raw; return *this; }
  /** Largest body. */
  Options &max_bytes(Number said) { raw_.max_bytes = above_zero(said.raw, "max_bytes is 0; it must be 1 or more, or none"); return *this; }
  /** Most pixels that a picture may have. */
  Options &max_pixels(Number said) { raw_.max_pixels = above_zero(said.raw, "max_pixels is 0; it must be 1 or more, or none"); return *this; }
  /** The request is one of many that are submitted at once. */
  Options &batched(bool said = true) { raw_.batched = said ? NH_YES : NH_NO; return *this; }
  /** The site of the request: its options apply, and its URL is the base of a relative URL. */
  Options &site(const Site &said);
  /** Which addresses may be connected to. */
  Options &addresses(Addresses said) { raw_.addresses = static_cast<nh_addresses>(said); return *this; }
  /** Proxy for all requests; empty for none. */
  Options &proxy(std::string said) { raw_.proxy = keep(std::move(said)); return *this; }
  /** The method, such as POST. */
  Options &method(std::string said) { raw_.method = keep(std::move(said)); return *this; }
  /** Headers to send, in this order. */
  Options &headers(const Headers &said) { return list(raw_.headers, raw_.header_count, kept(said)); }
  /** Names of headers that are also sent to other origins. */
  Options &keep_headers_across_origins(const std::vector<std::string> &said) { raw_.keep_headers_across_origins = keep(joined(said)); return *this; }
  /** Value of the User-Agent header. */
  Options &user_agent(std::string said) { raw_.user_agent = keep(std::move(said)); return *this; }
  /** Value of the Accept header, or the word modern. */
  Options &accept(std::string said) { raw_.accept = keep(std::move(said)); return *this; }
  /** User and password, for one origin. */
  Options &user(std::string said) { raw_.user = keep(std::move(said)); return *this; }
  Options &user(None) { raw_.user = NH_OFF; return *this; }
  /** Password of user. */
  Options &password(std::string said) { raw_.password = keep(std::move(said)); return *this; }
  /** Where user and password may be sent, for programs that set them for many URLs. */
  Options &user_place(std::string said) { raw_.user_place = keep(std::move(said)); return *this; }
  /** Token to sign in with, sent to the origin of the URL and to no other. */
  Options &bearer(std::string said) { raw_.bearer = keep(std::move(said)); return *this; }
  /** How user and password are sent. */
  Options &sign_in(SignIn said) { raw_.sign_in = static_cast<nh_sign_in>(said); return *this; }
  /** Client certificate, a file in PEM. */
  Options &cert(std::string said) { raw_.cert = keep(std::move(said)); return *this; }
  /** Private key of cert, a file in PEM. */
  Options &cert_key(std::string said) { raw_.cert_key = keep(std::move(said)); return *this; }
  /** Password of the key of cert. */
  Options &cert_password(std::string said) { raw_.cert_password = keep(std::move(said)); return *this; }
  /** A file with users and passwords by host. */
  Options &netrc(std::string said) { raw_.netrc = keep(std::move(said)); return *this; }
  Options &netrc(None) { raw_.netrc = NH_OFF; return *this; }
  /** Name that separates these answers from others, instead of the credentials. */
  Options &partition(std::string said) { raw_.partition = keep(std::move(said)); return *this; }
  /** Whether cookies that the servers set are sent back, and where they are stored. */
  Options &cookie_jar(CookieJar said) { raw_.cookie_jar = static_cast<nh_cookie_jar>(said); return *this; }
  /** Questions that the program answers while the request runs. */
  Options &asks(std::initializer_list<nh_question> said) { for (nh_question one : said) raw_.asks |= static_cast<std::uint64_t>(one); return *this; }
  /** Questions of the site that this request doesn't ask. */
  Options &asks_not(std::initializer_list<nh_question> said) { for (nh_question one : said) raw_.asks_not |= static_cast<std::uint64_t>(one); return *this; }
  /** Cache key of the answer, instead of the URL. */
  Options &cache_key(std::string said) { raw_.cache_key = keep(std::move(said)); return *this; }
  /** Store and find the answer by the URL without its query. */
  Options &ignore_query(bool said = true) { raw_.ignore_query = said ? NH_YES : NH_NO; return *this; }
  /** Boxes of the wanted thumbnails, at most 64. */
  Options &size(Number said) { raw_.size = above_zero(said.raw, "size is 0; it must be 1 to 65535"); return *this; }
  Options &sizes(std::vector<nh_size> said) { return list(raw_.sizes, raw_.size_count, std::move(said)); }
  /** How pictures are made to fit their boxes. */
  Options &fit(Fit said) { raw_.fit = static_cast<nh_fit>(said); return *this; }
  /** Enlarge pictures that are smaller than the box. */
  Options &enlarge(bool said = true) { raw_.enlarge = said ? NH_YES : NH_NO; return *this; }
  /** How much of a picture is decoded before it is scaled down. */
  Options &scaling(Scaling said) { raw_.scaling = static_cast<nh_scaling>(said); return *this; }
  /** Take what can be decoded of a damaged picture. */
  Options &allow_damaged(bool said = true) { raw_.allow_damaged = said ? NH_YES : NH_NO; return *this; }
  /** End the transfer of a progressive JPEG, a GIF, or an animated WebP or AVIF when the thumbnails are done. */
  Options &early_stop(bool said = true) { raw_.early_stop = said ? NH_YES : NH_NO; return *this; }
  /** Let nh_peek decode a thumbnail that is stored as a file; this takes some tenths of a millisecond. */
  Options &decode(bool said = true) { raw_.decode = said ? NH_YES : NH_NO; return *this; }
  /** When answers from the cache are delivered. */
  Options &delivery(Delivery said) { raw_.delivery = static_cast<nh_delivery>(said); return *this; }
  /** Place in the queue, higher ones first. */
  Options &priority(Number said) { raw_.priority = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** Word by which requests can be cancelled. */
  Options &tag(std::string said) { raw_.tag = keep(std::move(said)); return *this; }
  /** Send events about the progress of the upload and the download. */
  Options &progress_events(bool said = true) { raw_.progress_events = said ? NH_YES : NH_NO; return *this; }
  /** After a broken transfer keep the hidden partial file, so that a later request can continue it. */
  Options &resume(bool said = true) { raw_.resume = said ? NH_YES : NH_NO; return *this; }
  /** Put the request into the outbox if its server can't be reached, and send it later. */
  Options &freezable(bool said = true) { raw_.freezable = said ? NH_YES : NH_NO; return *this; }
  /** Store the request before the first attempt, so that it survives a kill during it. */
  Options &outbox_durable(bool said = true) { raw_.outbox_durable = said ? NH_YES : NH_NO; return *this; }
  /** Queue in the outbox; its requests are sent one after the other. */
  Options &outbox_queue(std::string said) { raw_.outbox_queue = keep(std::move(said)); return *this; }
  /** Name of the handler that gets the outcome. */
  Options &outbox_handler(std::string said) { raw_.outbox_handler = keep(std::move(said)); return *this; }
  /** Providers of the values of secret headers, for later attempts. */
  Options &secrets(const std::vector<Secret> &said) { return list(raw_.secrets, raw_.secret_count, kept(said)); }
  /** Provider of the password of user. */
  Options &password_provider(std::string said) { raw_.password_provider = keep(std::move(said)); return *this; }
  /** After how many answers that report a temporary failure (408, 425, 429, 5xx) the request is put aside. */
  Options &outbox_attempts(Number said) { raw_.outbox_attempts = above_zero(said.raw, "outbox_attempts is 0; it must be 1 or more, or none"); return *this; }
  /** Longest time for all attempts. */
  Options &outbox_max_age(Duration said) { raw_.outbox_max_age_ms = above_zero(said.raw, "outbox_max_age is 0; it must be 1 ms or more, or none"); return *this; }
  /** How long the server remembers the Idempotency-Key. */
  Options &outbox_key_lifetime(Duration said) { raw_.outbox_key_lifetime_ms = above_zero(said.raw, "outbox_key_lifetime is 0; it must be 1 ms or more, or none"); return *this; }
  /** A pointer that the events carry; the library never follows it. */
  Options &user_data(void *said) { raw_.user_data = said; return *this; }
  /** A function for nh_dispatch to call with each event. */
  Options &callback(nh_callback said) { raw_.callback = said; return *this; }
  /** Keep the events out of the completion queue. */
  Options &quiet(bool said = true) { raw_.quiet = said ? NH_YES : NH_NO; return *this; }
  /** Memory that this process may use for stored things, mostly decoded thumbnails. */
  Options &memory_bytes(Number said) { raw_.memory_bytes = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** How many things this process may keep in memory. */
  Options &memory_items(Number said) { raw_.memory_items = above_zero(said.raw, "memory_items is 0; it must be 1 or more, or none"); return *this; }
  /** Disk space of the directory, without the outbox. */
  Options &disk_bytes(std::int64_t said) { raw_.disk_bytes = above_zero(said, "disk_bytes is 0; it must be 4 MiB to 64 TiB"); return *this; }
  /** When new answers are written to disk. */
  Options &spill(Spill said) { raw_.spill = static_cast<nh_spill>(said); return *this; }
  /** How thumbnails are stored on disk. */
  Options &thumb_store(ThumbStore said) { raw_.thumb_store = static_cast<nh_thumb_store>(said); return *this; }
  /** Store the bodies of pictures, so that other sizes can be made of them. */
  Options &keep_source(bool said = true) { raw_.keep_source = said ? NH_YES : NH_NO; return *this; }
  /** Allow file: URLs; they can read any file that this process may read. */
  Options &allow_files(bool said = true) { raw_.allow_files = said ? NH_YES : NH_NO; return *this; }
  /** Whether this process sends the requests of the directory's outbox. */
  Options &outbox(Outbox said) { raw_.outbox = static_cast<nh_outbox>(said); return *this; }
  /** Disk space of the outbox; requests beyond it are refused. */
  Options &outbox_bytes(Number said) { raw_.outbox_bytes = above_zero(said.raw, "outbox_bytes is 0; it must be 1 or more, or none"); return *this; }
  /** How many requests the outbox may hold, including those whose outcome waits. */
  Options &outbox_items(Number said) { raw_.outbox_items = above_zero(said.raw, "outbox_items is 0; it must be 1 or more, or none"); return *this; }
  /** How many requests run at once, in all caches together. */
  Options &concurrency(std::int64_t said) { raw_.concurrency = above_zero(said, "concurrency is 0; it must be 1 to 512"); return *this; }
  /** How many requests run at once at one host. */
  Options &per_host(std::int64_t said) { raw_.per_host = above_zero(said, "per_host is 0; it must be 1 to 512"); return *this; }
  /** Raise per_host for hosts that can take it, for requests of a batch. */
  Options &per_host_grows(bool said = true) { raw_.per_host_grows = said ? NH_YES : NH_NO; return *this; }
  /** How many requests may start in a second at one host. */
  Options &rate(double said) { raw_.rate = above_zero(said, "rate is 0; it must be 0.000001 to 1000000, or none"); return *this; }
  Options &rate(None) { raw_.rate = static_cast<double>(NH_NONE); return *this; }
  /** Memory for bodies that are being received; bytes beyond it go to files. */
  Options &inflight_bytes(Number said) { raw_.inflight_bytes = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** How many redirects are followed. */
  Options &redirects(Number said) { raw_.redirects = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** Certificates that servers are checked with, in a file in PEM. */
  Options &ca_file(std::string said) { raw_.ca_file = keep(std::move(said)); return *this; }
  /** Folder of certificates that servers are checked with, named by their hashes (openssl rehash). */
  Options &ca_dir(std::string said) { raw_.ca_dir = keep(std::move(said)); return *this; }
  /** Don't check certificates: anyone on the path can read and change the traffic. */
  Options &insecure(bool said = true) { raw_.insecure = said ? NH_YES : NH_NO; return *this; }
  /** When bytes read from the disk are compared with their checksum. */
  Options &check_bytes(CheckBytes said) { raw_.check_bytes = static_cast<nh_check_bytes>(said); return *this; }
  /** How long answers are fresh after they came; replaces their headers. */
  Options &expire_after(Duration said) { raw_.expire_after_ms = said.raw == 0 ? NH_NONE : said.raw; return *this; }
  /** A config file with options, and with sections for hosts. */
  Options &config(std::string said) { raw_.config = keep(std::move(said)); return *this; }
  /** Where pictures are decoded. */
  Options &decoding(Decoding said) { raw_.decoding = static_cast<nh_decoding>(said); return *this; }
 private:
  template <typename Said>
  static Said above_zero(Said said, const char *refusal) {
    if (said == 0) throw Error(NH_INVALID, refusal);
    return said;
  }
  const char *keep(std::string said) {
    if (said.find('\0') != std::string::npos) throw Error(NH_INVALID, "a text of the options has a zero byte");
    auto text = std::make_shared<const std::string>(std::move(said));
    kept_.push_back(text);
    return text->c_str();
  }
  std::string joined(const std::vector<std::string> &names) {
    std::string all;
    for (const std::string &name : names) all += (all.empty() ? "" : ",") + name;
    return all;
  }
  std::vector<nh_header> kept(const Headers &said) {
    std::vector<nh_header> list;
    for (const auto &[name, value] : said) list.push_back({keep(name), keep(value)});
    return list;
  }
  std::vector<nh_secret> kept(const std::vector<Secret> &said) {
    std::vector<nh_secret> list;
    for (const Secret &one : said) list.push_back({keep(one.header), keep(one.prefix), keep(one.provider)});
    return list;
  }
  template <typename Item>
  Options &list(const Item *&place, std::size_t &count, std::vector<Item> items) {
    auto list = std::make_shared<const std::vector<Item>>(std::move(items));
    place = list->data();
    count = list->size();
    kept_.push_back(std::move(list));
    return *this;
  }

  nh_options raw_ = detail::sized<nh_options>();
  std::vector<std::shared_ptr<const void>> kept_;
};

/** A decoded picture. */
class Image : public detail::Handle<nh_image, nh_image_release> {
 public:
  using Handle::Handle;
  /** Decodes a JPEG, PNG, GIF, WebP, AVIF, BMP or ICO that is in memory. */
  static Image decode(std::string_view file, const Options &options) {
    nh_image *image = nullptr;
    detail::check(nh_image_decode(file.data(), file.size(), options, &image));
    return Image(image);
  }
  nh_image_info info() const {
    auto info = detail::sized<nh_image_info>();
    detail::check(nh_image_get_info(raw_, &info));
    return info;
  }
  int width() const { return info().width; }
  int height() const { return info().height; }
  /** Returns the pixels, without padding between rows. */
  const unsigned char *pixels(nh_pixels format = NH_PIXELS_RGBA) const {
    const void *pixels = nullptr;
    std::size_t size = 0;
    detail::check(nh_image_pixels(raw_, format, &pixels, &size));
    return static_cast<const unsigned char *>(pixels);
  }
  /** Returns the image as the bytes of a file. */
  std::string_view encode(nh_format format, int quality = 0) const {
    const void *bytes = nullptr;
    std::size_t size = 0;
    detail::check(nh_image_encode(raw_, format, quality, &bytes, &size));
    return detail::view(bytes, size);
  }
};

/** An answer. */
class Response : public detail::Handle<nh_response, nh_response_release> {
 public:
  using Handle::Handle;
  nh_response_info info() const {
    auto info = detail::sized<nh_response_info>();
    detail::check(nh_response_get_info(raw_, &info));
    return info;
  }
  int status() const { return info().status; }
  bool is_in_cache() const { return info().is_in_cache != 0; }
  std::string_view body() const {
    auto all = info();
    return detail::view(all.body, all.body_size);
  }
  std::optional<std::string_view> header(const std::string &name) const {
    const char *value = nullptr;
    detail::check(nh_response_header(raw_, name.c_str(), &value));
    return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
  }
  std::string_view text() const { return read(nh_response_text); }
  std::string_view json() const { return read(nh_response_json); }
  Image image(const Options &options) const {
    nh_image *image = nullptr;
    detail::check(nh_response_image(raw_, options, &image));
    return Image(image);
  }

 private:
  std::string_view read(nh_status (*reader)(nh_response *, const char **, std::size_t *)) const {
    const char *text = nullptr;
    std::size_t size = 0;
    detail::check(reader(raw_, &text, &size));
    return {text, size};
  }
};

/** A request in the outbox. */
class Frozen : public detail::Handle<nh_frozen, nh_frozen_release> {
 public:
  using Handle::Handle;
  nh_frozen_info info() const {
    auto info = detail::sized<nh_frozen_info>();
    detail::check(nh_frozen_get_info(raw_, &info));
    return info;
  }
};

/** An event of a ticket. Handles that are not taken out are released with it. */
class Event {
 public:
  Event() = default;
  Event(Event &&other) noexcept : raw_(std::exchange(other.raw_, nh_event())) {}
  Event &operator=(Event &&other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }
  ~Event() { nh_event_clear(&raw_); }
  nh_event *get() { return &raw_; }
  const nh_event *operator->() const { return &raw_; }
  /** Takes the answer out of the event; empty if there is none. */
  std::optional<Response> response() { return detail::found<Response>(std::exchange(raw_.response, nullptr)); }
  std::optional<Frozen> frozen() { return detail::found<Frozen>(std::exchange(raw_.frozen, nullptr)); }
  /** Takes the images out of the event, in the order of the sizes. */
  std::vector<Image> images() {
    std::vector<Image> all;
    for (std::size_t i = 0; i < raw_.image_count; i++) {
      if (raw_.images[i] != nullptr) all.emplace_back(std::exchange(raw_.images[i], nullptr));
    }
    return all;
  }

 private:
  nh_event raw_ = {};
};

/** A request with parts that options don't have, such as a body. */
class Request : public detail::Handle<nh_request, nh_request_free> {
 public:
  explicit Request(const std::string &url) : Handle(nullptr) { detail::check(nh_request_create(url.c_str(), &raw_)); }
  Request &set(const Options &options) { return done(nh_request_set(raw_, options)); }
  Request &header(const std::string &name, const std::string &value) {
    return done(nh_request_add_header(raw_, name.c_str(), value.c_str()));
  }
  Request &body(std::string_view bytes) { return done(nh_request_set_body(raw_, bytes.data(), bytes.size())); }
  Request &body_file(const std::string &path) { return done(nh_request_set_body_file(raw_, path.c_str())); }
  Request &field(const std::string &name, const std::string &value) {
    return done(nh_request_add_field(raw_, name.c_str(), value.c_str()));
  }
  Request &part(nh_part part) {
    part.struct_size = sizeof part;
    return done(nh_request_add_part(raw_, &part));
  }
  Request &save_to(nh_sink sink) {
    sink.struct_size = sizeof sink;
    return done(nh_request_save_to(raw_, &sink));
  }

 private:
  Request &done(nh_status status) {
    detail::check(status);
    return *this;
  }
};

/** A request under way. */
class Ticket : public detail::Handle<nh_ticket, nh_ticket_release> {
 public:
  using Handle::Handle;
  /** Waits for the next event; empty if none comes in time. */
  std::optional<Event> wait(Duration time = forever) {
    Event event;
    nh_status status = nh_wait(raw_, time.wait(), event.get(), sizeof(nh_event));
    if (status == NH_TIMEOUT) return std::nullopt;
    detail::check(status);
    return event;
  }
  void cancel() { detail::check(nh_cancel(raw_)); }
};

class Cache;

/** A base URL, and the options that requests to it share. */
class Site : public detail::Handle<nh_site, nh_site_close> {
 public:
  Site(const Cache &cache, const std::string &base_url, const Options &options = {});
  /** Whether the host could be reached recently; empty if there was no attempt. */
  std::optional<bool> reachable() const {
    nh_choice choice = NH_UNSAID;
    detail::check(nh_site_reachable(raw_, &choice));
    return choice == NH_UNSAID ? std::nullopt : std::optional<bool>(choice == NH_YES);
  }
};

inline Options &Options::site(const Site &said) {
  raw_.site = said.get();
  return *this;
}

/** A cache directory, and requests through it. The destructor waits two seconds at most (nh_close). */
class Cache : public detail::Handle<nh_cache, detail::close> {
 public:
  explicit Cache(const Options &options = {}) : Handle(nullptr) { detail::check(nh_open(nullptr, options, &raw_)); }
  explicit Cache(const std::string &path, const Options &options = {}) : Handle(nullptr) {
    detail::check(nh_open(path.c_str(), options, &raw_));
  }
  Response get(const std::string &url, const Options &options = {}) const { return made<Response>(nh_get, url, options); }
  using Handle::get;
  Image thumbnail(const std::string &url, const Options &options) const { return made<Image>(nh_thumbnail, url, options); }
  Ticket submit(const std::string &url, const Options &options = {}) const { return made<Ticket>(nh_submit, url, options); }
  Ticket submit(const Request &request) const { return made<Ticket>(nh_submit_request, request); }
  Response perform(const Request &request) const { return made<Response>(nh_perform, request); }
  /** Returns an image that is ready at once; else empty. */
  std::optional<Image> peek(const std::string &url, const Options &options) const {
    nh_image *image = nh_peek(raw_, url.c_str(), options);
    if (image == nullptr) {
      auto info = detail::sized<nh_error_info>();
      nh_error_get_info(&info);
      detail::check(info.code);
    }
    return detail::found<Image>(image);
  }
  std::optional<Response> peek_response(const std::string &url, const Options &options = {}) const {
    nh_response *response = nullptr;
    detail::check(nh_peek_response(raw_, url.c_str(), options, &response));
    return detail::found<Response>(response);
  }
  /** Returns an event, or empty if there is none. fd() is readable while there are events. */
  std::optional<Event> poll() const {
    Event event;
    return detail::count(nh_poll(raw_, event.get(), 1, sizeof(nh_event))) == 0 ? std::nullopt : std::optional(std::move(event));
  }
  int fd() const { return detail::count(nh_fd(raw_)); }
  int dispatch(Duration time) const { return detail::count(nh_dispatch(raw_, time.wait())); }
  void cancel_all(const Options &options = {}) const { detail::check(nh_cancel_all(raw_, options)); }
  void remove(const std::string &url, const Options &options = {}) const { detail::check(nh_remove(raw_, url.c_str(), options)); }
  void clear() const { detail::check(nh_clear(raw_)); }
  nh_statistics stats() const {
    auto statistics = detail::sized<nh_statistics>();
    detail::check(nh_stats(raw_, &statistics));
    return statistics;
  }
  /** Returns the first request of the outbox with a greater number than `after`. */
  std::optional<Frozen> outbox_next(std::uint64_t after = 0) const {
    nh_frozen *frozen = nullptr;
    detail::check(nh_outbox_next(raw_, after, &frozen));
    return detail::found<Frozen>(frozen);
  }

 private:
  template <typename Type, typename Raw>
  Type made(nh_status (*function)(nh_cache *, const char *, const nh_options *, Raw **), const std::string &url,
            const Options &options) const {
    Raw *raw = nullptr;
    detail::check(function(raw_, url.c_str(), options, &raw));
    return Type(raw);
  }
  template <typename Type, typename Raw>
  Type made(nh_status (*function)(nh_cache *, nh_request *, Raw **), const Request &request) const {
    Raw *raw = nullptr;
    detail::check(function(raw_, request.get(), &raw));
    return Type(raw);
  }
};

inline Site::Site(const Cache &cache, const std::string &base_url, const Options &options) : Handle(nullptr) {
  detail::check(nh_site_open(cache.get(), base_url.c_str(), options, &raw_));
}

}  // namespace nuthatch

#endif
