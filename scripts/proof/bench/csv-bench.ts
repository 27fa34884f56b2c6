import { setTimeout as sleep } from 'node:timers/promises';
import {
  exportLimits,
  importLimits,
  type LimitsDocument,
  PLAIN_CSV,
  readRows,
} from '../../../functions/core/limits/index.ts';
import { parsePolicy } from '../../../policies/document/parse-policy.ts';
import type { Policy } from '../../../policies/policy.ts';
import { type Figure, ratioOfRounds } from './figure.ts';

const ROUNDS = 5;
const SMALL = 1_000;
const LARGE = 10_000;
const SET = 'b3a1c5d7e9f0123456789abc';

const documentOf = (rows: number): LimitsDocument => ({
  limits: Array.from({ length: rows }, (_, at) => ({
    on: { group: 1 + at },
    money: `${500 + at}.50`,
    per: 'month',
    zone: 'Europe/Berlin',
    soft: '80%',
    owner: `team-${at}`,
    cost_center: String(at).padStart(6, '0'),
    reason: 'agreed for the year, see the budget round',
  })),
});

/** A file in which every tenth limit was changed, and what it is imported onto. */
function edited(rows: number): { readonly document: LimitsDocument; readonly file: Uint8Array } {
  const document = documentOf(rows);
  const file = exportLimits(document, { version: SET }).replace(/,(\d+)0\.50,/g, ',$11.50,');
  return { document, file: new TextEncoder().encode(file) };
}

function imported({ document, file }: ReturnType<typeof edited>, policy: Policy): LimitsDocument {
  const read = readRows(file, PLAIN_CSV);
  if (!read.ok) throw new Error(`the bench file is invalid: ${read.problems[0]?.message}`);
  const done = importLimits(read.rows, { document, policy, dialect: PLAIN_CSV, prune: false });
  if (!done.ok) throw new Error(`the bench limits are invalid: ${done.problems[0]?.message}`);
  return done.document;
}

function benchPolicy(): Policy {
  const prices = {
    version: 'bench',
    classes: [{ name: 'medium', rate_per_minute: '0.02' }],
    default_class: 'medium',
  };
  const parsed = parsePolicy({ currency: 'EUR', prices, estimate: { default: '10m' }, rules: [] }, 'bench');
  if (!parsed.ok) throw new Error('the bench policy is invalid');
  return parsed.value;
}

const timed = (run: () => void, times: number) => async (): Promise<number> => {
  const startedMs = performance.now();
  for (let time = 0; time < times; time += 1) run();
  return (performance.now() - startedMs) / times;
};

/** What ten times the rows add to an import, and what one of 10 000 rows needs in memory beyond the file. */
export async function csvFigures(): Promise<readonly Figure[]> {
  const policy = benchPolicy();
  const [small, large] = [edited(SMALL), edited(LARGE)];
  const time = await ratioOfRounds(
    ROUNDS,
    timed(() => imported(large, policy), 1),
    timed(() => imported(small, policy), 8),
  );
  const memory = await peakMegabytes(() => imported(large, policy));
  return [
    {
      name: 'CSV import of 10 000 rows ÷ 1000 rows (10 is linear)',
      value: time.median,
      must: { atMost: 20 },
      unit: '×',
      kind: 'ratio',
      range: time.range,
      noisy: time.noisy,
    },
    {
      name: 'memory of a CSV import of 10 000 rows, garbage included',
      value: memory,
      must: { atMost: 128 },
      unit: 'MB',
      kind: 'count',
      note: `a file of ${(large.file.length / 2 ** 20).toFixed(1)} MB; a Lambda function of 256 MB can do it`,
    },
  ];
}

/** Growth of the resident set over one import: what a function that does it needs to have free. */
async function peakMegabytes(run: () => unknown): Promise<number> {
  globalThis.gc?.();
  await sleep(100);
  const before = process.memoryUsage();
  const made = run();
  const after = process.memoryUsage();
  // Kept until it was measured.
  if (made === undefined) throw new Error('nothing was imported');
  const heap = after.heapUsed + after.external - before.heapUsed - before.external;
  return Math.max(0, heap, after.rss - before.rss) / 2 ** 20;
}
