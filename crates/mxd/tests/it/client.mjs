// The TypeScript SDK as a client of `mxd mcp`: given how to greet, the program, and the folder to work in.
import assert from 'node:assert/strict';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [mode, command, cwd] = process.argv.slice(-3);
const versionNegotiation = { mode: mode === 'legacy' || mode === 'auto' ? mode : { pin: mode } };
const client = new Client({ name: 'a test', version: '1.0.0' }, { versionNegotiation });
await client.connect(new StdioClientTransport({ command, args: ['mcp'], cwd }));

const words = (result) => result.content.filter((block) => block.type === 'text').map((block) => block.text).join('\n');
const call = (name, given, options) => client.callTool({ name, arguments: given }, options);

const tools = Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool]));
assert.deepEqual(Object.keys(tools).sort(), [
  'background', 'bash', 'edit_file', 'list_files', 'read_file', 'search', 'write_file',
]);
assert.equal(tools.search.annotations.readOnlyHint, true);
assert.equal(tools.write_file.annotations.readOnlyHint, false);

assert.notEqual((await call('write_file', { path: 'note.txt', content: 'one\ntwo\n' })).isError, true);
assert.match(words(await call('read_file', { path: 'note.txt' })), /two/);
assert.match(words(await call('search', { pattern: 'tw.' })), /note\.txt/);
assert.match(words(await call('bash', { command: 'cat note.txt; mkfifo gate' })), /one\ntwo/);
const missing = await call('read_file', { path: 'nowhere.txt' });
assert.equal(missing.isError, true);
assert.match(words(missing), /nowhere\.txt/);
const failed = await call('bash', { command: 'exit 3' });
assert.equal(failed.isError, true);
assert.match(words(failed), /exit code: 3/);
await assert.rejects(call('no_such_tool', {}));

// Two calls at once: each waits for the other.
await Promise.all([call('bash', { command: 'read line < gate' }), call('bash', { command: 'echo go > gate' })]);

// A call that is cancelled ends with what it started: only then is the lock free.
const cancel = new AbortController();
const hold = 'exec 3>lock; flock 3; echo started; exec tail -f /dev/null';
const onprogress = ({ message }) => message?.includes('started') && cancel.abort('not needed any more');
await assert.rejects(call('bash', { command: hold }, { signal: cancel.signal, onprogress }));
assert.match(words(await call('bash', { command: 'flock lock echo free' })), /free/);

await client.close();
console.log('all is well');
