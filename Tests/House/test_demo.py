"""`make demo` with photographs if they are installed, and with generated pictures."""

import os
import re
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize("pictures", ["photographs", "generated"])
def test_make_demo_writes_a_report_and_a_transcript(pictures: str, root: Path, tmp_path: Path) -> None:
    if pictures == "photographs" and not Path("/usr/share/backgrounds/mate").is_dir():
        pytest.skip("no package with photographs is installed; make demo installs it where it can")
    out = tmp_path / "demo"
    env = {**os.environ, "NUTHATCH_DEMO_PICTURES": pictures}
    done = subprocess.run(
        [str(root / "Scripts/demo"), str(out)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    # The output ends with the path of the report.
    assert lines[-1].endswith(f": {out}/report.html")
    first, second = re.findall(r"^[\d,]+ URLs: .*", done.stdout, re.MULTILINE)[:2]
    assert "0 hits" in first and "5 failed" in first
    assert "0 fetched, 0 failed; 0 B" in second
    for reason in ["http", "not_an_image", "truncated", "refused", "bad_url"]:
        assert f" {reason} 1" in done.stdout, reason
    report = (out / "report.html").read_text()
    assert report.count("\tdata:image/") >= 8 and '"sizes":"96' in report
    assert len((out / "failed.txt").read_text().splitlines()) == 5
    assert ("generating pictures" in done.stderr) == (pictures == "generated")
