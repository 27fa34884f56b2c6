import { resolve } from 'node:path';
import type { Statement } from '../../../functions/answers/statement/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT, type TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { orElse, required, text, texts } from '../../terminal/flags.ts';
import { type Paint, paintWhen, printable } from '../../terminal/paint.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { answeredInProcess, found } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { LEDGER_FLAGS } from '../ledger-flags.ts';
import { money } from '../report/shadow-words.ts';
import { RULES_FLAGS, rulesFiles } from '../rules-flags.ts';
import { callsTo, GITLAB_FLAGS, readGitLabPlace } from '../truth/gitlab-flags.ts';
import { runsOf } from '../truth/gitlab-runs.ts';
import { progressOf } from '../truth/progress.ts';
import { type BookedCharge, type ChargeComparison, compareCharges } from './recompute/compare-charges.ts';
import { bookOfDeployments, bookOfDocuments, type KeptPrices, type PriceBook } from './recompute/prices.ts';

/** The JSON has all. */
const SHOWN = 60;

const audit = command({
  name: 'audit',
  about: `Checks what the ledger charges for every job of a month. Reads the jobs from GitLab, prices them by policy documents with
arithmetic of its own, and compares each with its charge. Names every job that differs, with both amounts and the likely
reason. The prices are those that were deployed, each since when it was seen; their hashes are checked first. The month must
be younger than 90 days: its records are read.`,
  flags: {
    month: required(text('<month>', 'a month like 2026-10')),
    group: orElse(text('<id | path>', 'e.g. acme/payments; instance is everything'), 'instance'),
    prices: texts(
      '<file>',
      "a policy document whose prices were in force in the month; repeat it for each (default: the prices that deployments left; where none are kept, the policy's)",
    ),
    ...GITLAB_FLAGS,
    ...LEDGER_FLAGS,
    ...RULES_FLAGS,
  },
  json: 'the comparison as one JSON object',
  examples: [
    'tollgate audit --month 2026-10 --group acme --gitlab https://gitlab.example.com --token-file token',
  ],
  exits: { 0: 'every charge agrees', 1: 'GitLab or the ledger does not answer', 2: 'some differ' },
  run: async ({ flags }, io) => {
    const { month, group } = flags;
    const place = readGitLabPlace(flags, io);
    const { statement, kept } = await withBooks(flags, io, async ({ api }) => {
      const stated = await answeredInProcess(
        api.statements[':month'].$get({ param: { month }, query: { group, by: 'job' } }),
      );
      const span = { from: String(stated.startMs), until: String(stated.endMs) };
      const deployed = flags.prices.length > 0 ? undefined : await found(api.prices.$get({ query: span }));
      return { statement: stated, kept: deployed };
    });
    const { startMs, endMs, currency } = statement;
    const { prices, source } = pricesOf(flags.prices, kept, rulesFiles(flags, io).policy, io);
    const booked = bookedCharges(statement);
    const progress = progressOf('jobs read from GitLab', io);
    const runs = runsOf({
      ...{ calls: callsTo(place), fromMs: startMs, toMs: endMs, onJob: progress.step },
      downToId: Math.min(...booked.keys()),
    });
    const own = `${statement.group.toLowerCase()}/`;
    const counts = (path: string): boolean => group === 'instance' || path.toLowerCase().startsWith(own);
    const comparison = await compareCharges({ startMs, endMs, runs, booked, prices, counts });
    progress.done();
    print(io, flags, { month, group: statement.group, currency, prices: source, ...comparison }, () =>
      auditText(statement, source, comparison, paintWhen(io.colours)),
    );
    return comparison.differences.length === 0 ? EXIT.ok : EXIT.wouldReject;
  },
});

/** Source of the prices. */
type PriceSource =
  | { readonly kind: 'documents'; readonly files: readonly string[] }
  /** `sinceMs`: Unix ms; earlier jobs use the first prices. */
  | { readonly kind: 'deployed'; readonly editions: number; readonly sinceMs: number };

/** @throws {Error} where what deployments left is not as it was written. */
function pricesOf(
  named: readonly string[],
  kept: KeptPrices | undefined,
  policyFile: string,
  io: TerminalIo,
): { readonly prices: PriceBook; readonly source: PriceSource } {
  if (kept !== undefined && kept.changes.length > 0) {
    const prices = bookOfDeployments(kept);
    const { editions, sinceMs } = prices;
    return { prices, source: { kind: 'deployed', editions, sinceMs } };
  }
  const files = named.length > 0 ? named : [policyFile];
  const texts = new Map(
    files.map((file) => [file, readUserFile(resolve(io.cwd, file), `--prices "${file}"`)]),
  );
  return { prices: bookOfDocuments(texts), source: { kind: 'documents', files } };
}

/** A job's lines together: what it was charged first, and its corrections. */
function bookedCharges({ lines }: Statement): ReadonlyMap<number, BookedCharge> {
  const booked = new Map<number, BookedCharge>();
  for (const { job, projectPath, runnerClass, microsPerMinute, priceVersion, seconds, micros } of lines) {
    if (job === undefined) continue;
    const sum = booked.get(job.id) ?? { seconds: 0, micros: 0 };
    booked.set(job.id, {
      ...{ jobId: job.id, projectPath, runnerClass, microsPerMinute, priceVersion },
      ...{ seconds: sum.seconds + seconds, micros: sum.micros + micros },
    });
  }
  return booked;
}

function auditText(
  { group, month, currency, startMs, zone }: Statement,
  source: PriceSource,
  comparison: ChargeComparison,
  paint: Paint,
): string {
  const { jobs, bookedMicros, recomputedMicros, differences, open, edge, byRequest } = comparison;
  const more = differences.length - SHOWN;
  const notes: readonly (readonly [boolean, string])[] = [
    [
      source.kind === 'deployed' && source.sinceMs > startMs,
      'Prices were kept later than the month began: jobs before are taken at the first of them. --prices names others.',
    ],
    [open > 0, `${open} jobs still run: they were not compared.`],
    [edge > 0, `${edge} jobs were created before the month and are not charged in it: see the month before.`],
    [
      byRequest > 0,
      `${byRequest} jobs of classes priced by what a job requests were taken at the rate of the books.`,
    ],
  ];
  return [
    paint.strong(
      `${printable(group)}, ${month}: the books charge ${money(bookedMicros, currency)}, recomputed ${money(recomputedMicros, currency)}`,
    ),
    differences.length === 0
      ? paint.good(`${jobs} jobs, every charge agrees.`)
      : paint.bad(`${jobs} jobs, ${differences.length} differ:`),
    ...differences
      .slice(0, SHOWN)
      .map(
        (each) =>
          `  job ${each.jobId} of ${printable(each.projectPath)}: charged ${money(each.bookedMicros, currency)}, recomputed ${money(each.recomputedMicros, currency)}; ${printable(each.sentence)}`,
      ),
    ...(more > 0 ? [`  … and ${more} more: --json has them all`] : []),
    paint.dim(sourceText(source, zone)),
    ...notes.filter(([applies]) => applies).map(([, note]) => paint.warn(note)),
    '',
  ].join('\n');
}

const sourceText = (source: PriceSource, zone: string): string =>
  source.kind === 'documents'
    ? `Prices: ${source.files.map(printable).join(', ')}.`
    : `Prices: ${source.editions} as deployed, kept since ${instantText(source.sinceMs, zone)}.`;

export const commands = [audit];
