import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NotifyError } from '../../../functions/core/notify/message.ts';
import { aJob } from '../console/house.ts';
import { noticesHarness, readMessage } from './harness.ts';

const OWNERS: Readonly<Record<number, string>> = { 100: 'acme-leads', 101: 'payments-leads', 200: 'finance' };
/** Every job of these groups is rejected. */
const FULL = [
  { kind: 'set', subject: 'group/100', unit: 'money', amount: 0.2, per: 'month', owner: 'acme-leads' },
  { kind: 'set', subject: 'group/101', unit: 'money', amount: 0.1, per: 'month', owner: 'payments-leads' },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 0.1, per: 'month' },
] as const;
const BETA = { projectId: 2, namespaceId: 201, rootNamespaceId: 200 };

/** Jobs of the day before yesterday are forgotten, so runs are never further apart than this. */
const QUIET_MINUTES_MAX = 23 * 60;

const does = <Name extends string>(name: Name) => ({ does: fc.constant(name) });
const step = fc.oneof(
  fc.record({ ...does('edit'), group: fc.constantFrom(100, 101, 200) }),
  fc.record({ ...does('job'), group: fc.constantFrom(101, 200) }),
  fc.record(does('request')),
  fc.record({ ...does('wait'), minutes: fc.integer({ min: 1, max: 900 }) }),
  fc.record(does('run')),
  fc.record({ ...does('topic ends'), after: fc.integer({ min: 0, max: 2 }) }),
);
const crash = fc.record(does('crash'));
type Step = (typeof step extends fc.Arbitrary<infer Each> ? Each : never) | { readonly does: 'crash' };

async function play(steps: readonly Step[]) {
  const harness = await noticesHarness({ limits: FULL });
  const { cursors } = harness.deps;
  const due = { edits: [] as string[], jobs: { 100: 0, 101: 0, 200: 0 } as Record<number, number>, asked: 0 };
  let edits = 1;
  let jobs = 0;
  let sinceRun = 0;
  for (const each of steps) {
    switch (each.does) {
      case 'edit': {
        edits += 1;
        const subject = `group/${each.group}`;
        await harness.edit([{ kind: 'set', subject, limit: 'money-month', amount: 0.3 + edits / 1_000 }]);
        due.edits.push(`${OWNERS[each.group]} edit:${edits}:limit:${subject}:money-month`);
        break;
      }
      case 'job':
        jobs += 1;
        await harness.ask([aJob(jobs, each.group === 200 ? BETA : {})]);
        for (const group of each.group === 200 ? [200] : [100, 101])
          due.jobs[group] = (due.jobs[group] ?? 0) + 1;
        break;
      case 'request': {
        const by = { actor: `dev-${due.asked}`, rights: [{ role: 'viewer', groups: [101] }] } as const;
        await harness.request({ amount: 1, until: '2026-12-31' }, by);
        due.asked += 1;
        break;
      }
      case 'wait':
        if (sinceRun + each.minutes > QUIET_MINUTES_MAX) break;
        sinceRun += each.minutes;
        harness.clock.advance(each.minutes * 60_000);
        break;
      case 'run':
        await harness.run();
        sinceRun = 0;
        break;
      case 'topic ends':
        await harness.runWithTopic(each.after).catch(expectedFailure);
        break;
      case 'crash': {
        const write = () => Promise.reject(new Error('crash'));
        await harness.runWith({ cursors: { ...cursors, write } }).catch(expectedFailure);
      }
    }
  }
  await harness.run();
  await harness.run();
  const read = harness.notify.sent.map(readMessage);
  const ids = read.flatMap(({ owner, notices }) => notices.map(({ id }) => `${owner} ${id}`));
  const reported = (group: number): number =>
    read
      .flatMap(({ notices }) => notices)
      .filter(({ kind, subject }) => kind === 'jobs-rejected' && subject === `group/${group}`)
      .reduce((sum, each) => sum + (each.jobs ?? 0), 0);
  const about = (prefix: string, suffix = '') =>
    ids.filter((id) => id.split(' ')[1]?.startsWith(prefix) && id.endsWith(suffix)).toSorted();
  return { due, ids, reported, about, news: harness.news };
}

function expectedFailure(error: unknown): void {
  if (error instanceof NotifyError || (error instanceof Error && error.message === 'crash')) return;
  throw error;
}

const STEPS = { minLength: 5, maxLength: 25, size: 'max' } as const;

test('without a crash every recipient gets every event exactly once, even if the topic fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, STEPS), async (steps) => {
      const { due, ids, reported, about, news } = await play(steps);
      expect(about('edit:')).toEqual(due.edits.toSorted());
      const isExact = !steps.some((each) => each.does === 'topic ends');
      for (const group of [100, 101, 200]) {
        if (isExact) expect(reported(group)).toBe(due.jobs[group]);
        else expect(reported(group)).toBeGreaterThanOrEqual(due.jobs[group] ?? 0);
      }
      expect(about('request:', ':waiting:1')).toHaveLength(due.asked);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await news()).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('a crash between messages and cursor loses no event', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(step, crash), STEPS), async (steps) => {
      const { due, reported, about } = await play(steps);
      expect([...new Set(about('edit:'))]).toEqual(due.edits.toSorted());
      for (const group of [100, 101, 200])
        expect(reported(group)).toBeGreaterThanOrEqual(due.jobs[group] ?? 0);
      expect(new Set(about('request:', ':waiting:1')).size).toBe(due.asked);
    }),
    { numRuns: 40 },
  );
});
