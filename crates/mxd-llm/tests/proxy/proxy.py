"""A LiteLLM proxy that lives as long as its standard input: whatever becomes of the test, the proxy ends with it.

Usage: proxy.py [ARGUMENTS OF litellm]
"""

import os
import signal
import sys
import threading

from litellm.proxy.proxy_cli import run_server


def end_with_the_input():
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


threading.Thread(target=end_with_the_input, daemon=True).start()
run_server()
