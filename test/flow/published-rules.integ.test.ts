/** Rules published by the command line, followed by an admit function and a relay on one DynamoDB. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { ADMISSIONS_PATH } from '../../functions/core/contract/admissions.ts';
import { silentLog, systemClock } from '../../functions/core/environment/environment.ts';
import { createLedger } from '../../functions/core/ledger/create-ledger.ts';
import { DynamoStore } from '../../functions/core/ledger/dynamo-store.ts';
import { dynamoInstanceRegister } from '../../functions/core/ledger/instances.ts';
import { deployedRules } from '../../functions/core/rules.ts';
import { changeItem } from '../../functions/core/store/calls.ts';
import { ledgerKeys } from '../../functions/core/store/keys.ts';
import { type ItemTable, TimeLimit } from '../../functions/core/store/operation.ts';
import { dynamoTable } from '../../functions/core/store/sdk-table.ts';
import { createLivePolicy } from '../../relay/live-policy.ts';
import { packRules } from '../../scripts/build/pack-rules.ts';
import { INLINE_URL, inlineFetch } from '../../scripts/local/admit.ts';
import { handClock } from '../../scripts/local/clock.ts';
import { ensureTable } from '../../scripts/local/dynamodb-local.ts';
import { readPolicy } from '../../scripts/policy/read-documents.ts';
import { NOW_MS } from '../policies/documents.ts';
import { type DeskRun, runDesk } from '../scripts/cli/desk-run.ts';
import { POLICY, project } from '../scripts/cli/policy/documents.ts';
import { patientClient } from '../support/ledger/patient-client.ts';
import { sharedDynamoDb } from '../support/ledger/shared-dynamodb.ts';

const TABLE = 'published-rules';
const endpoint = sharedDynamoDb();
const client = patientClient(endpoint);
const SHORT = `${POLICY}  - { id: short, kind: timeout, mode: enforce, on_missing: skip, max: 1h }\n`;
let instances = 0;
let instance = '';
let nowMs = NOW_MS;

beforeAll(() => ensureTable(client, TABLE));
beforeEach(async () => {
  instances += 1;
  nowMs = NOW_MS;
  instance = `gitlab-${instances}.example.com`;
  const register = dynamoInstanceRegister({ table: dynamoTable(client, TABLE) });
  await register.remember({ instance, openedAtMs: NOW_MS });
});

const publish = (policy: string, ...more: readonly string[]): Promise<DeskRun> => {
  const actor = more.includes('--actor') ? [] : ['--actor', 'anna'];
  const flags = ['--ledger', TABLE, '--endpoint', endpoint, '--instance', instance, ...actor, ...more];
  const root = project({ 'policies/policy.yaml': policy });
  return runDesk(['policy', 'publish', ...flags], root, { nowMs: () => nowMs });
};
const hashIn = ({ out }: DeskRun): string => /rules ([0-9a-f]{12})/.exec(out)?.[1] ?? out;

/** An admit function whose bundle has the policy of the project, and a relay whose image has it, too. */
function deployment({ isDown } = { isDown: false }) {
  const root = project();
  const rulesFile = join(root, 'rules.json');
  writeFileSync(
    rulesFile,
    JSON.stringify(packRules({ folder: `${root}policies`, force: false, nowMs: NOW_MS })),
  );
  const state = { passedMs: 0, isDown, jobId: 0 };
  const clock = { nowMs: () => NOW_MS, monotonicMs: () => state.passedMs, sleep: systemClock.sleep };
  const own = dynamoTable(client, TABLE);
  const send: ItemTable['send'] = async (...call) => {
    if (state.isDown) throw new Error('down');
    return own.send(...call);
  };
  const errors: string[] = [];
  const behindSeconds: number[] = [];
  const metrics = { add: (_: unknown, seconds: number) => behindSeconds.push(seconds), flush: () => {} };
  const table = { table: { ...own, send }, instance, clock, random: Math.random, metrics };
  const ledger = createLedger({ store: new DynamoStore(table), clock });
  const log = { ...silentLog, error: (message: string) => errors.push(message) };
  const { rulesFor, handOutPolicy } = deployedRules({ rulesFile, table, ledger, log });
  const admit = inlineFetch({ ledger, clock, log: silentLog, currentRules: rulesFor, handOutPolicy });
  const relayClock = handClock(NOW_MS);
  const relayBehindMs: number[] = [];
  const relay = createLivePolicy({
    ...{ baseUrl: INLINE_URL, fetch: admit, clock: relayClock },
    bundled: readPolicy(join(root, 'policies/policy.yaml')),
    build: (policy) => ({ policy }),
    observe: (event) => event.type === 'rules' && relayBehindMs.push(event.behindMs),
  });
  return {
    ...{ state, errors, behindSeconds, relay, relayBehindMs },
    /** A job of two hours, asked after the pointer has become old. */
    async decide(afterMs = 5_000): Promise<string> {
      state.passedMs += afterMs;
      relayClock.advance(afterMs);
      state.jobId += 1;
      const place = { projectId: 1001, namespaceId: 101, rootNamespaceId: 100 };
      const requests = [{ jobId: state.jobId, ...place, image: 'alpine:3', timeoutSeconds: 7_200 }];
      const body = JSON.stringify({ requests, remainingMs: 60_000 });
      const response = await admit(`${INLINE_URL}${ADMISSIONS_PATH}`, { method: 'POST', body });
      const { decisions, policy } = JSON.parse(await response.text());
      relay.heard(policy);
      return decisions[0].outcome;
    },
    relayHas: (rule: string) => relay.current().policy?.rules.some(({ id }) => id === rule),
  };
}

test('the next admission decides by rules that were published, and by the earlier ones after going back', async () => {
  const { decide, behindSeconds } = deployment();
  expect(await decide()).toBe('admitted');
  const first = hashIn(await publish(POLICY));
  nowMs += 60_000;
  const preview = await publish(SHORT, '--dry-run');
  for (const part of ['rules.short', '1 recorded jobs', '1 would newly be rejected', 'Nothing was written.'])
    expect(preview.out).toContain(part);
  const second = hashIn(await publish(SHORT));
  expect(await decide()).toBe('rejected');
  expect((await publish('', '--list')).out).toMatch(new RegExp(`${second}.*anna.*current`));
  expect((await publish('', '--version', first)).code).toBe(0);
  expect(await decide()).toBe('admitted');
  expect(behindSeconds).toEqual([]);
});

test('of two publishers one is first, and the other learns who it was', async () => {
  await publish(POLICY);
  const runs = await Promise.all([publish(SHORT, '--actor', 'berta'), publish(SHORT, '--actor', 'carl')]);
  const lost = runs.find(({ code }) => code === 2);
  const winner = runs[0]?.code === 0 ? 'berta' : 'carl';
  expect(runs.map(({ code }) => code).sort()).toEqual([0, 2]);
  expect(lost?.err).toMatch(new RegExp(`${winner} published rules [0-9a-f]{12} at 21 Nov 2026 12:00 UTC`));
});

test('invalid documents and a lockout are refused, and nothing is written', async () => {
  const wrong = POLICY.replace('kind: budget', 'kind: bugdet').replace('tags: fixed', 'tags: fixd');
  expect(await publish(wrong)).toMatchObject({ code: 3, err: expect.stringMatching(/bugdet[\s\S]*fixd/) });
  const closed = POLICY.replace('allow: ["alpine:*",', 'binds_platform: true, allow: [');
  const err = expect.stringMatching(/rule images would reject group acme\/platform.*--force/);
  expect(await publish(closed)).toMatchObject({ code: 3, err });
  expect((await publish('', '--list')).out).toContain('Nothing has been published');
});

test('a version whose content was changed stays out of use, is logged once, and raises the alarm', async () => {
  const { decide, errors, behindSeconds } = deployment();
  await publish(POLICY);
  await decide();
  const { hash } = JSON.parse((await publish(SHORT, '--json')).out);
  const key = ledgerKeys(instance).rulesVersion(hash);
  await changeItem(
    dynamoTable(client, TABLE),
    key,
    { b: { B: new Uint8Array([1]) } },
    new TimeLimit(300_000),
  );
  expect([await decide(), await decide(600_000)]).toEqual(['admitted', 'admitted']);
  expect(errors).toEqual(['rules not loaded']);
  expect(behindSeconds).toEqual([0, 600]);
  expect((await publish(SHORT)).code).toBe(0);
  expect(await decide()).toBe('rejected');
});

test('a relay uses the copy of its image without the table, and follows when it is back and when rules change', async () => {
  const { state, decide, relay, relayBehindMs, relayHas } = deployment({ isDown: true });
  await publish(SHORT);
  await relay.load();
  expect([relayHas('images'), relayHas('short')]).toEqual([true, false]);
  state.isDown = false;
  await decide();
  await expect.poll(() => relayHas('short')).toBe(true);
  await publish(POLICY);
  await decide();
  await expect.poll(() => relayHas('short')).toBe(false);
  expect(relayBehindMs).toEqual([0, 0, 0]);
});
