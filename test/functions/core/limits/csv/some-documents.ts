import fc from 'fast-check';
import type { LimitsDocument } from '../../../../../functions/core/limits/limit-set.ts';

/** Texts that spreadsheets, quotes and apostrophes are known to spoil, and any others. */
const nasty = fc.oneof(
  fc.constantFrom(
    '=1+1',
    '+49 30 1234',
    '-x',
    '@me',
    '\tx',
    '\rx',
    "'",
    "''",
    "'tis",
    "'=1",
    '0042',
    '2026-11-01',
    '3-4',
    '1E5',
    'TRUE',
    '10:30 am',
    ' =HYPERLINK("http://x";"y")',
    'a "quoted" word',
    'a,b;c',
    'two\nlines',
    ' blanks ',
    '\u{feff}bom',
    'Zoë 💶',
    '|cmd',
    '\u00a0=1',
    '50%',
    '١٢',
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom("'", '=', '"', ',', ';', '\n', '\t', ' ', '1', '-', 'a'),
    minLength: 1,
    maxLength: 8,
  }),
);
const text = nasty.filter((each) => each.trim() !== '' && !each.includes('\r\n'));
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const common = {
  mode: maybe(fc.constantFrom('off', 'shadow', 'warn', 'enforce')),
  owner: maybe(text),
  contact: maybe(text),
  cost_center: maybe(text),
  reason: maybe(text),
  from: maybe(fc.constantFrom('2026-01-01', '2026-01-01T08:00+01:00')),
  until: maybe(fc.constantFrom('2026-12-31', '2026-12-31T18:00Z')),
  id: maybe(fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,9}$/)),
};
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 0, max: 999_999 }))
  .map(([whole, fraction]) => `${whole}.${String(fraction).padStart(6, '0')}`);

const money = fc.record({
  money: fc.oneof(decimal, fc.integer({ min: 1, max: 1e9 }), fc.constantFrom('0007.50', '9007199254.740991')),
  per: fc.constantFrom('day', 'month', 'year'),
  zone: maybe(fc.constantFrom('UTC', 'Europe/Berlin')),
  soft: maybe(fc.constantFrom('80%', '12.5%', '0.5', 1)),
  grace: maybe(fc.constantFrom('10%', 1, '0.25')),
  carry: maybe(fc.constantFrom({ max: '20%' }, { max: 1 })),
  overdraft: maybe(fc.constantFrom('absorb', 'carry', 'alert')),
  thresholds: maybe(fc.constantFrom([], [50], [90, 50], [50, 75, 90, 100])),
  ...common,
});
const open = fc.record({
  money: fc.constantFrom('unlimited', 0, '0'),
  per: fc.constantFrom('minute', 'month', 'once'),
  ...common,
});
const wait = maybe(fc.constantFrom('20s', 'up to 5s', '1m'));
const atOnce = fc.oneof(
  fc.record({ jobs: fc.constantFrom(0, 20, '007', 'unlimited'), wait, ...common }),
  fc.record({ memory: fc.constantFrom('256Gi', '64G', '1.5Gi', 1024, '1e9'), wait, ...common }),
  fc.record({ cpu: fc.constantFrom('500m', 0.5, 64, '1.5'), wait, ...common }),
);
const lent = fc
  .record({
    jobs: fc.constantFrom(20, '030'),
    cohort: fc.constantFrom('ci', 'gpu'),
    borrow: maybe(fc.constantFrom(0, 5, '50%', '12.5%')),
    lend: maybe(fc.constantFrom(0, 7, '100%')),
    ...common,
  })
  .map(withoutAbsent);
const limit = fc.oneof(money, open, atOnce).map(withoutAbsent);

const on = fc.constantFrom<unknown>(
  'instance',
  { group: 100 },
  { group: 101 },
  { project: 1 },
  { runner_class: 'large' },
  { runner: 41 },
  { user: 5 },
);
const idOf = (entry: Readonly<Record<string, unknown>>): string =>
  String(
    entry.id ?? `${['money', 'jobs', 'cpu', 'memory'].find((key) => key in entry)}-${entry.per ?? 'now'}`,
  );

/** Documents that are valid but for what only the whole of limits.yaml can say. */
export const documents: fc.Arbitrary<LimitsDocument> = fc.record({
  limits: fc.uniqueArray(
    fc
      .oneof(fc.tuple(on, limit), fc.tuple(fc.constantFrom({ group: 100 }, { group: 101 }), lent))
      .map(([whose, entry]) => ({ on: whose, ...entry })),
    { maxLength: 8, selector: (entry) => `${JSON.stringify(entry.on)} ${idOf(entry)}` },
  ),
  personal_default: fc.uniqueArray(fc.oneof(open, atOnce).map(withoutAbsent), {
    maxLength: 2,
    selector: idOf,
  }),
  group_defaults: fc.uniqueArray(
    fc
      .tuple(fc.constantFrom('acme/team-*', '*/team-?', '=x'), fc.oneof(open, atOnce).map(withoutAbsent))
      .map(([groups, entry]) => ({ groups, ...entry })),
    { maxLength: 2, selector: (entry) => `${entry.groups} ${idOf(entry)}` },
  ),
  rollout: fc.constantFrom([], [{ group: 100, cost: 'warn' }]),
});

function withoutAbsent(entry: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
}
