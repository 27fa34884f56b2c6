/** What `npm start` shows, in memory: its rules, a past month of jobs, a closed month, and one edit of every kind. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { createConsoleRead } from '../../../functions/answers/create-console-read.ts';
import { placesOf } from '../../../functions/answers/reading/scope.ts';
import { systemClock } from '../../../functions/core/environment/environment.ts';
import { createLimitEdits } from '../../../functions/core/limits/create-limit-edits.ts';
import type { LimitEdit } from '../../../functions/core/limits/edit-model.ts';
import type { LimitsDocument } from '../../../functions/core/limits/limit-set.ts';
import { firstJobId, loadPastMonth, PAST_RUNNERS } from '../../../scripts/local/past-month.ts';
import { closeLocalMonths, packLocalJobs, recountLocalLedger } from '../../../scripts/local/run-console.ts';
import { readYaml } from '../../../scripts/policy/yaml-document.ts';
import { exampleLedger } from '../../scripts/local/example-ledger.ts';
import { signedInConsole } from './signed-in.ts';

/** All thirty days before it are of one month, which is closed by then. */
const NOW_MS = Date.parse('2026-12-07T12:00:00Z');
const ZONE = 'UTC';
const LIMITS_FILE = fileURLToPath(new URL('../../../policies/limits.yaml', import.meta.url));
const PAYMENTS = { subject: 'group/101', limit: 'money-month' } as const;
const DECEMBER = { from: '2026-12-01', until: '2026-12-10' } as const;

const EDITS: readonly LimitEdit[] = [
  { kind: 'set', ...PAYMENTS, amount: 8, soft: '80%', carry: '20%' },
  { kind: 'set', subject: 'group/101/each/pipeline', unit: 'money', amount: 2, per: 'once' },
  { kind: 'set', subject: 'group/101', unit: 'jobs', amount: 9, cohort: 'ci', borrow: 5, lend: 2 },
  { kind: 'grant', ...PAYMENTS, ...DECEMBER, amount: 1, reason: 'Load tests', ticket: 'FIN-12' },
  { kind: 'freeze', subject: 'group/102', reason: 'Audit', until: '2026-12-12', owner: 'fritz' },
  { kind: 'breakglass', subject: 'group/101', users: [7, 9], jobs: 3, until: '2026-12-09', reason: 'Outage' },
  { kind: 'rollout', subject: 'group/103', cost: 'shadow', capacity: 'warn' },
];

export async function sampleWorld(empty = false) {
  const { rules, directory, ledger, rulesFor, onProblem } = await exampleLedger();
  const clock = { ...systemClock, nowMs: () => NOW_MS };
  const { policy, limits } = rules;
  const deps = { ledger, directory, zone: ZONE, clock, onProblem };
  const known = empty ? [] : [firstJobId(Math.floor(NOW_MS / 86_400_000))];
  if (!empty) {
    await loadPastMonth({ ...deps, rulesFor, nowMs: NOW_MS });
    await closeLocalMonths({ ...deps, policy, limits });
    await packLocalJobs({ ...deps, knownJobIds: known });
    await recountLocalLedger(deps);
  }
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `id${ids}`;
  };
  const limitEdits = createLimitEdits({
    ...{ table: ledger.limits, policy, ledger: ledger.ledger, directory: async () => directory },
    ...{ clock, newId, zone: ZONE, packed: readYaml(LIMITS_FILE).value as LimitsDocument },
  });
  const read = createConsoleRead({
    ...{ limitEdits, policy, zone: ZONE, clock, limitTable: ledger.limits, packedLimits: limits },
    ...{ ledger: ledger.ledger, usage: ledger.usage, sheets: ledger.sheets, recounts: ledger.recounts },
    books: { instance: ledger.instance, description: 'the sample', jobs: ledger.store, chain: ledger.chain },
    recentJobIds: async () => known,
    runnerDetails: async () => PAST_RUNNERS,
    places: async () => placesOf(directory, NOW_MS),
    consoleUrl: 'https://budget.example.com',
  });
  const apply = async (edits: readonly LimitEdit[]) => {
    const base = (await limitEdits.live())?.pointer.set;
    const by = { actor: 'ada', userId: 1, rights: [{ role: 'admin' } as const], base, confirmed: true };
    const applied = await limitEdits.apply(edits, { ...by, why: 'Release week', source: 'page' });
    if (applied.outcome !== 'live') throw new Error(JSON.stringify(applied));
  };
  if (!empty) {
    for (const edit of EDITS) await apply([edit]);
    const asked = { ...PAYMENTS, ...DECEMBER, amount: '+2', reason: 'More tests' };
    await limitEdits.request(asked, {
      actor: 'vera',
      userId: 2,
      rights: [{ role: 'viewer', groups: [101] }],
    });
  }
  return { limitEdits, read, policy, directory, clock, apply };
}

/** Over HTTP on loopback, for a browser. */
export async function serveWorld(world: Awaited<ReturnType<typeof sampleWorld>>) {
  let served: Awaited<ReturnType<typeof signedInConsole>> | undefined;
  const server = createServer(getRequestListener((request) => served?.app.fetch(request) ?? new Response()));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  served = await signedInConsole(world, { here: origin });
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { origin, send: served.send, close };
}
