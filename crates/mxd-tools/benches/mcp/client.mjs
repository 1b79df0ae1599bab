// Calls a tool so often, one call after the other, and says how fast that was.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [server, calls] = [process.argv[2], Number(process.argv[3])];
const client = new Client({ name: "bench", version: "1" });
await client.connect(new StdioClientTransport({ command: server, args: ["good"] }));
const call = () => client.callTool({ name: "echo", arguments: { text: "hello" } });
await call();
const each = [];
const start = performance.now();
for (let done = 0; done < calls; done += 1) {
  const before = performance.now();
  await call();
  each.push(performance.now() - before);
}
const total = performance.now() - start;
each.sort((one, other) => one - other);
const p99 = each[Math.floor((each.length * 99) / 100)];
console.log(JSON.stringify({ per_second: (calls / total) * 1000, p99_us: p99 * 1000 }));
await client.close();
