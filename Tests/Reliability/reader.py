"""Reads a cache without the network: `reader.py DIRECTORY URL…`. Prints the digests of the bodies.

Fails if one is not stored.
"""

import json
import sys

import content
import nuthatch

with nuthatch.Cache(sys.argv[1], policy="offline", outbox="off") as cache:
    rows = []
    for url in sys.argv[2:]:
        response = cache.get(url)
        image = cache.thumbnail(url, 16)
        assert cache.peek(url, 16, decode=True) is not None, url
        assert min(image.size) > 0, url
        rows.append(content.digest(response.body))
    assert cache.stats() is not None
print(json.dumps(rows))
