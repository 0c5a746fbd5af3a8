"""What is loaded when somebody needs it: the modules of the standard library that few use are half of what loading
the package would cost."""

import os
import threading

#: Held while a module is loaded. A child that was forked meanwhile would wait for ever for the thread that loads it.
loading = threading.RLock()

os.register_at_fork(before=loading.acquire, after_in_parent=loading.release, after_in_child=loading.release)
