"""The Python SDK as a client of `mxd mcp`: client.py MODE PROGRAM [ARGUMENT]..., in the folder it works in."""

import sys

import anyio
from mcp import Client, StdioServerParameters


def words(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def main(mode, program, *arguments):
    server = StdioServerParameters(command=program, args=list(arguments), cwd=".")
    async with Client(server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"bash", "background", "read_file", "write_file", "edit_file", "list_files", "search"} == set(tools)
        assert tools["read_file"].annotations.read_only_hint is True
        assert tools["bash"].annotations.destructive_hint is True

        async def call(name, **arguments):
            return await client.call_tool(name, arguments)

        assert not (await call("write_file", path="note.txt", content="one\ntwo\n")).is_error
        assert "two" in words(await call("read_file", path="note.txt"))
        assert "note.txt" in words(await call("search", pattern="tw."))
        assert "one\ntwo" in words(await call("bash", command="cat note.txt; mkfifo gate"))
        missing = await call("read_file", path="nowhere.txt")
        assert missing.is_error and "nowhere.txt" in words(missing)
        misfit = await call("bash", command="")
        assert misfit.is_error and "/command" in words(misfit)
        failed = await call("bash", command="exit 3")
        assert failed.is_error and "exit code: 3" in words(failed)

        # Two calls at once: each waits for the other.
        async with anyio.create_task_group() as both:
            both.start_soon(lambda: call("bash", command="read line < gate"))
            both.start_soon(lambda: call("bash", command="echo go > gate"))

        # A call that is cancelled ends with what it started: only then is the lock free.
        async with anyio.create_task_group() as group:
            async def started(progress, total, message):
                if "started" in (message or ""):
                    group.cancel_scope.cancel()

            hold = "exec 3>lock; flock 3; echo started; exec tail -f /dev/null"
            await client.call_tool("bash", {"command": hold}, progress_callback=started)
        assert "free" in words(await call("bash", command="flock lock echo free"))
    print("all is well")


anyio.run(main, *sys.argv[1:])
