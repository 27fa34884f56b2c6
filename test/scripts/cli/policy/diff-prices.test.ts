import { expect, test } from 'vitest';
import { desk, POLICY } from './documents.ts';

const classes = (large: string, more = '') =>
  `      classes: [{ name: large, tags: [large], rate_per_minute: ${large} }, { name: small, rate_per_minute: 0.10 }${more}]
      default_class: small
`;
const version = (name: string, large: string, from?: string, more = '') =>
  `    - version: "${name}"\n${from === undefined ? '' : `      from: ${from}\n`}${more}${classes(large)}`;
/** The same policy with other prices. */
const withPrices = (prices: string): string =>
  `currency: EUR\n${prices}${POLICY.slice(POLICY.indexOf('estimate:'))}`;
const dated = (...versions: readonly string[]): string => withPrices(`prices:\n${versions.join('')}`);

interface Told {
  readonly at: string;
  readonly what: string;
  readonly effect: string;
}

async function diff(old: string, recent: string, ...flags: readonly string[]) {
  const files = { 'old.yaml': old, 'new.yaml': recent };
  const { code, out, err } = await desk(
    ['policy', 'diff', 'old.yaml', 'new.yaml', '--json', ...flags],
    files,
  );
  const { changes, jumps } = JSON.parse(out);
  return {
    code,
    err,
    jumps,
    changes: changes.map(({ at, what, effect }: Told) => `${effect} ${at} ${what}`),
  };
}

const FIRST = version('1', '0.60');
/** Now is 21 November 2026. */
const PAST = version('0', '0.50', '2026-01-01');

test.each<[string, string, string, readonly string[]]>([
  [
    'a version that begins next month is compared with the one it follows',
    dated(FIRST),
    dated(FIRST, version('2', '0.66', '2026-12-01')),
    ['neutral prices[2] added (from 2026-12-01)', 'tightens prices[2].large.rate_per_minute 0.60 → 0.66'],
  ],
  [
    'prices alone that become the first of a list are the same prices',
    POLICY,
    dated(FIRST, version('2', '0.54', '2026-12-01')),
    ['neutral prices[2] added (from 2026-12-01)', 'loosens prices[2].large.rate_per_minute 0.60 → 0.54'],
  ],
  [
    'a rate of a later version changes there',
    dated(FIRST, version('2', '0.66', '2026-12-01')),
    dated(FIRST, version('2', '0.70', '2026-12-01')),
    ['tightens prices[2].large.rate_per_minute 0.66 → 0.70'],
  ],
  [
    'a version begins on another day',
    dated(FIRST, version('2', '0.66', '2026-12-01')),
    dated(FIRST, version('2', '0.66', '2027-01-01')),
    ['could loosen prices[2].from 2026-12-01 → 2027-01-01'],
  ],
  [
    'a version that is over may go',
    dated(PAST, version('1', '0.60', '2026-11-01')),
    dated(version('1', '0.60', '2026-11-01')),
    ['neutral prices[0] removed (was over)'],
  ],
  [
    'a version in force goes',
    dated(FIRST, version('2', '0.66', '2026-11-01')),
    dated(FIRST),
    ['could loosen prices[2] removed'],
  ],
  [
    'a begun minute counts whole now, and memory costs something',
    dated(FIRST),
    dated(FIRST.replace('large], ', 'large], round: minute, memory: 2Gi, rate_per_gib_hour: 0.01, ')),
    [
      'tightens prices.large.round absent → minute',
      'could loosen prices.large.memory absent → 2Gi',
      'tightens prices.large.rate_per_gib_hour absent → 0.01',
    ],
  ],
])('%s', async (_, old, recent, expected) => {
  expect((await diff(old, recent)).changes.sort()).toEqual([...expected].sort());
});

test('a price that is more than five times another one ends with 2 and says which class, from and to', async () => {
  const typo = POLICY.replace('0.60', '600');
  const { code, jumps } = await diff(POLICY, typo);
  expect({ code, jumps }).toEqual({
    code: 2,
    jumps: [
      {
        runnerClass: 'large',
        rate: 'rate_per_minute',
        fromMicros: 600_000,
        toMicros: 600_000_000,
        version: '1',
        times: 1_000,
      },
    ],
  });
  const files = { 'old.yaml': POLICY, 'new.yaml': typo };
  const told = await desk(['policy', 'diff', 'old.yaml', 'new.yaml'], files);
  expect(told.err).toBe(
    'rate_per_minute of class large goes from 0.60 to 600.00, 1000 times as much (prices 1): correct it, write allow_jump: true there, or say --force\n',
  );
  expect(await desk(['policy', 'diff', 'old.yaml', 'new.yaml', '--force'], files)).toMatchObject({
    code: 0,
    err: '',
    out: expect.stringContaining('0.60 → 600'),
  });
});

test.each<[string, string, string, readonly number[]]>([
  ['five times is none', POLICY, POLICY.replace('0.60', '3.00'), []],
  ['a micro-unit more is one', POLICY, POLICY.replace('0.60', '3.000001'), [5]],
  ['a sixth is one as well', POLICY, POLICY.replace('0.60', '0.10'), [6]],
  [
    'confirmed in the new version it is none',
    dated(FIRST),
    dated(FIRST, version('2', '60', '2026-12-01', '      allow_jump: true\n')),
    [],
  ],
  [
    'a confirmation that stood there before is none of this change',
    dated(FIRST, version('2', '6', '2026-12-01', '      allow_jump: true\n')),
    dated(FIRST, version('2', '600', '2026-12-01', '      allow_jump: true\n')),
    [100],
  ],
  [
    'a confirmed price that only begins earlier is none',
    dated(FIRST, version('2', '6', '2026-12-15', '      allow_jump: true\n')),
    dated(FIRST, version('2', '6', '2026-12-01', '      allow_jump: true\n')),
    [],
  ],
  [
    'it is looked for whenever new prices begin, not only when old ones did',
    dated(FIRST, version('2', '3', '2026-12-01')),
    dated(FIRST, version('3', '0.50', '2027-01-01')),
    [6],
  ],
  [
    'a version in force that goes brings the old price back',
    dated(FIRST, version('2', '6', '2026-11-01', '      allow_jump: true\n')),
    dated(FIRST),
    [10],
  ],
])('a jump: %s', async (_, old, recent, times) => {
  const { code, jumps } = await diff(old, recent);
  expect(jumps.map((jump: { times: number }) => jump.times)).toEqual(times);
  expect(code).toBe(times.length === 0 ? 0 : 2);
});

test('what becomes free has no factor and is a jump all the same', async () => {
  const { code, jumps } = await diff(POLICY, POLICY.replace('0.60', '0'));
  expect([code, jumps]).toEqual([2, [expect.not.objectContaining({ times: expect.anything() })]]);
});
