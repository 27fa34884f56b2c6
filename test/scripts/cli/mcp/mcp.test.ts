import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type CommandCall, mcpAnswer, mcpTools } from '../../../../scripts/cli/mcp.ts';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Tools over commands that answer this, and what those were called with. */
function bench(answer: Partial<Awaited<ReturnType<CommandCall>>>, books: readonly string[] = []) {
  const calls: (readonly string[])[] = [];
  const tools = mcpTools(async (args) => {
    calls.push(args);
    return { code: 0, out: '', err: '', ...answer };
  }, books);
  const ask = async (message: unknown) =>
    JSON.parse((await mcpAnswer(JSON.stringify(message), tools, '1')) ?? 'null');
  const tool = (name: string, given: object) =>
    ask({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } });
  return { calls, tools, ask, tool };
}

test.each([
  ['can_i_afford_rerun', { job: 4711 }, ['can-i', '--ledger=books', '--rerun=4711']],
  // What somebody types as a job or a group is never a flag.
  ['explain_job', { job: '-x' }, ['explain', '--ledger=books', '--', '-x']],
  ['budget_left', { group: '-x' }, ['budget', 'show', '--ledger=books', '--', '-x']],
  ['would_job_start', { minutes: '5' }, ['can-i', '--ledger=books', '--minutes=5']],
])(
  '%s answers with what its command prints for people, amounts with their currency',
  async (name, given, args) => {
    const { tool, calls } = bench({ out: 'Yes: about 0.25 EUR\n' }, ['--ledger=books']);
    const { result } = await tool(name, given);
    expect(result).toEqual({ content: [{ type: 'text', text: 'Yes: about 0.25 EUR' }], isError: false });
    expect(calls).toEqual([args]);
  },
);

test('a rejection is an answer; what a command refuses is an error in its own words', async () => {
  expect((await bench({ code: 2, out: '{}' }).tool('would_job_start', { minutes: '5' })).result.isError).toBe(
    false,
  );
  const { result } = await bench({ code: 3, err: 'no such group\n' }).tool('budget_left', { group: 'x' });
  expect(result).toEqual({ content: [{ type: 'text', text: 'no such group' }], isError: true });
});

test.each<[string, unknown, number, number | null]>([
  ['no JSON', 'nonsense', -32_700, null],
  ['another protocol', { id: 1, method: 'ping' }, -32_600, null],
  ['an unknown method', { jsonrpc: '2.0', id: 2, method: 'resources/list' }, -32_601, 2],
  ['an unknown tool', { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'rm' } }, -32_602, 3],
  [
    'a field that nobody asks for',
    {
      ...{ jsonrpc: '2.0', id: 5, method: 'tools/call' },
      params: { name: 'explain_job', arguments: { job: '1', ledger: 'x' } },
    },
    -32_602,
    5,
  ],
])('%s is refused as JSON-RPC says', async (_, message, code, id) => {
  const { tools } = bench({});
  const line = typeof message === 'string' ? message : JSON.stringify(message);
  expect(JSON.parse((await mcpAnswer(line, tools, '1')) ?? '')).toMatchObject({ id, error: { code } });
});

test('the program answers each line of its input on a line, prints nothing else, and ends with its input', () => {
  const messages = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-03-26' } },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list' },
    {
      jsonrpc: '2.0',
      id: 3,
      method: 'tools/call',
      params: { name: 'explain_job', arguments: { job: '-x' } },
    },
  ];
  const input = messages.map((each) => `${JSON.stringify(each)}\n`).join('');
  const args = [`${ROOT}scripts/cli/tollgate.ts`, 'mcp'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { input, encoding: 'utf8' });
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([status, stderr, answers.map(({ id }) => id)]).toEqual([0, '', [1, 2, 3]]);
  expect(answers[0].result.protocolVersion).toBe('2025-03-26');
  expect(answers[1].result.tools.map(({ name }: { name: string }) => name)).toContain('can_i_afford_rerun');
  expect(answers[2].result.isError).toBe(true);
});
