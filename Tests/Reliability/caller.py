"""Makes the call that each line of standard input names in JSON, and prints its result in JSON. For `versions.py`."""

import json
import sys
from typing import Any, Dict, Optional

import content
import nuthatch


def do(cache: Optional[nuthatch.Cache], told: Dict[str, Any]) -> Any:
    name, url = told["do"], told.get("url", "")
    if name == "get":
        response = cache.get(url, **told.get("options", {}))
        return {"digest": content.digest(response.body), "is_in_cache": response.is_in_cache}
    if name == "thumbnail":
        image = cache.thumbnail(url, told["size"], **told.get("options", {}))
        pixel, original = list(image.pixels.tobytes()[:3]), list(image.original_size)
        return {"is_in_cache": image.is_in_cache, "original": original, "pixel": pixel}
    if name == "remove":
        return cache.remove(url)
    raise ValueError(name)


def main() -> None:
    cache = None
    for line in sys.stdin:
        told = json.loads(line)
        try:
            if told["do"] == "open":
                cache = nuthatch.Cache(told["cache"], outbox="off", timeout=10)
                answer: Any = nuthatch.version() if hasattr(nuthatch, "version") else True
            elif told["do"] == "close":
                answer = cache.close() if cache else None
                cache = None
            else:
                answer = do(cache, told)
            print(json.dumps({"ok": True, "answer": answer}), flush=True)
        except nuthatch.Error as error:
            print(json.dumps({"ok": False, "code": error.code, "message": str(error)}), flush=True)


main()
