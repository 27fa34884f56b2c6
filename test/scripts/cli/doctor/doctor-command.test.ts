import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dynamoHealthLook } from '../../../../functions/answers/health/read-health.ts';
import { dynamoRecountOutcomes } from '../../../../functions/core/ledger/checkpoints.ts';
import { dynamoCanaryOutcomes } from '../../../../functions/core/ledger/controller.ts';
import { itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { TimeLimit } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import { openTableAccess } from '../../../../scripts/cli/open-ledger.ts';
import { createLocalGitLab } from '../../../../scripts/local/gitlab/local-gitlab.ts';
import { seededRandom } from '../../../../scripts/local/random.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { aProject, runDesk } from '../desk-run.ts';
import { surrounded } from '../stand-ins.ts';

const INSTANCE = 'gitlab.example.com';

function aDeployment() {
  const table = new MemoryTable();
  const gitlab = createLocalGitLab({
    random: seededRandom(1),
    token: 'glpat-administrator',
    controllers: [{ id: 7, description: 'tollgate', state: 'enabled', connected: true, instanceScope: true }],
    administration: { groups: [{ id: 10, path: 'acme' }] },
  });
  gitlab.controllerTokens.make(7, 'relays', NOW_MS - 86_400_000, () => 0.5);
  gitlab.groupHooks.make(10, { url: 'https://hooks.example.com/v1/gitlab/jobs/10', job_events: true });
  const look = dynamoHealthLook({ table, instance: INSTANCE });
  let closed = 0;
  const open = async () => ({
    ...{ table, instance: INSTANCE, description: 'table tollgate-ledger' },
    close: async () => {
      closed += 1;
    },
  });
  const answer: typeof fetch = async (...request) => {
    const response = await gitlab.fetch(...request);
    response.headers.set('date', new Date(NOW_MS).toUTCString());
    return response;
  };
  const root = aProject();
  writeFileSync(join(root, 'token'), 'glpat-administrator\n');
  const beat = (relayId: string, attributes: Record<string, { readonly S: string }> = {}) =>
    putItem(
      table,
      itemAt(
        { pk: ledgerKeys(INSTANCE).heartbeatPk, sk: relayId },
        {
          [names.HEARTBEAT_AT]: { N: String(NOW_MS - 20_000) },
          [names.HEARTBEAT_STREAMS]: { N: '8' },
          [names.HEARTBEAT_DIRECTORY_AGE]: { N: '60000' },
          [names.HEARTBEAT_SCHEMA]: { S: 'gitlab.binpb' },
          [names.HEARTBEAT_SCHEMA_HASH]: { S: 'aa' },
          [names.HEARTBEAT_SCHEMA_STANDING]: { S: 'proven' },
          ...attributes,
        },
      ),
      new TimeLimit(1_000),
    );
  return {
    beat,
    look,
    canary: dynamoCanaryOutcomes({ table, instance: INSTANCE }),
    recount: dynamoRecountOutcomes({ table, instance: INSTANCE }),
    run: (...flags: readonly string[]) =>
      runDesk(['doctor', ...flags], root, surrounded({ fetch: answer, more: [[openTableAccess, open]] })),
    closed: () => closed,
  };
}

const NOTHING = { policyVersion: undefined, descriptorsVersion: undefined };
const ASKING = ['--gitlab', `https://${INSTANCE}`, '--token-file', 'token'];

test('a deployment that nobody started has one problem and says what is not known, with exit 2', async () => {
  const { run, closed } = aDeployment();
  const { code, out } = await run();
  expect(code).toBe(2);
  expect(out).toMatch(/^problem {2}relays +no relay wrote a sign of life/m);
  expect(out).toMatch(
    /^unknown {2}controller +GitLab was not asked: --gitlab <url> and --token-file <file>$/m,
  );
  expect(out).toContain('\n1 problem found.\n');
  expect(closed()).toBe(1);
});

test('one that runs has none; GitLab is asked with a token that no line shows', async () => {
  const { run, beat, recount } = aDeployment();
  await beat('a');
  await beat('b');
  await recount.write({ recountedAtMs: NOW_MS - 3_600_000, drifting: [], unlisted: 0 });
  const { code, out, err } = await run(...ASKING);
  expect(code).toBe(0);
  expect(out).toMatch(/^ok {7}relays +2 relays, 16 streams$/m);
  expect(out).toMatch(/^ok {7}descriptors +proven by real questions$/m);
  expect(out).toMatch(/^ok {7}controller +enabled: GitLab asks and obeys$/m);
  expect(out).toMatch(/^ok {7}clock of GitLab +agrees/m);
  expect(out).toMatch(/^ok {7}access token +does not expire$/m);
  expect(out).toMatch(/^ok {7}webhooks +each of 1 top-level group sends/m);
  expect(out).toMatch(/^The hourly look has not run yet\.$/m);
  expect(out + err).not.toContain('glpat-administrator');
});

test('a canary holds until GitLab or the descriptors of the relays are others', async () => {
  const { run, beat, canary } = aDeployment();
  await beat('a');
  const line = async () => /^(\w+) +canary +(.*)$/m.exec((await run(...ASKING)).out)?.slice(1);
  expect(await line()).toEqual(['warning', expect.stringContaining('never proven')]);
  const proven = {
    ...{ checkedAtMs: NOW_MS - 72 * 3_600_000, runnerId: 9, descriptors: 'aa', gitlabVersion: '19.4.0-ee' },
    ...({ admitted: 'proven', rejected: 'proven' } as const),
  };
  await canary.write(proven);
  expect(await line()).toEqual([
    'ok',
    'both answers proven on GitLab 19.4.0-ee with descriptors aa, 3 days ago',
  ]);
  await canary.write({ ...proven, gitlabVersion: '19.3.1-ee' });
  expect(await line()).toEqual(['warning', expect.stringContaining('not proven since GitLab became 19.4.0')]);
  await canary.write({ ...proven, descriptors: 'bb' });
  expect(await line()).toEqual(['warning', expect.stringContaining('not proven with the descriptors aa')]);
});

test('--json has the findings that the text has', async () => {
  const { run, beat } = aDeployment();
  await beat('a');
  await beat('b', { [names.HEARTBEAT_BREAKER]: { S: 'open' } });
  const { code, out } = await run('--json');
  expect(code).toBe(2);
  const { instance, problems, findings } = JSON.parse(out);
  expect({ instance, problems }).toEqual({ instance: INSTANCE, problems: 1 });
  expect(findings).toContainEqual({
    about: 'relays',
    severity: 'problem',
    text: '1 relay answers without the admit function, which fails: b',
    remedy: 'runbook: FallbackShare',
    alarm: 'FallbackShare',
  });
});

test('the hourly look is told with its age, and what it was deployed with is compared', async () => {
  const { run, beat, look } = aDeployment();
  await beat('a', { [names.HEARTBEAT_POLICY]: { S: 'p0' } });
  const view = { checkedAtMs: NOW_MS - 40 * 60_000, problems: 2, findings: [] };
  await look.write({ view, deployed: { policyVersion: 'p1', descriptorsVersion: '18.11' } });
  const { out } = await run(...ASKING);
  expect(out).toMatch(/^The hourly look ran 40 minutes ago and found 2 problems\.$/m);
  expect(out).toMatch(/^warning {2}policy of the relays +a has p0, the functions have p1$/m);
  expect(out).toMatch(/^warning {2}version of GitLab +19\.4\.0-ee, and the descriptors are of 18\.11/m);
  expect(JSON.parse((await run('--json')).out).hourly).toEqual(view);
  await look.write({
    view: { ...view, checkedAtMs: NOW_MS - 5 * 3_600_000, problems: 0 },
    deployed: NOTHING,
  });
  expect((await run()).out).toMatch(/ran 300 minutes ago and found no problems, which is late: runbook/);
});

test('a controller that GitLab does not have is a problem', async () => {
  const { run } = aDeployment();
  const { out } = await run(...ASKING, '--controller', '8');
  expect(out).toMatch(/^problem {2}controller +GitLab has no controller 8: it has 7 "tollgate" enabled$/m);
});
