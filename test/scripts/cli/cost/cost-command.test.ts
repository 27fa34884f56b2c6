import { expect, test } from 'vitest';
import { aProject, runDesk } from '../desk-run.ts';

const cost = (...flags: readonly string[]) => runDesk(['cost', ...flags], aProject());

interface Told {
  readonly totals: Readonly<
    Record<'idlePerMonth' | 'deskPerMonth' | 'admissionsPerMillion' | 'allPerMillion' | 'perMonth', number>
  >;
  readonly lines: readonly {
    readonly part: string;
    readonly label: string;
    readonly quantity: number;
    readonly price: string;
    readonly usd: number;
  }[];
  readonly prices: Readonly<
    Record<
      string,
      { readonly usd: number; readonly per: number; readonly source: string; readonly readOn: string }
    >
  >;
}

async function told(...flags: readonly string[]): Promise<Told> {
  const batch = flags.includes('--batch') ? [] : ['--batch', '5'];
  const { code, out, err } = await cost('--jobs-per-month', '1000000', '--json', ...batch, ...flags);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out);
}

const quantity = ({ lines }: Told, label: string): number | undefined =>
  lines.find((line) => line.label === label)?.quantity;

test('sums are made of the lines, and every line of a quantity and a price with source and date', async () => {
  const { lines, prices, totals } = await told();
  const sum = (parts: readonly string[]) =>
    lines.filter(({ part }) => parts.includes(part)).reduce((total, { usd }) => total + usd, 0);
  for (const line of lines) {
    const price = prices[line.price];
    expect(line.usd).toBe((line.quantity * (price?.usd ?? Number.NaN)) / (price?.per ?? Number.NaN));
    expect(price?.source).toMatch(/^https:\/\/aws\.amazon\.com\/.+\/$/);
    expect(price?.readOn).toMatch(/^20\d\d-\d\d-\d\d$/);
  }
  expect(totals.idlePerMonth).toBeCloseTo(sum(['always']), 9);
  expect(totals.admissionsPerMillion).toBeCloseTo(sum(['admission']) * 1e6, 6);
  expect(totals.allPerMillion).toBeCloseTo(sum(['admission', 'usage', 'kept']) * 1e6, 6);
  expect(totals.perMonth).toBeCloseTo(totals.idlePerMonth + totals.allPerMillion, 6);
  expect(sum(['desk'])).toBe(0);
});

test('writes are those that the formula gives for packs of five jobs on three counters', async () => {
  const five = await told('--rejected', '0%');
  // (5 records + 3 counters) × 2 ÷ 5, at the hold and at the end; in and out of the index; one inbox item.
  expect(quantity(five, 'Hold, writes')).toBeCloseTo(3.2, 9);
  expect(quantity(five, 'Settlement, writes')).toBeCloseTo(3.2, 9);
  expect(quantity(five, 'Due index, in and out, writes')).toBe(2);
  expect(quantity(five, 'Webhook inbox, writes')).toBe(1);
  expect(quantity(five, 'Told once, writes')).toBe(0);
  const alone = await told('--rejected', '0%', '--batch', '1', '--counters', '1');
  expect(quantity(alone, 'Hold, writes')).toBe(4);
});

test('a rejected job moves no counter, is told once, and is in no index', async () => {
  const all = await told('--rejected', '100%');
  expect(quantity(all, 'Hold, writes')).toBe(2);
  expect(quantity(all, 'Settlement, writes')).toBe(0);
  expect(quantity(all, 'Due index, in and out, writes')).toBe(0);
  expect(quantity(all, 'Told once, writes')).toBe(1);
});

test.each([
  ['--counters', '0'],
  ['--batch', '96', '--counters', '1'],
  ['--batch', '2', '--settle-batch', '100', '--rollup-batch', '200'],
])('%s %s: it can be counted', async (...flags) => {
  expect((await told(...flags, '--rejected', '50%')).totals.allPerMillion).toBeGreaterThan(0);
});

test('ends that come alone cost the settlement what a batch shares', async () => {
  expect(quantity(await told('--rejected', '0%', '--settle-batch', '1'), 'Settlement, writes')).toBe(8);
});

test('records are kept 90 days after their month may be over, contributions ten days longer', async () => {
  const { lines } = await told('--rejected', '0%');
  const records = lines.find(({ label }) => label === 'Records, kept')?.quantity ?? 0;
  const bytesPerRecord = (records * 1e9) / (122 / (730 / 24));
  // A record within one write unit, and the rollup's note beside it.
  expect(bytesPerRecord).toBeGreaterThan(500);
  expect(bytesPerRecord).toBeLessThan(1500);
});

test('a recount reads everything at half a unit per 4 KB, in a day for each two million records', async () => {
  const recounts = async (jobs: string) => {
    const { out } = await cost('--jobs-per-month', jobs, '--json', '--rejected', '0%', '--batch', '5');
    const all: Told = JSON.parse(out);
    const units = ((quantity(all, 'Records, kept') ?? Number.NaN) * 1e9) / 4096 / 2;
    return [
      (quantity(all, 'Recount, reads') ?? Number.NaN) / units,
      quantity(all, 'Usage compared again, reads'),
    ];
  };
  // Records are kept for four months.
  const days = 730 / 24;
  for (const [jobs, rounds, looks] of [
    ['100000', days, 2],
    ['10000000', days / 7, 8 / 7],
  ] as const) {
    const [reads, compared] = await recounts(jobs);
    expect(reads).toBeCloseTo(rounds, 6);
    expect(compared).toBeCloseTo(looks / 2, 9);
  }
});

test('the log of counters costs a write for each KB of a batch of the stream', async () => {
  const writes = async ({ batch = '10', counters = '3' } = {}) => {
    const sizes = ['--batch', '5', '--rollup-batch', batch, '--counters', counters];
    const { out } = await cost('--jobs-per-month', '1000000', '--json', '--rejected', '0%', ...sizes);
    return quantity(JSON.parse(out), 'Log of counters, writes');
  };
  // A hold and an end, each with three counters of its own.
  expect(await writes()).toBe(2 / 10);
  expect(await writes({ batch: '50' })).toBe((2 / 50) * 4);
  // No more counters than are in use at all.
  expect(await writes({ batch: '200' })).toBe((2 / 200) * 7);
  expect(await writes({ counters: '0' })).toBe(0);
});

test('admission looks at its pointers by the clock: hardly ever per job where many come, each time where few do', async () => {
  const looks = async (jobs: string) => {
    const { out } = await cost('--jobs-per-month', jobs, '--json', '--rejected', '0%', '--batch', '1');
    return (quantity(JSON.parse(out), 'Estimates and pointers, reads') ?? Number.NaN) - 0.5;
  };
  // Four processes that share the jobs of 220 hours.
  const perSecond = 1e6 / (220 * 3600) / 4;
  expect(await looks('1000000')).toBeCloseTo(1 / (1 + 5 * perSecond) + 1 / (1 + 60 * perSecond), 9);
  expect(await looks('100')).toBeCloseTo(2, 1);
  expect(await looks('1000000000')).toBeLessThan(0.01);
});

test('a console costs by its visits, and each visit the more the more groups have a budget', async () => {
  const [none, few, many] = [
    await told(),
    await told('--console', '1000'),
    await told('--console', '1000', '--groups', '3000'),
  ];
  expect(none.lines.filter(({ part }) => part === 'desk')).toEqual([]);
  expect(none.totals.deskPerMonth).toBe(0);
  // Its secret and its token; an alarm on two more metrics.
  expect(quantity(few, 'SSM standard parameters')).toBe(5);
  expect(few.totals.idlePerMonth - none.totals.idlePerMonth).toBeCloseTo(0.2, 9);
  const desk = few.lines.filter(({ part }) => part === 'desk').reduce((sum, { usd }) => sum + usd, 0);
  expect(few.totals.deskPerMonth).toBeCloseTo(desk, 9);
  expect(quantity(few, 'Console, reads')).toBeGreaterThan(1000 * 300);
  // Their counters are read for the order, once a minute.
  expect(quantity(many, 'Console, reads')).toBeGreaterThan(1000 * 3000);
  const twice = await told('--console', '2000');
  expect(twice.totals.deskPerMonth).toBeCloseTo(2 * few.totals.deskPerMonth, 9);
});

test('limits in Parameter Store are listed ten at a time, every five minutes', async () => {
  expect(quantity(await told(), 'SSM calls, standard throughput')).toBe(8_760);
  const listed = await told('--ssm-limits', '95');
  expect(quantity(listed, 'SSM calls, standard throughput')).toBe(10 * 8_760);
});

test('the watchdog, its heartbeats and a key of one’s own cost what they do', async () => {
  const [plain, watched] = [await told(), await told('--watchdog', '--table-key', '--relays', '3')];
  expect(quantity(plain, 'Writes of heartbeat, watchdog')).toBeUndefined();
  expect(quantity(watched, 'Writes of heartbeat, watchdog')).toBeCloseTo(43_800 * (3 * 2 + 0.1), 6);
  expect(quantity(watched, 'Relays, CPU')).toBe(3 * 730 * 0.25);
  expect(quantity(watched, 'KMS keys')).toBe(2);
});

test('batches are those that so many jobs make: a small fleet pays for its jobs one by one', async () => {
  const asked = async (jobs: string) => {
    const { out } = await cost('--jobs-per-month', jobs, '--json');
    const { question, totals } = JSON.parse(out);
    return { batches: [question.batch, question.settleBatch, question.rollupBatch], totals };
  };
  const small = await asked('30000');
  // The rollup waits two and a half minutes for what it sums up; who is admitted and who ended waits for nobody.
  expect(small.batches).toEqual([1, 1, 4]);
  expect(small.totals.admissionsPerMillion).toBeGreaterThan(14);
  expect((await told()).totals.admissionsPerMillion).toBeLessThan(8);
  const [batch, settleBatch, rollupBatch] = (await asked('100000000')).batches;
  expect(batch).toBeGreaterThan(3);
  expect(settleBatch).toBeGreaterThan(20);
  expect(rollupBatch).toBe(200);
});

test('a region costs what its own list says, and one that is not there is refused', async () => {
  const [virginia, frankfurt] = [await told(), await told('--region', 'eu-central-1')];
  const hold = ({ lines }: Told) => lines.find(({ label }) => label === 'Hold, writes')?.usd ?? Number.NaN;
  expect(hold(frankfurt) / hold(virginia)).toBeCloseTo(0.7625 / 0.625, 9);
  expect(frankfurt.totals.idlePerMonth).toBeGreaterThan(virginia.totals.idlePerMonth);
  expect((await told('--region', 'us-west-2')).totals).toEqual(virginia.totals);
});

test('a network of one’s own has lines for what it is made of, in the place of public addresses', async () => {
  const [open, nat, closed] = [
    await told(),
    await told('--nat', '2'),
    await told('--endpoints', '10', '--admit-route', 'invoke'),
  ];
  expect(quantity(open, 'Relays, public addresses')).toBe(2 * 730);
  expect(quantity(nat, 'Relays, public addresses')).toBeUndefined();
  expect(quantity(nat, 'NAT gateways')).toBe(2 * 730);
  // Hours and addresses of two gateways cost more than those of two relays.
  expect(nat.totals.idlePerMonth - open.totals.idlePerMonth).toBeGreaterThan(2 * 730 * 0.045);
  expect(quantity(nat, 'NAT, data')).toBeGreaterThan(0);
  expect(quantity(closed, 'Interface endpoints')).toBe(10 * 730);
  expect(quantity(closed, 'NAT gateways')).toBeUndefined();
});

test('traces and a network of copies before the console are told, where they are', async () => {
  const [plain, traced] = [
    await told('--console', '1000'),
    await told('--console', '1000', '--traces', '--cloudfront'),
  ];
  const labels = ({ lines }: Told) => lines.map(({ label }) => label);
  expect(
    labels(traced)
      .filter((label) => !labels(plain).includes(label))
      .toSorted(),
  ).toEqual([
    'CloudFront, data out',
    'CloudFront, requests',
    'Traces of the console, at most',
    'Traces of the rollup, at most',
    'Traces of what runs by the clock',
    'Traces, at most',
  ]);
  expect(labels(traced)).not.toContain('Pages, data out');
});

test.each([
  ['300000', '--watchdog'],
  [
    '300000',
    '--nat',
    '2',
    '--endpoints',
    '6',
    '--traces',
    '--console',
    '10',
    '--cloudfront',
    '--region',
    'eu-central-1',
  ],
  ['1000000', '--console', '100000', '--groups', '5000'],
  ['1000000000', '--watchdog', '--admit-route', 'invoke', '--batch', '1', '--counters', '24'],
])('for people: %s jobs fit 80 columns, and it says what is not in it', async (jobs, ...flags) => {
  const { out, code } = await cost('--jobs-per-month', jobs, ...flags);
  expect(code).toBe(0);
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(out).toContain('Free tiers and discounts are not deducted');
  expect(out).toMatch(/[\d,]+ jobs a month, idle included +\d+\.\d\d\n/);
});

test.each([
  [['--batch', '0'], '--batch "0"'],
  [['--jobs-per-month', 'many'], '--jobs-per-month "many"'],
  [['--rejected', '2'], '--rejected "2"'],
  [['--rejected', '101%'], '--rejected "101%"'],
  [['--region', 'eu-west-9'], '--region "eu-west-9": expected us-east-1, us-east-2, us-west-2, eu-west-1'],
  [['--admit-route', 'http'], '--admit-route "http"'],
])('%j is refused with its value', async (flags, told) => {
  const jobs = flags[0] === '--jobs-per-month' ? [] : ['--jobs-per-month', '1'];
  const { code, err } = await cost(...jobs, ...flags);
  expect(code).toBe(3);
  expect(err).toContain(told);
});

test('without a number of jobs it says which flag is missing', async () => {
  expect((await cost()).err).toContain('--jobs-per-month is missing');
});
