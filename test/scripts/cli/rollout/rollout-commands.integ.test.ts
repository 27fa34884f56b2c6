import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { systemClock } from '../../../../functions/core/environment/environment.ts';
import { createLedger } from '../../../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../../../functions/core/ledger/dynamo-store.ts';
import { DynamoLimitTable } from '../../../../functions/core/limits/dynamo-limit-table.ts';
import { LimitStore } from '../../../../functions/core/limits/limit-store.ts';
import { dynamoTable } from '../../../../functions/core/store/sdk-table.ts';
import { rolloutModes, rolloutPlaceOf } from '../../../../policies/rollout.ts';
import { ensureTable } from '../../../../scripts/local/dynamodb-local.ts';
import { aPolicy, policyDocument, someLimits } from '../../../policies/documents.ts';
import { anAsk, claim } from '../../../support/ledger/asks.ts';
import { patientClient } from '../../../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../../../support/ledger/shared-dynamodb.ts';
import { aProject } from '../desk-run.ts';

const TABLE = 'tollgate-rollout';
const INSTANCE = 'gitlab.example.com';
const bin = fileURLToPath(new URL('../../../../scripts/tollgate.mjs', import.meta.url));

test('the commands as people call them, on a real table: back, out, list, report, next; jobs are decided by it', async () => {
  const root = aProject({
    'policy.yaml': JSON.stringify(policyDocument()),
    'directory.yaml': JSON.stringify({
      groups: [{ id: 100, path: 'acme' }],
      projects: [{ id: 7, group: 100, path: 'acme/site' }],
    }),
    'limits.yaml': JSON.stringify({ limits: [{ on: { group: 100 }, money: 50, per: 'once' }] }),
  });
  const endpoint = sharedDynamoDb();
  const client = patientClient(endpoint);
  try {
    await ensureTable(client, TABLE);
    const parts = {
      table: dynamoTable(client, TABLE),
      instance: INSTANCE,
      clock: systemClock,
      random: Math.random,
    };
    const ledger = createLedger({ store: new DynamoStore(parts) });
    await ledger.hold(
      [anAsk(1, [claim('group/100', 10_000_000, 50_000_000)])],
      systemClock.monotonicMs() + 300_000,
    );
    const run = (...args: string[]) => {
      const files = ['policy', 'limits', 'directory'].flatMap((name) => [
        `--${name}`,
        join(root, `${name}.yaml`),
      ]);
      const table = ['--ledger', TABLE, '--instance', INSTANCE, '--endpoint', endpoint];
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [bin, 'rollout', ...args, ...files, ...table],
        {
          cwd: root,
          encoding: 'utf8',
          env: { ...process.env, NO_COLOR: '1', AWS_REGION: 'eu-central-1' },
        },
      );
      return { code: status, out: stdout, err: stderr };
    };
    const why = ['--reason', 'x', '--actor', 'ann'];

    const first = run('back', 'instance', '--to', 'shadow', ...why);
    expect(first).toMatchObject({ code: 1, out: '' });
    expect(first.err).toContain('--base none');
    expect(run('back', 'instance', '--to', 'shadow', '--base', 'none', ...why)).toMatchObject({
      code: 0,
      err: '',
    });
    expect(run('back', 'acme/site', '--to', 'off', ...why)).toMatchObject({ code: 0, err: '' });
    const unsent = run('report', 'acme');
    expect(unsent.code).toBe(2);
    expect(unsent.out).toContain('CI limits of acme: what would have failed');
    expect(run('report', 'acme', '--told', ...why)).toMatchObject({ code: 0, err: '' });
    expect(run('next', 'acme', ...why).code).toBe(2);
    expect(run('next', 'acme', '--force', ...why)).toMatchObject({ code: 0, err: '' });
    const { rows } = JSON.parse(run('ls', '--json').out);
    const steps = rows.map(({ path, classes }: { path: string; classes: { step: string }[] }) =>
      [path, ...classes.map(({ step }) => step)].join(' '),
    );
    expect(steps).toEqual(['The whole GitLab shadow shadow', 'acme warn warn', 'acme/site off off']);

    const policy = aPolicy();
    const store = new LimitStore({
      table: new DynamoLimitTable(parts),
      policy,
      packed: someLimits({}, policy),
      clock: systemClock,
      previous: async () => [],
      log: { info: () => {}, warn: () => {}, error: () => {} },
    });
    const limits = await store.limitsFor(['group/100', 'project/7']);
    const modeOf = (projectId: number) => rolloutModes({ ancestors: [{ id: 100 }], projectId }, limits).cost;
    expect([modeOf(7), modeOf(8)]).toEqual(['off', 'warn']);
    expect(rolloutModes(rolloutPlaceOf('group/555', undefined), limits).cost).toBe('shadow');
  } finally {
    client.destroy();
  }
});
