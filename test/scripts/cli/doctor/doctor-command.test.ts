import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dynamoRecountOutcomes } from '../../../../functions/core/ledger/recount-outcome.ts';
import { itemAt, putItem } from '../../../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../../../functions/core/store/keys.ts';
import { MemoryTable } from '../../../../functions/core/store/memory-table.ts';
import { TimeLimit } from '../../../../functions/core/store/operation.ts';
import * as names from '../../../../functions/names.ts';
import { doctorCommandOn } from '../../../../scripts/cli/doctor/doctor-command.ts';
import type { CommandEntry } from '../../../../scripts/terminal/command.ts';
import { NOW_MS } from '../../../policies/documents.ts';
import { fakeRunnerControllers } from '../../../support/fake-runner-controllers.ts';
import { aProject, runDesk } from '../desk-run.ts';

const INSTANCE = 'gitlab.example.com';

function aDeployment() {
  const table = new MemoryTable();
  const gitlab = fakeRunnerControllers([
    { id: 7, description: 'tollgate', state: 'enabled', connected: true },
  ]);
  let closed = 0;
  const command = doctorCommandOn({
    open: async () => ({
      table,
      instance: INSTANCE,
      description: 'table tollgate-ledger',
      close: async () => {
        closed += 1;
      },
    }),
    fetch: async (...request) => {
      const answer = await gitlab.deps.fetch(...request);
      answer.headers.set('date', new Date(NOW_MS).toUTCString());
      return answer;
    },
  });
  const entries: readonly CommandEntry[] = [
    { name: command.name, summary: command.summary, load: async () => command },
  ];
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
    recount: dynamoRecountOutcomes({ table, instance: INSTANCE }),
    run: (...flags: readonly string[]) => runDesk(['doctor', ...flags], root, {}, entries),
    closed: () => closed,
  };
}

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
  expect(out + err).not.toContain('glpat-administrator');
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
  });
});

test('a GitLab that does not answer is unknown, and books of another one are refused', async () => {
  const { run } = aDeployment();
  const { out } = await run(...ASKING, '--controller', '8');
  expect(out).toMatch(/^unknown {2}controller +.*\/runner_controllers\/8/m);
  const other = await run('--gitlab', 'https://git.other.test', '--token-file', 'token');
  expect(other.code).toBe(3);
  expect(other.err).toContain('table tollgate-ledger is about gitlab.example.com');
});
