import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dynamoHealthCheck } from '../../../../functions/answers/health/read-health.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import * as names from '../../../../functions/names.ts';
import { openTableAccess } from '../../../../scripts/cli/open-ledger.ts';
import { aSetUp, INSTANCE, TOKEN } from '../../../functions/answers/health/set-up.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

const ASKING = ['--gitlab', `https://${INSTANCE}`, '--token-file', 'token'];

async function aDeployment(isStarted = true) {
  const setUp = await aSetUp();
  const table = isStarted ? setUp.table : new MemoryTable();
  let closed = 0;
  const open = async () => ({
    ...{ table, instance: INSTANCE, description: 'table tollgate-ledger' },
    close: async () => {
      closed += 1;
    },
  });
  const root = aProject();
  writeFileSync(join(root, 'token'), `${TOKEN}\n`);
  const run = (...flags: readonly string[]) =>
    runDesk(['doctor', ...flags], root, {
      ...surrounded({ fetch: setUp.fetch, more: [[openTableAccess, open]] }),
      nowMs: () => setUp.nowMs,
    });
  return { ...setUp, kept: dynamoHealthCheck({ table, instance: INSTANCE }), run, closed: () => closed };
}

test('a deployment that nobody started has one problem and says what is not known, with exit 2', async () => {
  const { run, closed } = await aDeployment(false);
  const { code, out } = await run();
  expect([code, closed()]).toEqual([2, 1]);
  expect(out).toMatch(/^problem {2}relays +no relay has sent a heartbeat/m);
  expect(out).toMatch(
    /^unknown {2}controller +GitLab was not asked: --gitlab <url> and --token-file <file>$/m,
  );
  expect(out).toContain('\nFound 1 problem.\n');
});

test('one that runs has none; GitLab is asked with a token that no line shows', async () => {
  const { run } = await aDeployment();
  const { code, out, err } = await run(...ASKING);
  expect(code).toBe(0);
  for (const line of [
    /^ok {7}relays +2 relays, 16 streams$/m,
    /^ok {7}controller +enabled: GitLab asks and obeys$/m,
    /^ok {7}clock of GitLab +agrees/m,
    /^ok {7}webhooks +each of 2 top-level groups sends/m,
    /^The hourly health check has not run yet\.$/m,
  ])
    expect(out).toMatch(line);
  expect(out + err).not.toContain(TOKEN);
});

test('--json has the findings that the text has; a controller that GitLab does not have is a problem', async () => {
  const { run, beat } = await aDeployment();
  await beat('b', { [names.HEARTBEAT_BREAKER]: { S: 'open' } });
  const { code, out } = await run('--json');
  expect(code).toBe(2);
  const { instance, problems, findings } = JSON.parse(out);
  expect({ instance, problems }).toEqual({ instance: INSTANCE, problems: 1 });
  expect(findings).toContainEqual({
    ...{
      about: 'relays',
      severity: 'problem',
      remedy: 'see FallbackShare in cdk/RUNBOOK.md',
      alarm: 'FallbackShare',
    },
    text: '1 relay answers without the admit function, which fails: b',
  });
  expect((await run(...ASKING, '--controller', '8')).out).toMatch(
    /^problem {2}controller +GitLab has no controller 8: it has 7 "tollgate" enabled$/m,
  );
});

test('the hourly health check is told with its age, and what it was deployed with is compared', async () => {
  const { run, beat, kept, nowMs } = await aDeployment();
  await beat('a', { [names.HEARTBEAT_POLICY]: { S: 'p0' } });
  const view = { checkedAtMs: nowMs - 40 * 60_000, problems: 2, findings: [] };
  await kept.write({ view, deployed: { policyVersion: 'p1', descriptorsVersion: '18.11' } });
  const { out } = await run(...ASKING);
  expect(out).toMatch(/^The hourly health check ran 40 minutes ago and found 2 problems\.$/m);
  expect(out).toMatch(/^warning {2}policy of the relays +a has p0, b has p1, the functions have p1$/m);
  expect(out).toMatch(/^warning {2}version of GitLab +19\.4\.0-ee, and the descriptors are of 18\.11/m);
  expect(JSON.parse((await run('--json')).out).hourly).toEqual(view);
  const late = { ...view, checkedAtMs: nowMs - 5 * 3_600_000, problems: 0 };
  await kept.write({ view: late, deployed: { policyVersion: undefined, descriptorsVersion: undefined } });
  expect((await run()).out).toMatch(
    /ran 300 minutes ago and found no problems, which is late: see HealthProblems/,
  );
});
