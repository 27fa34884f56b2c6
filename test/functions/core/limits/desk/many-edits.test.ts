import { expect, test } from 'vitest';
import { editDocument } from '../../../../../functions/core/limits/edit-document.ts';
import type { LimitEdit } from '../../../../../functions/core/limits/edit-model.ts';

const CONTEXT = { actor: 'ann', nowMs: Date.parse('2026-11-21T12:00:00Z'), newId: () => 'x' };

/** A document whose entries count how often anybody looks at what they are called by. */
function watched(count: number) {
  let looks = 0;
  const seen = (entry: Record<string, unknown>, ...names: readonly string[]): object => {
    for (const name of names) {
      const value = entry[name];
      Object.defineProperty(entry, name, {
        enumerable: true,
        get: () => {
          looks += 1;
          return value;
        },
      });
    }
    return entry;
  };
  const all = (make: (id: number) => object): object[] =>
    Array.from({ length: count }, (_, index) => make(index + 1));
  const document = {
    limits: all((id) => seen({ on: { group: id }, money: 5, per: 'month' }, 'on')),
    grants: all((id) =>
      seen(
        {
          ...{ on: { group: id }, id: `g-${id}`, limit: 'money-month', amount: 1, reason: 'r' },
          ...{ from: '2026-11-01', until: '2026-12-01' },
        },
        'id',
        'on',
      ),
    ),
    freezes: all((id) => seen({ on: { group: id }, id: `f-${id}`, reason: 'r' }, 'id')),
    breakglass: all((id) =>
      seen({ on: { group: id }, id: `b-${id}`, from: '2026-11-20', until: '2026-11-23', jobs: 1 }, 'id'),
    ),
    rollout: all((id) => seen({ group: id, cost: 'warn' }, 'group')),
  };
  return { document, looks: () => looks };
}

const EDITS: Readonly<Record<string, (id: number) => LimitEdit>> = {
  set: (id) => ({ kind: 'set', subject: `group/${id}`, limit: 'money-month', amount: 6 }),
  remove: (id) => ({ kind: 'remove', subject: `group/${id}`, limit: 'money-month' }),
  revoke: (id) => ({ kind: 'revoke', grant: `g-${id}` }),
  unfreeze: (id) => ({ kind: 'unfreeze', freeze: `f-${id}` }),
  'end-breakglass': (id) => ({ kind: 'end-breakglass', breakglass: `b-${id}` }),
  rollout: (id) => ({ kind: 'rollout', subject: `group/${id}`, cost: 'enforce' }),
};

test.each(Object.keys(EDITS))(
  'thousands of %s edits look at each entry a few times, not at all of them each',
  (kind) => {
    const count = 2_000;
    const { document, looks } = watched(count);
    // From the last on: what was edited counts no more.
    const edits = Array.from({ length: count }, (_, index) => EDITS[kind]?.(count - index)).filter(
      (edit) => edit !== undefined,
    );
    expect(editDocument(document, edits, CONTEXT).ok).toBe(true);
    expect(looks()).toBeLessThan(10 * count);
  },
);

test('a limit that is removed takes all grants on it along, and no other', () => {
  const grant = (id: number, group: number, limit = 'money-month') => ({
    ...{ on: { group }, id: `g-${id}`, limit, amount: 1, reason: 'r' },
    ...{ from: '2026-11-01', until: '2026-12-01' },
  });
  const document = {
    limits: [
      { on: { group: 1 }, money: 5, per: 'month' },
      { on: { group: 1 }, jobs: 5 },
      { on: { group: 2 }, money: 5, per: 'month' },
    ],
    grants: [grant(1, 1), grant(2, 2), grant(3, 1), grant(4, 1, 'jobs-now')],
  };
  const edited = editDocument(
    document,
    [{ kind: 'remove', subject: 'group/1', limit: 'money-month' }],
    CONTEXT,
  );
  expect(edited.ok && edited.document.grants).toEqual([grant(2, 2), grant(4, 1, 'jobs-now')]);
});
