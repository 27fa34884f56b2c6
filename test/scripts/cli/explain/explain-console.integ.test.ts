/** `tollgate explain` over a console that runs, by a job's token. */
import { expect, test } from 'vitest';
import { aJob, consoleHouse, LIMITS } from '../../../functions/console/house.ts';
import { serveConsole } from '../../../functions/console/served-console.ts';
import { aProject, runDesk } from '../desk-run.ts';

const RULES = [{ id: 'budgets', kind: 'budget', mode: 'enforce' }];

async function opened() {
  const house = consoleHouse({ policy: { rules: RULES, disclose: { default: 'binding' } } });
  await house.apply([
    ...LIMITS,
    { kind: 'set', subject: 'project/1', unit: 'money', amount: 1, per: 'month' },
  ]);
  await house.ask([aJob(4711), aJob(4712)]);
  const { url, tokenOf } = await serveConsole(house);
  const home = aProject();
  const asJob = (projectId: number, ...args: string[]) =>
    runDesk(args, home, {
      env: { TOLLGATE_ID_TOKEN: tokenOf(projectId), XDG_CONFIG_HOME: home },
      columns: 100,
    });
  return { url, home, asJob };
}

test('a job is told why another of its project was rejected, and what it may know of the limits', async () => {
  const { url, asJob } = await opened();
  const { code, out, err } = await asJob(1, 'explain', '4712', '--console', url);
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^Job 4712 "unit": rejected, decision d-4712-1\n/);
  expect(out).toContain('Reasons and remedies');
  expect(out).toMatch(/acme\/payments\/cards\/api money-month 2026-11 +then .*1\.00 EUR/);
  expect(out).toContain('more, of groups whose figures are not yours to see.');
  expect(out).not.toMatch(/acme\/payments {2}|900\.00|500\.00/);
  const json = JSON.parse((await asJob(1, 'explain', '4712', '--console', url, '--json')).out);
  expect(json).toMatchObject({ jobId: 4712, outcome: 'rejected', now: { outcome: 'rejected' } });
});
