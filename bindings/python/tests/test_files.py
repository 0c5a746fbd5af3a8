"""`file:` URLs, which are read only where the cache says so."""

from pathlib import Path

import nuthatch
import pytest


def test_files_are_read_where_the_cache_says_so(cache: nuthatch.Cache, tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("seeds")
    url = (tmp_path / "seeds.txt").as_uri()
    with pytest.raises(nuthatch.Denied, match="allow_files"):
        cache.get(url)
    with nuthatch.Cache(tmp_path / "cache", allow_files=True) as open_to_files:
        assert open_to_files.get(url).text == "seeds"
