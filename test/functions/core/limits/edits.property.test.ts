import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_LIMITS } from '../../../../functions/core/limits/change-rows.ts';
import { editDocument } from '../../../../functions/core/limits/edit-document.ts';
import type { LimitEdit } from '../../../../functions/core/limits/edit-model.ts';
import type { LimitsDocument } from '../../../../functions/core/limits/limit-set.ts';
import { withRolloutTimes } from '../../../../functions/core/limits/publish-limits.ts';
import { parseLimits } from '../../../../policies/document/parse-limits.ts';
import type { LimitSet } from '../../../../policies/limits/limits.ts';
import { aDirectory, aPolicy, NOW_MS } from '../../../policies/documents.ts';
import { ADMIN, aDesk } from './desk.ts';

const SUBJECTS = [
  'instance',
  'group/100',
  'group/101',
  'group/104',
  'group/777',
  'project/1',
  'personal',
  'groups/acme/*',
];
const subject = fc.constantFrom(...SUBJECTS);
const owned = fc.constantFrom(...SUBJECTS.slice(0, 6));
const unit = fc.constantFrom('money' as const, 'minutes' as const, 'starts' as const);
const amount = fc.constantFrom<string | number>(0, 1, '7.5', 100, 'unlimited', 'lots');
const per = fc.constantFrom('day' as const, 'month' as const);
const limit = fc.constantFrom('money-month', 'minutes-day', 'starts-month');

const anyEdit: fc.Arbitrary<LimitEdit> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('set' as const),
      subject,
      unit,
      amount,
      per,
      owner: fc.constantFrom('ann', null),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('set' as const), subject, limit, amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), subject, limit }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      subject: owned,
      limit,
      amount: fc.constant(1),
      from: fc.constant('2026-11-01'),
      until: fc.constantFrom('2026-11-30', '2026-11-10'),
      reason: fc.constant('r'),
    }),
  },
  fc.record({
    kind: fc.constant('revoke' as const),
    grant: fc.constantFrom('g-id1', 'g-id2', 'g-id3', 'grant-1'),
  }),
  fc.record({ kind: fc.constant('freeze' as const), subject: owned, reason: fc.constant('r') }),
  fc.record({ kind: fc.constant('unfreeze' as const), freeze: fc.constantFrom('f-id1', 'f-id2', 'f-id3') }),
  fc.record({
    kind: fc.constant('breakglass' as const),
    subject: fc.constantFrom('instance', 'group/101'),
    jobs: fc.nat(3),
    users: fc.constant([5]),
    until: fc.constant('2026-11-23'),
    reason: fc.constant('r'),
  }),
  fc.record({ kind: fc.constant('end-breakglass' as const), breakglass: fc.constantFrom('b-id1', 'b-id2') }),
  fc.record({
    kind: fc.constant('rollout' as const),
    subject: fc.constantFrom('group/100', 'group/104'),
    cost: fc.constantFrom('warn' as const, 'off' as const, null),
  }),
);

const read = (document: LimitsDocument): LimitSet | undefined => {
  const parsed = parseLimits(document, '', aPolicy(), aDirectory);
  return parsed.ok ? parsed.value : undefined;
};

/** Chunks keep the order within a subject, not between subjects. */
const shape = (set: LimitSet) => ({
  limits: [...set.bySubject].sort(([a], [b]) => (a < b ? -1 : 1)),
  personal: set.personalDefault,
  defaults: set.groupDefaults?.all.map(({ groups, limit }) => [groups.pattern, limit]),
  freezes: [...(set.freezes ?? [])].sort(([a], [b]) => (a < b ? -1 : 1)),
  glasses: [...(set.breakGlasses ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1)),
  rollouts: [...set.rollouts].sort(([a], [b]) => (a < b ? -1 : 1)),
});

test('any edits through the desk come to the same limits as the same edits of a document in memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyEdit, { minLength: 1, maxLength: 3 }), { maxLength: 8 }),
      async (batches) => {
        const { limitEdits, by } = aDesk({ approval: { abovePercent: 1_000_000_000 } });
        let document: LimitsDocument = {};
        let ids = 0;
        for (const edits of batches) {
          const edited = editDocument(document, edits, {
            actor: 'ann',
            nowMs: NOW_MS,
            newId: () => {
              ids += 1;
              return `id${ids}`;
            },
          });
          const set = edited.ok ? read(edited.document) : undefined;
          const outcome = await limitEdits.apply(edits, await by({ rights: ADMIN }));
          expect(['live', 'unchanged', 'invalid', 'needs_approval']).toContain(outcome.outcome);
          expect(outcome.outcome === 'invalid').toBe(set === undefined);
          if (outcome.outcome === 'live' && edited.ok)
            document = withRolloutTimes(edited.document, read(document) ?? NO_LIMITS, NOW_MS);
          // The request of whoever may not do it alone takes an id, too.
          if (outcome.outcome === 'needs_approval' && outcome.request !== undefined) ids += 1;
        }
        const live = await limitEdits.live();
        const expected = read(document);
        expect(shape(live?.limits ?? NO_LIMITS)).toEqual(shape(expected ?? NO_LIMITS));
      },
    ),
    { numRuns: 60 },
  );
});
