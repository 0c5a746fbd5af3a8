#!/bin/sh
# make bench-fetch: 2,000 small JPEGs from nginx on loopback, by Nuthatch's transport alone and by a minimal C loop on
# libcurl's multi interface, in turn. Prints requests a second, CPU a request, and the ratio.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${NUTHATCH_BENCH_DIR:-$root/build/bench-fetch}
rounds=${ROUNDS:-7}
count=2000
mkdir -p "$work/pictures" "$work/logs"

if ! command -v nginx >/dev/null && [ ! -x /usr/sbin/nginx ]; then
  if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
  $as_root apt-get install -y --no-install-recommends nginx-light </dev/null >/dev/null
fi
nginx=$(PATH="$PATH:/usr/sbin" command -v nginx)

cc -O2 "$here/limit.c" -o "$work/limit" -lcurl
if [ ! -f "$work/pictures/$((count - 1)).jpg" ]; then
  cc -O2 "$here/pictures.c" -o "$work/make-pictures" -ljpeg
  "$work/make-pictures" "$count" "$work/pictures"
fi
swift build --package-path "$root" -c release --product nuthatch-bench-fetch >&2
driver=$(swift build --package-path "$root" -c release --show-bin-path)/nuthatch-bench-fetch

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$work/nginx.conf" <<END
worker_processes 1;
pid $work/nginx.pid;
error_log $work/logs/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  types { image/jpeg jpg; }
  sendfile on;
  tcp_nopush on;
  keepalive_requests 10000000;
  client_body_temp_path $work/logs; proxy_temp_path $work/logs; fastcgi_temp_path $work/logs;
  uwsgi_temp_path $work/logs; scgi_temp_path $work/logs;
  open_file_cache max=4000;
  server { listen 127.0.0.1:$port; root $work/pictures; }
}
END
"$nginx" -p "$work" -c "$work/nginx.conf" -g 'daemon off;' </dev/null &
server=$!
trap 'kill $server' EXIT
seq 0 $((count - 1)) | sed "s|.*|http://127.0.0.1:$port/&.jpg|" >"$work/urls"
python3 - "$work" "$driver" "$rounds" <<'END'
import statistics, subprocess, sys, time, urllib.request
work, driver, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
urls = open(work + "/urls").read()
for _ in range(100):
    try:
        urllib.request.urlopen(urls.split()[0]).read()
        break
    except OSError:
        time.sleep(0.05)

def measure(program: str) -> tuple:
    out = subprocess.run([program, "6"], input=urls, capture_output=True, text=True, check=True).stdout.split()
    requests, seconds, cpu = int(out[0]), float(out[3]), float(out[4])
    return requests / seconds, cpu / requests, int(out[2])

both = {"limit": work + "/limit", "transport": driver}
for program in both.values():
    measure(program)
results = {name: [] for name in both}
for _ in range(rounds):
    for name, program in both.items():
        results[name].append(measure(program))
for name, rows in results.items():
    rate, cpu = [row[0] for row in rows], [row[1] for row in rows]
    print("%-9s %6.0f requests/s (%.0f-%.0f), %5.1f us CPU a request (%.1f-%.1f), %.1f KB each" % (
        name, statistics.median(rate), min(rate), max(rate), statistics.median(cpu), min(cpu), max(cpu),
        rows[0][2] / 2000 / 1000))
pairs = list(zip(results["transport"], results["limit"]))
print("ratio     %.2f of the limit's rate, %.2f of its requests per CPU second" % (
    statistics.median(one[0] / other[0] for one, other in pairs),
    statistics.median(other[1] / one[1] for one, other in pairs)))
END
