"""Execute notebooks, and fail where one does: ``python scripts/run_notebooks.py FILE...``.

They share one kernel, so that what one has imported and compiled is there for the next; variables
are not. Outputs are dropped.
"""

import sys
import time
from pathlib import Path

import nbformat
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient

paths = [Path(name).resolve() for name in sys.argv[1:]]
manager, kernel = start_new_kernel(cwd=str(paths[0].parent))
try:
    for path in paths:
        began = time.monotonic()
        kernel.execute_interactive("%reset -f")
        notebook = NotebookClient(nbformat.read(path, as_version=4), km=manager)
        notebook.kc = kernel
        notebook.execute(cleanup_kc=False)
        print(f"{path.name}: {time.monotonic() - began:.0f} s", flush=True)
finally:
    kernel.stop_channels()
    manager.shutdown_kernel(now=True)
