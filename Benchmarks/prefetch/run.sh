#!/bin/sh
# make bench-prefetch: measures `nuthatch prefetch` and other programs that make thumbnails of many URLs. See bench.py.
# Sets up pictures, peers (those that can be installed) and nginx on loopback under build/bench-prefetch.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=${NUTHATCH_BENCH_DIR:-$root/build/bench-prefetch}
mkdir -p "$work/logs"

has() { PATH="$PATH:/usr/sbin" command -v "$1" >/dev/null; }
install() {
  has "$1" && return
  if [ "$(id -u)" = 0 ]; then as_root=""; else as_root="sudo -n"; fi
  DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y --no-install-recommends "$2" \
    </dev/null >/dev/null 2>&1 || echo "bench-prefetch: $2 can't be installed: what needs it is skipped" >&2
}
install nginx nginx-light
install curl curl
install vipsthumbnail libvips-tools
has nginx || exit 1

# environment NAME IMPORT PACKAGE...: makes a Python environment with a peer. If that fails, the peer is skipped.
environment() {
  folder=$work/$1 module=$2
  shift 2
  "$folder/bin/python" -c "import $module" 2>/dev/null && return
  rm -rf "$folder"
  { python3 -m venv "$folder" && timeout 900 "$folder/bin/pip" install --quiet "$@" </dev/null; } >&2 || rm -rf "$folder"
}
environment venv "aiohttp, PIL" aiohttp pillow
environment venv-img2dataset "img2dataset" img2dataset

cc -O2 "$here/../fetch/pictures.c" -o "$work/make-pictures" -ljpeg
cc -O2 "$here/decode.c" -o "$work/decode" -ljpeg -lpthread
kernels=$root/Sources/CSystem
cc -O2 -I "$kernels/include" -I "$kernels/Pixels" "$here/bare.c" "$kernels"/Pixels/resample*.c -o "$work/bare" \
  -lcurl -ljpeg -lcrypto -lpthread -lm
if [ ! -f "$work/small/1999.jpg" ]; then
  mkdir -p "$work/small" && "$work/make-pictures" 2000 "$work/small" 69
fi
if [ ! -f "$work/tiny/0.jpg" ]; then
  mkdir -p "$work/tiny" && "$work/make-pictures" 1 "$work/tiny" 75 16 16
fi
if [ ! -f "$work/late/59.jpg" ]; then
  mkdir -p "$work/late" && "$work/make-pictures" 60 "$work/late" 75 160 120
fi
if [ ! -f "$work/large/23.jpg" ]; then
  mkdir -p "$work/large"
  "$here/photographs.sh" "$work" 24 || "$work/make-pictures" 24 "$work/large" 90 4000 3000 progressive
fi

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
  server { listen 127.0.0.1:$port; root $work; }
}
END
PATH="$PATH:/usr/sbin" nginx -p "$work" -c "$work/nginx.conf" -g 'daemon off;' </dev/null &
server=$!
trap 'kill $server; rm -rf "$work/run"' EXIT
python3 "$here/bench.py" "$work" "$root/build/nuthatch" "http://127.0.0.1:$port" "$@"
