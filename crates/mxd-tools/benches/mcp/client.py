"""Calls a tool so often, one call after the other, and says how fast that was."""

import asyncio
import json
import sys
import time

from mcp import Client, StdioServerParameters

SERVER, CALLS = sys.argv[1], int(sys.argv[2])


async def main():
    async with Client(StdioServerParameters(command=SERVER, args=["good"]), mode="legacy") as client:
        await client.call_tool("echo", {"text": "hello"})
        each = []
        start = time.perf_counter()
        for _ in range(CALLS):
            before = time.perf_counter()
            await client.call_tool("echo", {"text": "hello"})
            each.append(time.perf_counter() - before)
        total = time.perf_counter() - start
    each.sort()
    print(json.dumps({"per_second": CALLS / total, "p99_us": each[len(each) * 99 // 100] * 1e6}))


asyncio.run(main())
