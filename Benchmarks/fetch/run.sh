#!/bin/sh
# make bench-fetch: 2,000 small JPEGs from nginx on loopback, by a minimal C loop on libcurl's multi interface, by
# Nuthatch's transport alone, and by all of the core with an empty cache, in turn. Prints requests a second, CPU a
# request, and the ratios. Then measures answers from memory, and 100,000 requests that wait. MISSED marks a missed goal.
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
bin=$root/.build/release

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
TMPDIR=$work/caches
export TMPDIR
mkdir -p "$TMPDIR"
trap 'kill $server; rm -rf "$work/caches"' EXIT
seq 0 $((count - 1)) | sed "s|.*|http://127.0.0.1:$port/&.jpg|" >"$work/urls"
python3 - "$work" "$bin" "$rounds" <<'END'
import os, shutil, statistics, subprocess, sys, time, urllib.request
work, programs, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
caches = os.environ["TMPDIR"]
core = programs + "/nuthatch-bench-core"
urls = open(work + "/urls").read()
for _ in range(100):
    try:
        urllib.request.urlopen(urls.split()[0]).read()
        break
    except OSError:
        time.sleep(0.05)

def run(command: list, text: str = "") -> str:
    try:
        return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    finally:
        for name in os.listdir(caches):
            shutil.rmtree(os.path.join(caches, name))

def measure(command: list) -> tuple:
    out = run(command, urls).split()
    assert out[1] == "0", f"{out[1]} requests failed"
    requests, seconds, cpu = int(out[0]), float(out[3]), float(out[4])
    return requests / seconds, cpu / requests, int(out[2])

def judge(is_met: bool, goal: str) -> str:
    return f"goal {goal}" + ("" if is_met else ": MISSED")

ways = {
    "limit": [work + "/limit", "6"],
    "transport": [programs + "/nuthatch-bench-fetch", "6"],
    "core": [core, "fetch"],
}
for command in ways.values():
    measure(command)
results = {name: [] for name in ways}
for _ in range(rounds):
    for name, command in ways.items():
        results[name].append(measure(command))
for name, rows in results.items():
    rate, cpu = [row[0] for row in rows], [row[1] for row in rows]
    print("%-9s %6.0f requests/s (%.0f-%.0f), %5.1f us CPU a request (%.1f-%.1f), %.1f KB each" % (
        name, statistics.median(rate), min(rate), max(rate), statistics.median(cpu), min(cpu), max(cpu),
        rows[0][2] / 2000 / 1000))
for name in ["transport", "core"]:
    pairs = list(zip(results[name], results["limit"]))
    rate = statistics.median(one[0] / other[0] for one, other in pairs)
    work_done = statistics.median(other[1] / one[1] for one, other in pairs)
    note = judge(work_done >= 0.6, "0.60 of it") if name == "transport" else "hashed, judged and stored as well"
    print("%-9s %.2f of the limit's rate, %.2f of its requests per CPU second (%s)" % (name, rate, work_done, note))

print()
goals = {"peek": 200, "peek-bytes": 200, "event": 5000, "event-two-sizes-of-one": 5000, "event-get": 5000}
rows = [dict(line.split() for line in run([core, "hits"], urls).splitlines()) for _ in range(3)]
for name, most in goals.items():
    times = sorted(int(row[name]) for row in rows)
    print("%-22s %6d ns of CPU (%d-%d), %s" % (
        name, times[1], times[0], times[2], judge(times[1] <= most, f"{most}")))

print()
rows = [dict(line.split(" ", 1) for line in run([core, "queued", "100000"]).splitlines()) for _ in range(3)]
held = sorted(int(row["bytes"]) for row in rows)
print("queued    %d bytes each (%d-%d), %s" % (held[1], held[0], held[2], judge(held[1] <= 1024, "1024")))
growth = []
for row in rows:
    first, _, last = row["first"].split()[:3]
    growth.append(int(last) / int(first))
    print("          submitted in %s ns of CPU each (the first tenth), %s ns (the last)" % (first, last))
print("          linear: %.2f, %s" % (statistics.median(growth), judge(statistics.median(growth) < 2, "below 2")))
END
