import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryNotifier, NotifyError } from '../../../functions/core/notify/message.ts';
import { aJob } from '../console/house.ts';
import { noticesHouse, readMessage } from './house.ts';

const OWNERS: Readonly<Record<number, string>> = { 100: 'acme-leads', 101: 'payments-leads', 200: 'finance' };
/** Every job of each of these groups is rejected. */
const FULL = [
  { kind: 'set', subject: 'group/100', unit: 'money', amount: 0.2, per: 'month', owner: 'acme-leads' },
  { kind: 'set', subject: 'group/101', unit: 'money', amount: 0.1, per: 'month', owner: 'payments-leads' },
  { kind: 'set', subject: 'group/200', unit: 'money', amount: 0.1, per: 'month' },
] as const;

/** Nobody is told any more of what lies further back than two weeks. */
const FORGOTTEN_MINUTES = 12 * 24 * 60;

const step = fc.oneof(
  fc.record({ does: fc.constant('edit' as const), group: fc.constantFrom(100, 101, 200) }),
  fc.record({ does: fc.constant('job' as const), group: fc.constantFrom(101, 200) }),
  fc.record({ does: fc.constant('ask' as const) }),
  fc.record({ does: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 600 }) }),
  // No run for days.
  fc.record({ does: fc.constant('wait' as const), minutes: fc.constant(3_000) }),
  fc.record({ does: fc.constant('run' as const) }),
  fc.record({ does: fc.constant('topic ends' as const), after: fc.integer({ min: 0, max: 2 }) }),
);
const crash = fc.record({ does: fc.constant('crash' as const) });

type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

async function play(steps: readonly (Step | { readonly does: 'crash' })[]) {
  const notify = new MemoryNotifier();
  const house = await noticesHouse({ limits: FULL, notify });
  const due = { edits: [] as string[], jobs: { 100: 0, 101: 0, 200: 0 } as Record<number, number>, asked: 0 };
  let edits = 1;
  let jobs = 0;
  let sinceRun = 0;
  for (const each of steps) {
    switch (each.does) {
      case 'edit':
        edits += 1;
        await house.edit([
          { kind: 'set', subject: `group/${each.group}`, limit: 'money-month', amount: 0.3 + edits / 1_000 },
        ]);
        due.edits.push(`${OWNERS[each.group]} edit:${edits}:limit:group/${each.group}:money-month`);
        break;
      case 'job': {
        jobs += 1;
        const beta = { projectId: 2, namespaceId: 201, rootNamespaceId: 200 };
        await house.ask([aJob(jobs, each.group === 200 ? beta : {})]);
        for (const group of each.group === 200 ? [200] : [100, 101])
          due.jobs[group] = (due.jobs[group] ?? 0) + 1;
        break;
      }
      case 'ask': {
        const asked = await house.desk.request(
          {
            subject: 'group/101',
            limit: 'money-month',
            amount: 1,
            from: '2026-11-21',
            until: '2026-12-31',
            reason: 'r',
          },
          { actor: `dev-${due.asked}`, rights: [{ role: 'viewer', groups: [101] }] },
        );
        if (asked.outcome === 'filed') due.asked += 1;
        break;
      }
      case 'wait':
        if (sinceRun + each.minutes > FORGOTTEN_MINUTES) break;
        sinceRun += each.minutes;
        house.clock.advance(each.minutes * 60_000);
        break;
      case 'run':
        await house.run();
        sinceRun = 0;
        break;
      case 'topic ends': {
        let left = each.after;
        const send = async (message: Parameters<MemoryNotifier['send']>[0]): Promise<void> => {
          if (left === 0) throw new NotifyError('notify_unavailable', 'no');
          left -= 1;
          await notify.send(message);
        };
        await house.runWith({ ...house.deps, notify: { send } }).catch(expectedFailure);
        break;
      }
      case 'crash':
        await house
          .runWith({
            ...house.deps,
            cursors: { ...house.deps.cursors, write: () => Promise.reject(new Error('crash')) },
          })
          .catch(expectedFailure);
    }
  }
  await house.run();
  await house.run();
  const read = notify.sent.map(readMessage);
  const ids = read.flatMap(({ owner, notices }) => notices.map(({ id }) => `${owner} ${id}`));
  const jobsOf = (group: number): number =>
    read
      .flatMap(({ notices }) => notices)
      .filter(({ kind, subject }) => kind === 'jobs-rejected' && subject === `group/${group}`)
      .reduce((sum, { jobs: of = 0 }) => sum + of, 0);
  return { due, ids, jobsOf, quiet: house.news };
}

function expectedFailure(error: unknown): void {
  if (error instanceof NotifyError || (error instanceof Error && error.message === 'crash')) return;
  throw error;
}

const of = (ids: readonly string[], about: string): readonly string[] =>
  ids.filter((id) => id.split(' ')[1]?.startsWith(about)).toSorted();

test('without a crash every owner is told of every event exactly once, whenever the topic ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25, size: 'max' }), async (steps) => {
      const { due, ids, jobsOf, quiet } = await play(steps);
      expect(of(ids, 'edit:')).toEqual(due.edits.toSorted());
      for (const group of [100, 101, 200]) expect(jobsOf(group)).toBe(due.jobs[group]);
      expect(of(ids, 'request:').filter((id) => id.endsWith(':waiting:1'))).toHaveLength(due.asked);
      expect(new Set(ids).size).toBe(ids.length);
      expect(await quiet()).toEqual([]);
    }),
    { numRuns: 40 },
  );
});

test('whatever crashes between the topic and the cursor, nothing is lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(step, crash), { minLength: 5, maxLength: 25, size: 'max' }),
      async (steps) => {
        const { due, ids, jobsOf } = await play(steps);
        expect([...new Set(of(ids, 'edit:'))]).toEqual(due.edits.toSorted());
        for (const group of [100, 101, 200])
          expect(jobsOf(group)).toBeGreaterThanOrEqual(due.jobs[group] ?? 0);
        const asked = new Set(of(ids, 'request:').filter((id) => id.endsWith(':waiting:1')));
        expect(asked.size).toBe(due.asked);
      },
    ),
    { numRuns: 40 },
  );
});
