"""`file:` URLs are read only if the cache allows it."""

from pathlib import Path

import nuthatch
import pytest


def test_file_urls_are_read_only_with_allow_files(cache: nuthatch.Cache, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("seeds")
    url = (tmp_path / "seeds.txt").as_uri()
    with pytest.raises(nuthatch.Denied, match="allow_files"):
        cache.get(url)
    with nuthatch.Cache(tmp_path / "cache", allow_files=True) as open_to_files:
        assert open_to_files.get(url).text == "seeds"
