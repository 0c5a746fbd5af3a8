#!/usr/bin/env python3
"""Uses the self-contained wheel of dist/: in bare systems with Python and nothing else, with each Python of this
machine, and in one process with other copies of its libraries. Prints a transcript.

`make packages` builds the wheel and calls this, with the tools of build/venv. It needs root and the network. It ends at
the first failure, else with the line `N passed, 0 failed`.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Dict, List, Tuple

from bare import OUT, ROOT, Bare, why_not
from picture_server import PICTURE, Pictures
from run import expect

sys.path.insert(0, str(ROOT / "Tests" / "support"))
sys.path.insert(0, str(ROOT / "Tests" / "House"))
import elf
from secure_server import SecureServer, make_certificate

LIMIT = 9_000_000
TOOLS = ROOT / "build" / "venv" / "bin"
SITE = "/opt/site"
#: Debian's releases, for their Python. The wheel needs a glibc of 2.34, so older releases are left out.
SUITES = ["bookworm", "trixie", "sid"]
#: Where Debian, Fedora, Arch and SUSE keep certificates.
PLACES = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
    SITE + "/certifi/cacert.pem",
]

TRY = """
import sys, tempfile
import nuthatch
http, https = sys.argv[1:]
folder = tempfile.mkdtemp()
with nuthatch.Cache(folder) as cache:
    image = cache.thumbnail(http + "/a.png", 64)
    image.save(folder + "/a.jpg")
    assert image.size == (64, 48)
    assert cache.get(https).body == b"secure"
    libraries = {each["name"]: each for each in nuthatch.build_info["libraries"]}
    assert libraries["libcurl"]["linked"] == libraries["OpenSSL"]["linked"] == "static"
    maps = open("/proc/self/maps").read()
    assert not [name for name in ("libcurl", "libssl", "libpng", "libjpeg", "liblcms", "libisal") if name in maps]
print("Python %d.%d:" % sys.version_info[:2], image.size, "secure, libcurl", libraries["libcurl"]["version"],
      "with", " ".join(libraries["libcurl"]["features"]))
"""

SECURE = """
import sys, tempfile, nuthatch
with nuthatch.Cache(tempfile.mkdtemp()) as cache:
    try:
        print("fetched", cache.get(sys.argv[1], retries=0, timeout=10).body.decode())
    except nuthatch.Error as error:
        print("failed", error.code, error)
"""

NEGOTIATE = """
import sys, tempfile, nuthatch
with nuthatch.Cache(tempfile.mkdtemp()) as cache:
    try:
        print("fetched", cache.get(sys.argv[1], sign_in="negotiate", retries=0).status)
    except nuthatch.Error as error:
        print("failed", error.code, error)
"""

# A library of Kerberos that has a ticket for every service.
TICKETS = """
#include <stdlib.h>
#include <string.h>
struct buffer { size_t length; void *value; };
unsigned gss_import_name(unsigned *minor, struct buffer *text, void *kind, void **name) {
    static int service;
    (void)kind;
    *minor = text->length == 0;
    *name = &service;
    return 0;
}
unsigned gss_init_sec_context(unsigned *minor, void *who, void **context, void *name, void *mechanism, unsigned flags,
                              unsigned time, void *bindings, struct buffer *given, void **actual, struct buffer *token,
                              unsigned *kind, unsigned *lasts) {
    (void)who, (void)context, (void)name, (void)mechanism, (void)flags, (void)time, (void)bindings, (void)given;
    (void)actual, (void)kind, (void)lasts;
    *minor = 0;
    token->value = strdup("ticket");
    token->length = 6;
    return 0;
}
unsigned gss_release_buffer(unsigned *minor, struct buffer *b) { *minor = 0; free(b->value); b->value = 0; return 0; }
unsigned gss_release_name(unsigned *minor, void **name) { *minor = 0; *name = 0; return 0; }
"""

# Each library is used before and after ours, in each order of the imports.
BESIDE = """
import io, ssl, sys, tempfile
https, certificates, http = sys.argv[2:5]
def use_nuthatch():
    import nuthatch
    with nuthatch.Cache(tempfile.mkdtemp()) as cache:
        assert cache.get(https, ca_file=certificates).body == b"secure"
        cache.thumbnail(http + "/a.png", 64).save(tempfile.mkdtemp() + "/a.jpg")
def use_pycurl():
    import pycurl
    answer, curl = io.BytesIO(), pycurl.Curl()
    curl.setopt(pycurl.URL, https); curl.setopt(pycurl.CAINFO, certificates)
    curl.setopt(pycurl.WRITEDATA, answer); curl.perform(); curl.close()
    assert answer.getvalue() == b"secure"
def use_requests():
    import requests
    assert requests.get(https, verify=certificates).content == b"secure"
def use_pil():
    import urllib.request
    from PIL import Image
    picture = Image.open(io.BytesIO(urllib.request.urlopen(http + "/a.png").read())).convert("RGB").resize((40, 30))
    for kind in ("JPEG", "PNG", "WEBP"):
        picture.save(io.BytesIO(), kind)
used = {"nuthatch": use_nuthatch, "pycurl": use_pycurl, "requests": use_requests, "PIL": use_pil}
for _ in range(3):
    for name in sys.argv[1].split(","):
        used[name]()
import nuthatch, pycurl
ours = {each["name"]: each["version"] for each in nuthatch.build_info["libraries"]}
print(sys.argv[1], "- ours: libcurl", ours["libcurl"], "OpenSSL", ours["OpenSSL"],
      "- theirs:", pycurl.version.split()[0], ssl.OPENSSL_VERSION)
"""


class Servers:
    """A picture server, and one with TLS whose certificate only `certificate` vouches for."""

    def __init__(self, folder: Path) -> None:
        pictures = ThreadingHTTPServer(("127.0.0.1", 0), Pictures)
        threading.Thread(target=pictures.serve_forever, daemon=True).start()
        self.http = "http://127.0.0.1:%d" % pictures.server_address[1]
        self._secure = SecureServer(folder)
        self.https, self.certificate = self._secure.url(), self._secure.certificate
        self.sign_in = self._secure.url("/sign-in")
        self._secure.answers["/sign-in"] = (401, {"WWW-Authenticate": "Negotiate"})
        self.requests = self._secure.requests
        self.stop = self._secure.stop


def is_manylinux(wheel: Path) -> None:
    """By auditwheel, by its name, and by its size; nothing of what is inside can be seen from outside."""
    print("# auditwheel show %s" % wheel.name)
    told = subprocess.run(
        [TOOLS / "auditwheel", "show", wheel], capture_output=True, text=True, check=True
    ).stdout
    print(told.strip())
    (tag,) = re.findall(r"-(manylinux_2_34_\w+)\.whl$", wheel.name)
    expect(tag in re.sub(r"\s+", " ", told), "auditwheel says %s" % tag)
    print("%d bytes, at most %d" % (wheel.stat().st_size, LIMIT))
    expect(wheel.stat().st_size <= LIMIT, "the wheel's size")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extract("nuthatch/libnuthatch.so.1", folder)
        library = Path(folder) / "nuthatch" / "libnuthatch.so.1"
        names = elf.exported(library)
        strange = [name for name in names if not name.startswith(("nh_", "nhs_run_"))]
        expect(strange == [], "no names besides ours: %s" % strange)
        needed = " ".join(elf.dynamic(library, "NEEDED"))
        print("needs " + needed)
        expect(not re.search("curl|ssl|crypto|idn|nghttp|gssapi", needed), "no TLS of the system")
        names = zipfile.ZipFile(wheel).namelist()
        (bill,) = [json.loads(zipfile.ZipFile(wheel).read(name)) for name in names if "/sboms/" in name]
        parts = {part["name"]: part.get("purl", "") for part in bill["components"]}
        print("contains " + ", ".join("%s (%s)" % item for item in parts.items() if item[1]))
        expect(parts["libcurl"].startswith("pkg:deb/debian/curl@"), "libcurl's source package in the bill")
        inside = {"OpenSSL", "nghttp2", "libidn2", "libunistring"}
        expect(all(parts[name].startswith("pkg:deb/") for name in inside), "the others' packages in the bill")
        texts = {Path(name).name for name in names if "/licenses/" in name}
        wanted = {"curl.txt", "libxxhash-dev.txt", "swift.txt", "nuthatch.txt"}
        expect(wanted <= texts, "licenses: %s" % sorted(texts))
        # Linked and packed again, it is the same.
        for command in (["Scripts/link-wheel"], ["Scripts/make-wheel", "--out", folder]):
            subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        again = (Path(folder) / wheel.name).read_bytes()
        expect(
            hashlib.sha256(again).digest() == hashlib.sha256(wheel.read_bytes()).digest(),
            "the same wheel again",
        )


def install(wheel: Path, folder: Path, *more: str) -> None:
    """Installs the wheel as pip does, into a folder of a system that needs no pip for that."""
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(TOOLS / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*pip, str(wheel), *more], check=True)


def in_a_bare_system(bare: Bare, is_first: bool, wheel: Path, servers: Servers) -> None:
    bare.run("apt-get update", show=False)
    bare.run("apt-get install --yes --no-install-recommends python3", show=False)
    install(wheel, bare.folder / SITE[1:])
    (bare.folder / "root/try.py").write_text(TRY)
    bare.put(servers.certificate, "ca.pem")
    bare.run(
        ". /etc/os-release; echo $PRETTY_NAME; ! ls /usr/lib/*/ | grep -e libcurl -e libjpeg -e libpng16"
    )
    bare.run("PYTHONPATH=%s SSL_CERT_FILE=ca.pem python3 try.py %s %s" % (SITE, servers.http, servers.https))
    said = bare.run(
        "%s/nuthatch/nuthatch get %s/a.png --size 32 -o a.jpg && ls -l a.jpg" % (SITE, servers.http)
    )
    expect("a.jpg" in said, "the command's thumbnail")
    if not is_first:
        return
    with_each_python_in(bare, servers)
    bare.put(ROOT / "Tests/Packages/starts.py", "starts.py")
    bare.run("PYTHONPATH=%s python3 starts.py %s/nuthatch/nuthatch" % (SITE, SITE))
    certificates(bare, servers)
    (bare.folder / "root/negotiate.py").write_text(NEGOTIATE)
    ask = "PYTHONPATH=%s python3 negotiate.py %s/a.png" % (SITE, servers.http)
    expect(
        "fetched" in bare.run(ask), "Negotiate with the system's library, which Debian's Python needs, too"
    )
    bare.run("rm /usr/lib/*/libgssapi_krb5.so.2", show=False)
    said = bare.run(ask)
    expect("failed invalid" in said and "libgssapi_krb5.so.2" in said, "what is missing for Negotiate")


def certificates(bare: Bare, servers: Servers) -> None:
    """Each place of certificates by itself, none, and the environment before all places."""
    (bare.folder / "root/secure.py").write_text(SECURE)
    ask = "PYTHONPATH=%s %%s python3 secure.py %s" % (SITE, servers.https)
    said = bare.run(ask % "")
    expect("failed tls this machine has no certificates" in said, "what to do without certificates")
    for place in PLACES:
        bare.run("mkdir -p $(dirname %s) && cp ca.pem %s" % (place, place), show=False)
        expect("fetched secure" in bare.run("echo %s; " % place + ask % ""), "certificates in %s" % place)
        bare.run("rm %s" % place, show=False)
    # A folder of files that are named by hashes.
    (name,) = subprocess.run(
        ["openssl", "x509", "-noout", "-hash", "-in", servers.certificate],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    hashed = "/etc/ssl/certs/%s.0" % name
    bare.run("mkdir -p /etc/ssl/certs && cp ca.pem %s" % hashed, show=False)
    expect("fetched secure" in bare.run("echo %s; " % hashed + ask % ""), "certificates in a folder")
    bare.run("rm %s" % hashed, show=False)
    # Another authority in the system's place: the environment counts more.
    with tempfile.TemporaryDirectory() as folder:
        bare.put(make_certificate(Path(folder), "other"), "other.pem")
    bare.run("cp other.pem " + PLACES[0], show=False)
    expect("failed tls" in bare.run(ask % ""), "another authority doesn't vouch")
    for name in ("SSL_CERT_FILE", "CURL_CA_BUNDLE"):
        expect("fetched secure" in bare.run(ask % (name + "=ca.pem")), name)
    expect("failed tls" in bare.run(ask % "SSL_CERT_FILE=other.pem"), "the environment's authority only")


def with_each_python_in(bare: Bare, servers: Servers) -> None:
    """Each Python of pyenv that this machine has, in a system that has nothing else but Debian's own."""
    versions = (pyenv() / "versions").resolve()
    programs = [program for _, program in pythons() if versions in Path(program).resolve().parents]
    if not programs:
        return
    # They find their libraries by the whole path.
    inside = str(versions).lstrip("/")
    (bare.folder / inside).mkdir(parents=True)
    bare.mounts.append((versions, inside))
    for program in programs:
        ask = "PYTHONPATH=%s SSL_CERT_FILE=ca.pem %s try.py %s %s"
        bare.run(ask % (SITE, program, servers.http, servers.https))
    bare.mounts.pop()


def pyenv() -> Path:
    return Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))


def pythons() -> List[Tuple[str, str]]:
    """Returns the versions of Python on this machine from 3.9 on, with their programs."""
    programs = [str(path) for path in pyenv().glob("versions/*/bin/python3")]
    programs += [path for path in (shutil.which("python3.%d" % minor) for minor in range(9, 20)) if path]
    found: Dict[str, str] = {}
    for program in [*programs, sys.executable]:
        asked = subprocess.run(
            [program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True
        )
        version = asked.stdout.decode().strip()
        if asked.returncode == 0 and [int(part) for part in version.split(".")] >= [3, 9]:
            found.setdefault(version, program)
    return sorted(found.items(), key=lambda item: int(item[0].split(".")[1]))


def with_each_python(wheel: Path, servers: Servers, folder: Path) -> None:
    install(wheel, folder / "site")
    (folder / "try.py").write_text(TRY)
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "CURL_CA_BUNDLE": str(servers.certificate)}
    env.pop("NUTHATCH_LIBRARY", None)
    for _, program in pythons():
        command = [program, str(folder / "try.py"), servers.http, servers.https]
        subprocess.run(command, env=env, cwd=folder, check=True)


def with_a_ticket(servers: Servers, folder: Path) -> None:
    """Negotiate, with a ticket of the library that the loader finds."""
    (folder / "tickets.c").write_text(TICKETS)
    (folder / "negotiate.py").write_text(NEGOTIATE)
    library = folder / "tickets" / "libgssapi_krb5.so.2"
    library.parent.mkdir()
    subprocess.run(["cc", "-shared", "-fPIC", folder / "tickets.c", "-o", library], check=True)
    env = {**os.environ, "PYTHONPATH": str(folder / "site"), "CURL_CA_BUNDLE": str(servers.certificate)}
    env.update(LD_LIBRARY_PATH=str(library.parent))
    command = [sys.executable, str(folder / "negotiate.py"), servers.sign_in]
    subprocess.run(command, env=env, cwd=folder, check=True)
    sent = [headers.get("Authorization") for path, headers in servers.requests if path == "/sign-in"]
    print("sent by Negotiate: %s" % sent)
    expect("Negotiate dGlja2V0" in sent, "the ticket is sent")


def beside_others(wheel: Path, servers: Servers, folder: Path) -> None:
    """One process with pycurl, requests and PIL, which bring other copies of the same libraries."""
    python = folder / "venv" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    others = ["pycurl", "requests", "pillow"]
    subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", str(wheel), *others],
        check=True,
    )
    (folder / "beside.py").write_text(BESIDE)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUTHATCH", "PYTHON"))}
    orders = ["nuthatch,pycurl,requests,PIL", "PIL,requests,pycurl,nuthatch", "pycurl,nuthatch,PIL,requests"]
    for order in orders:
        command = [
            str(python),
            str(folder / "beside.py"),
            order,
            servers.https,
            str(servers.certificate),
            servers.http,
        ]
        subprocess.run(command, env=env, cwd=folder, check=True)


def main() -> int:
    reason = why_not()
    if reason:
        print("make packages: no bare system can be made here: %s" % reason, file=sys.stderr)
        return 1
    begin, passed = time.monotonic(), 0
    (wheel,) = (ROOT / "dist").glob("nuthatch-*-manylinux_*.whl")
    expect(len(PICTURE) > 0, "a picture")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        servers = Servers(folder)
        try:
            is_manylinux(wheel)
            with_each_python(wheel, servers, folder)
            with_a_ticket(servers, folder)
            beside_others(wheel, servers, folder)
            passed += 4
            for suite in SUITES:
                try:
                    bare = Bare(OUT / "bare-wheel", suite)
                except subprocess.CalledProcessError:
                    # Each release can be had for some years only, and sid is broken at times.
                    expect(suite != SUITES[0], "a bare system")
                    print("SKIPPED: no bare system of Debian's %s can be had" % suite)
                    continue
                in_a_bare_system(bare, suite == SUITES[0], wheel, servers)
                passed += 1
        finally:
            servers.stop()
    print("\n%.0f s\n%d passed, 0 failed" % (time.monotonic() - begin, passed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
