import { expect, test } from 'vitest';
import type { Marks, ParameterMark } from '../../../functions/ssm-limits/marks.ts';

const mark = (group: number, over: Partial<ParameterMark> = {}): ParameterMark => ({
  group,
  version: 3,
  modifiedAtMs: 1_763_712_000_123,
  owned: [
    {
      id: 'money-month',
      created: true,
      entries: [
        { money: 5, per: 'month' },
        { money: 7.5, per: 'month' },
      ],
    },
    { id: 'jobs-now', created: false, entries: [{ jobs: 3, owner: 'Zoë "leads"' }] },
  ],
  ...over,
});

/** @param make - marks of an instance that has none yet. */
export function marksContract(make: (instance: string) => Marks): void {
  test('marks are read as they were written, the last writing of a group counts, others stay', async () => {
    const marks = make('read.example.com');
    await marks.write([mark(1), mark(2)]);
    await marks.write([mark(2, { version: 4, owned: [] })]);
    expect([...(await marks.readAll())]).toEqual([
      [1, mark(1)],
      [2, mark(2, { version: 4, owned: [] })],
    ]);
    expect((await make('another.example.com').readAll()).size).toBe(0);
  });

  test('what is forgotten is not read, and may be written anew', async () => {
    const marks = make('forget.example.com');
    await marks.write([mark(1), mark(2)]);
    await marks.forget([1]);
    expect([...(await marks.readAll()).keys()]).toEqual([2]);
    await marks.write([mark(1)]);
    expect((await marks.readAll()).get(1)).toEqual(mark(1));
  });

  test('thousands are read back, page after page', async () => {
    const marks = make('many.example.com');
    const text = 'x'.repeat(1_500);
    const many = Array.from({ length: 1_500 }, (_, index) =>
      mark(index + 1, {
        owned: [{ id: 'money-month', created: true, entries: [{ money: index, reason: text }] }],
      }),
    );
    await marks.write(many);
    expect((await marks.readAll()).size).toBe(1_500);
  }, 30_000);

  test('the pass is remembered with all it has seen, and forgets what a later one does not say', async () => {
    const marks = make('pass.example.com');
    expect(await marks.readPass()).toEqual({});
    const pass = { completeFromMs: 5, unfinished: { fromMs: 6, token: 'AAE/+=', seen: [3, 1, 2] } };
    await marks.writePass(pass);
    expect(await marks.readPass()).toEqual(pass);
    await marks.writePass({ completeFromMs: 7 });
    expect(await marks.readPass()).toEqual({ completeFromMs: 7 });
    expect((await marks.readAll()).size).toBe(0);
  });
}
