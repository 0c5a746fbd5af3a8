// Uses the C++ layer as a program would:  layer SERVER FOLDER. The exit status is 0 if all checks are good.
#include <nuthatch.hpp>

#include <iostream>

using namespace nuthatch;
using namespace std::chrono_literals;

static_assert(!std::is_copy_constructible_v<Cache> && std::is_nothrow_move_constructible_v<Cache>);
static_assert(!std::is_copy_constructible_v<Event> && std::is_nothrow_move_constructible_v<Event>);
static_assert(std::is_copy_constructible_v<Options>);
// A time that is not a whole number of milliseconds does not compile.
static_assert(std::is_convertible_v<std::chrono::hours, Duration> && !std::is_convertible_v<std::chrono::microseconds, Duration>);

static const char lasting_path[] = "/headers?Cache-Control=max-age%3D60";
static int failed = 0;

static void check(const char *name, bool holds) {
  if (!holds) failed++, std::cout << "not ok " << name << "\n";
}

template <typename Call>
static std::string failure(Call call) {
  try {
    call();
  } catch (const Error &error) {
    return std::string(error.word()) + ": " + error.what();
  }
  return "none";
}

static const nh_options &raw(const Options &options) { return *static_cast<const nh_options *>(options); }

static Options lasting() {
  // Too long to be stored inside of a std::string, and freed when this returns.
  std::string agent(100, 'a');
  std::vector<std::string> names{"X-One", "X-Two"};
  Options options;
  options.user_agent(agent).keep_headers_across_origins(names).headers({{"X-Nut", std::string(100, 'h')}});
  options.sizes({{64, 32}, {16, 16}}).secrets({{"Authorization", "Bearer ", "env:TOKEN"}});
  return Options(options);
}

static void check_options() {
  Options options = lasting();
  const nh_options &said = raw(options);
  check("the size", said.struct_size == sizeof(nh_options));
  check("texts last", said.user_agent == std::string(100, 'a') && said.keep_headers_across_origins == std::string("X-One,X-Two"));
  check("lists last", said.header_count == 1 && said.headers[0].value == std::string(100, 'h') && said.size_count == 2);
  check("sizes", said.sizes[0].height == 32 && said.secrets[0].provider == std::string("env:TOKEN"));
  check("durations", raw(Options().timeout(5s)).timeout_ms == 5000 && raw(Options().timeout(none)).timeout_ms == NH_NONE);
  check("forever", raw(Options().image_ttl(forever)).image_ttl_ms == NH_FOREVER && raw(Options().image_ttl(0s)).image_ttl_ms == NH_NONE);
  check("no wait", raw(Options().give_up_after(0ms)).give_up_after_ms == 1);
  check("zero", raw(Options().retries(0)).retries == NH_NONE && raw(Options().retries(2)).retries == 2);
  check("shares", raw(Options().heuristic(none)).heuristic <= static_cast<double>(NH_NONE) && raw(Options().rate(2.5)).rate > 2);
  check("flags", raw(Options().enlarge()).enlarge == NH_YES && raw(Options().resume(false)).resume == NH_NO);
  check("words", raw(Options().policy(Policy::offline).addresses(Addresses::public_)).policy == NH_POLICY_OFFLINE);
  check("off", raw(Options().netrc(none)).netrc == NH_OFF);
  check("questions", raw(Options().asks({NH_ASK_VERDICT, NH_ASK_HEADERS})).asks == 5);
  check("a zero that is refused", failure([] { Options().timeout(0s); }) == "invalid: timeout is 0; it must be 1 ms or more, or none");
  check("a zero byte", failure([] { Options().tag(std::string("a\0b", 3)); }).rfind("invalid: ", 0) == 0);
}

static void check_answers(Cache &cache, const std::string &server) {
  Response response = cache.get(server + "/bytes/10", Options().retries(0));
  check("get", response.status() == 200 && response.body() == "xxxxxxxxxx" && !response.is_in_cache());
  check("headers", response.header("content-length") == "10" && !response.header("X-None"));
  Response moved(std::move(response));
  check("moved", response.get() == nullptr && moved.text() == "xxxxxxxxxx");
  cache.get(server + lasting_path);
  check("a hit", cache.peek_response(server + lasting_path).has_value() && !cache.peek_response(server + "/bytes/11"));
  check("an error", failure([&] { cache.get("nonsense"); }).rfind("bad_url: ", 0) == 0);
  check("no JSON", failure([&] { moved.json(); }).rfind("wrong_format: ", 0) == 0);
  check("peek fails", failure([&] { cache.peek("nonsense", Options().size(8)); }).rfind("bad_url: ", 0) == 0);

  const std::string picture = server + "/png/64/32";
  check("nothing to show", !cache.peek(picture, Options().size(16)));
  Image image = cache.thumbnail(picture, Options().size(16));
  check("thumbnail", image.width() == 16 && image.height() == 8 && image.pixels(NH_PIXELS_GREY) != nullptr);
  check("shown", cache.peek(picture, Options().size(16))->info().is_in_cache == 1);
  check("encoded and decoded", Image::decode(image.encode(NH_FORMAT_PNG), Options().size(4)).height() == 2);
  check("out of a response", cache.get(picture).image(Options().size(8)).width() == 8);

  Site site(cache, server + "/", Options().policy(Policy::rfc9111));
  check("site", cache.get("bytes/5", Options().site(site)).body() == "xxxxx" && site.reachable() == true);
  Request request(server + "/echo");
  request.set(Options().method("POST")).header("X-Nut", "hazel").body("seeds");
  check("perform", cache.perform(request).text().find("seeds") != std::string::npos);
}

static void check_events(Cache &cache, const std::string &server) {
  Ticket ticket = cache.submit(server + "/png/64/32?2", Options().size(16).user_data(&cache));
  std::optional<Event> event = ticket.wait();
  check("wait", event && (*event)->is_final && (*event)->user_data == &cache);
  std::vector<Image> images = event->images();
  event.reset();
  check("images outlive their event", images.size() == 1 && images[0].width() == 16);
  check("a ticket with its final event can't be waited for again", failure([&] { ticket.wait(0s); }).rfind("invalid: ", 0) == 0);

  cache.submit(server + "/bytes/7");
  nh_wait_idle(cache.get(), -1);
  event = cache.poll();
  check("poll", cache.fd() >= 0 && event && event->response()->body() == "xxxxxxx" && !event->response() && !cache.poll());
  check("statistics", cache.stats().requests > 5);
  cache.clear();
  check("cleared", !cache.peek_response(server + lasting_path));
}

int main(int, char **arguments) {
  try {
    Cache cache(arguments[2], Options().memory_bytes(1 << 20).timeout(30s));
    Cache moved(std::move(cache));
    check_options();
    check_answers(moved, arguments[1]);
    check_events(moved, arguments[1]);
    Response response = moved.get(std::string(arguments[1]) + "/bytes/3");
    moved = Cache(std::string(arguments[2]) + "-2");
    check("answers outlive their cache", response.body() == "xxx");
  } catch (const Error &error) {
    check(error.what(), false);
  }
  return failed;
}
