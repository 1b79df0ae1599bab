"""A token from its source to the chain, told by the official MCP client: compile, test, deploy, call, look up."""

import asyncio
import os
import pathlib
import sys

from mcp import Client, StdioServerParameters

PROGRAM, MODE, DATA, HERE = sys.argv[1:5]
SUPPLY = 1000 * 10**18
FRIEND = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


def sources(*names):
    return {name: (pathlib.Path(HERE) / "contracts" / name).read_text() for name in names}


async def hostile(call):
    failed, content, _ = await call("tachyon_test", sources=sources("Token.sol", "Hostile.t.sol"))
    verdicts = {case["name"]: case["status"] for case in content["data"]["suites"][0]["cases"]}
    assert failed and verdicts == {
        "test_env()": "unsupported",
        "test_ffi()": "unsupported",
        "test_fails()": "failed",
        "test_file()": "unsupported",
        "test_forever()": "failed",
        "test_memory()": "failed",
        "test_rpc()": "unsupported",
        "testFuzz_fails(uint256)": "failed",
    }, verdicts


async def story(client):
    async def call(tool, **arguments):
        steps = []

        async def progress(done, total, message):
            steps.append(message)

        result = await client.call_tool(tool, arguments, progress_callback=progress)
        return result.is_error, result.structured_content, steps

    async def done(tool, **arguments):
        failed, content, _ = await call(tool, **arguments)
        assert not failed and content["ok"], content
        return content["data"]

    tools = (await client.list_tools()).tools
    assert len(tools) == 9, tools
    compiled = await done("tachyon_compile", sources=sources("Token.sol"))
    (token,) = compiled["artifacts"]
    assert token["compiler"]["version"].startswith("0.8.30"), token["compiler"]

    tested = await done("tachyon_test", sources=sources("Token.sol", "Token.t.sol"))
    assert (tested["passed"], tested["failed"], tested["unsupported"]) == (7, 0, 0), tested
    if MODE == "auto":
        await hostile(call)
    failed, content, _ = await call("tachyon_test", sources=sources("Token.sol"))
    assert failed and content["error"]["code"] == "TEST_FORGE_FAILED", content

    order = dict(
        idempotency_key=f"story-{MODE}", chain_id="dev", contract="Token", project_id=compiled["project_id"],
        constructor_args=[str(SUPPLY)],
    )
    failed, content, steps = await call("tachyon_deploy", **order)
    assert not failed, content
    assert "simulating" in steps and "reserving" in steps, steps
    address = content["data"]["address"]
    assert (await done("tachyon_deploy", **order))["existing"] is True

    sent = await done("tachyon_call", to=address, method="transfer", args=[FRIEND, "12345678901234567890"])
    assert sent["sent"] and sent["events"][0]["event"] == "Transfer(address,address,uint256)", sent
    held = await done("tachyon_call", to=address, method="balanceOf", args=[FRIEND])
    assert held["decoded"][0]["value"] == "12345678901234567890", held
    failed, content, _ = await call("tachyon_call", to=address, method="mint", args=[FRIEND, 1], **{"from": "dev1"})
    assert failed and content["error"]["details"]["revert"]["kind"] == "custom", content
    assert "OwnableUnauthorizedAccount" in content["error"]["message"], content

    found = await done("tachyon_registry_lookup", idempotency_key=f"story-{MODE}", chain_id=31337)
    assert found["confirmed"] and found["address"] == address, found
    got = await done("tachyon_artifact_get", name="Token")
    assert got["artifact_id"] == token["artifact_id"], got["artifact_id"]
    failed, content, _ = await call("tachyon_compile", sources={"A.sol": "pragma solidity ^0.8.0;\ncontract A { uint x = y; }"})
    (problem,) = [one for one in content["error"]["details"]["diagnostics"] if one["severity"] == "error"]
    assert (problem["file"], problem["line"], problem["column"]) == ("A.sol", 2, 23), problem


async def main():
    environment = {name: os.environ[name] for name in ("TACHYON_CONFIG", "PATH")}
    server = StdioServerParameters(command=PROGRAM, args=["--mcp", "--data", DATA], env=environment)
    async with Client(server, mode=MODE) as client:
        await story(client)
    print("compiled, tested, deployed, called, looked up")


asyncio.run(main())
