/** `tollgate can-i` over a console that runs, and the tools that editors and agents ask it by. */
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { standardInput } from '../../../../scripts/cli/mcp.ts';
import { aJob, consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { serveConsole } from '../../../functions/console/served-console.ts';
import { policyDocument } from '../../../policies/documents.ts';
import { aProject, runDesk } from '../desk-run.ts';

const RULES = [{ id: 'budgets', kind: 'budget', mode: 'enforce' }];

async function opened(disclose = 'all') {
  const policy = { rules: RULES, disclose: { default: disclose } };
  const house = consoleHouse({ policy });
  await house.apply(LIMITS);
  await house.ask([aJob(4711)]);
  const { url, tokenOf } = await serveConsole(house);
  const root = aProject({
    'policies/policy.yaml': JSON.stringify(policyDocument(policy)),
    'policies/limits.yaml': '{}',
    'policies/directory.yaml': '{}',
  });
  const env = (projectId: number) => ({ TOLLGATE_ID_TOKEN: tokenOf(projectId), XDG_CONFIG_HOME: root });
  const canI = (projectId: number, ...args: string[]) =>
    runDesk(['can-i', ...args, '--console', url], root, { env: env(projectId), columns: 100 });
  const tool = async (projectId: number, name: string, given: object) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const input = Readable.from([`${JSON.stringify(call)}\n`]);
    const standIns = new Map([[standardInput, () => input]]);
    const { out } = await runDesk(['mcp', '--console', url], root, { env: env(projectId), standIns });
    const { content, isError } = JSON.parse(out).result;
    return { text: content[0].text as string, isError };
  };
  return { ...house, url, root, canI, tool };
}

test('a job asks whether another may start, with the limits that are in force at the console', async () => {
  const { canI, counts } = await opened();
  const yes = await canI(1, '--minutes', '20', '--image', 'alpine:3.22');
  expect(yes, yes.err).toMatchObject({ code: 0 });
  expect(yes.out).toMatch(
    /^Yes: would be admitted; about 2\.00 EUR, 20 min on small, acme\/payments\/cards\/api\.\n/,
  );
  expect(yes.out).toMatch(
    /money-month of acme\/payments\/cards: asks 2\.00, left 2\.00 of 3\.00 EUR for November 2026/,
  );
  counts('group/104', 'money-month', '2026-11', 2_999_999);
  const no = await canI(1, '--minutes', '20');
  expect(no.code).toBe(2);
  expect(no.out).toMatch(/^No: would be rejected;[\s\S]*budgets: \[BUDGET_EXHAUSTED\]/);
});

test('a made-up job stands where the console knows it, and nowhere else', async () => {
  const { canI } = await opened();
  expect((await canI(1, '--project', 'acme/payments/cards/api')).code).toBe(0);
  expect((await canI(1, '--project', '1', '--minutes', '5', '--json')).code).toBe(0);
  expect((await canI(1, '--project', 'beta/ops/tools')).code).toBe(3);
  expect((await canI(1, '--group', 'acme')).code).toBe(3);
  expect((await canI(1, '--now', '2026-12-01')).code).toBe(3);
});

test('a job once more is asked of a console', async () => {
  const { canI, root } = await opened();
  const again = await canI(1, '--rerun', 'https://gitlab.example.com/acme/payments/cards/api/-/jobs/4711');
  expect(again, again.err).toMatchObject({ code: 0 });
  expect(again.out).toContain('Yes: would be admitted; about 1.00 EUR');
  expect((await canI(2, '--rerun', '4711')).code).toBe(3);
  expect((await canI(1, '--rerun', 'latest')).code).toBe(3);
  expect((await runDesk(['can-i', '--rerun', '4711'], root)).err).toContain(
    'expected --ledger, --console <url>',
  );
});

test('an agent is told whether it can afford a rerun, and what is left before it', async () => {
  const { tool, counts } = await opened();
  const yes = await tool(1, 'can_i_afford_rerun', { job: 4711 });
  expect(yes.isError).toBe(false);
  expect(yes.text).toMatch(
    /^Yes: would be admitted; about 1\.00 EUR, 10 min on small, acme\/payments\/cards\/api\.\n/,
  );
  expect(yes.text).toMatch(
    /money-month of acme\/payments\/cards: asks 1\.00, left 2\.00 of 3\.00 EUR for November 2026/,
  );
  counts('group/104', 'money-month', '2026-11', 2_500_000);
  const no = await tool(1, 'can_i_afford_rerun', { job: 4711 });
  expect(no.text).toMatch(/^No: would be rejected;[\s\S]*\[BUDGET_EXHAUSTED\]/);
  expect(await tool(2, 'can_i_afford_rerun', { job: 4711 })).toMatchObject({ isError: true });
  expect((await tool(1, 'explain_job', { job: 4711 })).text).toMatch(/^Job 4711 "unit": admitted/);
  expect((await tool(1, 'would_job_start', { minutes: '6' })).text).toMatch(/^No: would be rejected/);
});
