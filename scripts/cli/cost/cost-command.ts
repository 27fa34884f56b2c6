import { choice, command, orElse, print, required, text, toggle, whole } from '../../terminal/define.ts';
import type { Screen } from '../../terminal/table.ts';
import { BATCH_MAX, type Estimate, estimate, expectedBatches, MILLION } from './estimate.ts';
import { type Prices, REGIONS } from './prices.ts';

const cost = command({
  name: 'cost',
  about: `Writes are those that the real program was counted to make of sample jobs. It calls no server.`,
  flags: {
    'jobs-per-month': required(
      text('<number>', 'a number of jobs that ask to be admitted, like 300000', whole(0, 1_000_000_000)),
    ),
    batch: text('<jobs>', 'in one call, on average (default: by the number of jobs)', whole(1, BATCH_MAX)),
    counters: orElse(text('<number>', 'limits that a job counts on', whole(0, 24)), 3),
    relays: orElse(text('<number>', '1 to 4', whole(1, 4)), 2),
    console: text('<visits>', 'with the console: visits a month (default: without)', whole(0, 1_000_000)),
    watchdog: toggle("with the watchdog and the relays' heartbeats"),
    edge: toggle('with domains of your own for webhooks and console'),
    nat: orElse(text('<number>', 'NAT gateways rather than public addresses', whole(0, 6)), 0),
    region: orElse(choice('<region>', 'with prices in scripts/cli/cost/prices.ts: ', REGIONS), 'us-east-1'),
  },
  examples: ['tollgate cost --jobs-per-month 300000 --batch 5 --console 400 --region eu-central-1'],
  exits: { 1: 'failed' },
  run: async ({ flags }, io) => {
    const { 'jobs-per-month': jobsPerMonth, relays, batch, counters, region, watchdog, edge } = flags;
    const expected = expectedBatches(jobsPerMonth, relays);
    const answer = estimate({
      ...{ jobsPerMonth, relays, counters, region, watchdog, edge },
      batch: batch ?? expected.batch,
      rollupBatch: Math.max(batch ?? 1, expected.rollupBatch),
      visits: flags.console,
      natGateways: flags.nat,
    });
    return print(io, flags, answer, (screen) => costText(answer, screen));
  },
});

function costText({ question, totals, lines, prices }: Estimate, screen: Screen): string {
  const { jobsPerMonth, batch, rollupBatch, region, visits = 0 } = question;
  const parts = [
    ['always', 'Always, a month', 1],
    ['busy', 'While jobs come, 220 hours a month', 1],
    ['console', `Console, ${counted(visits)} visits a month`, 1],
    ['admission', 'Admission, per million jobs', MILLION],
    ['usage', 'Usage, per million jobs', MILLION],
    ['kept', 'Storage, per million jobs', MILLION],
  ] as const;
  const blocks = parts.flatMap(([part, title, times]) => {
    const own = lines.filter((line) => line.part === part);
    if (own.length === 0) return [];
    return [[screen.strong(title)], ...own.map((line) => lineRow(line, times, prices)), []];
  });
  const sums = [
    ['Idle, a month', totals.idlePerMonth],
    ['While jobs come, a month', totals.busyPerMonth],
    ...(visits === 0 ? [] : ([['Console, a month', totals.consolePerMonth]] as const)),
    ['Per million admissions and their settlement', totals.admissionsPerMillion],
    ['Per million jobs with everything that follows', totals.allPerMillion],
    [`${counted(jobsPerMonth)} jobs a month, idle included`, totals.perMonth],
  ] as const;
  const notes = [
    region.startsWith('us-')
      ? `Prices of ${region}, on demand, compared on ${prices.writeUnit.readOn}, without taxes.`
      : `Prices of ${region}, on demand, without taxes.\nThey are unverified, and those not listed for ${region} are of us-east-1.\nCompare the sources in scripts/cli/cost/prices.ts.`,
    `Batches of ${batch} admitted, ${rollupBatch} summed up. All jobs are counted as admitted.`,
    'Free tiers and discounts are not deducted, nor are retried conflicts counted.',
    'Durations, logs and visits are assumed: scripts/cli/cost/estimate.ts.',
  ];
  const sumRows = sums.map(([label, amount]) => [label, amount.toFixed(2)]);
  return [
    screen.table([{}, RIGHT, {}, RIGHT, RIGHT], blocks),
    `${screen.strong('Together, US dollars')}\n`,
    screen.table([{}, RIGHT], sumRows),
    `\n${notes.join('\n')}\n`,
  ].join('');
}

const RIGHT = { align: 'right' } as const;

function lineRow(
  { label, quantity, price, usd }: Estimate['lines'][number],
  times: number,
  prices: Prices,
): readonly string[] {
  const { unit, usd: one, per } = prices[price];
  const priceText = `$${one}${PER[per] ?? `/${per}`}`;
  return [label, quantityText(quantity * times), `${unit} ×`, priceText, (usd * times).toFixed(2)];
}

const counted = (number: number): string => number.toLocaleString('en-US');

function quantityText(quantity: number): string {
  if (quantity >= MILLION) return `${(quantity / MILLION).toFixed(2)}M`;
  if (quantity >= 100 || Number.isInteger(quantity)) return counted(Math.round(quantity));
  return quantity.toPrecision(3);
}

const PER: Readonly<Record<number, string>> = { 1: '', 10000: '/10k', 1000000: '/M' };

export const commands = [cost];
