import { resolve } from 'node:path';
import type { Statement } from '../../../functions/answers/statement/model.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { EXIT } from '../../terminal/command.ts';
import { command, orElse, print, required, text } from '../../terminal/define.ts';
import { amounts, printable, right, type Screen, textLines } from '../../terminal/table.ts';
import { readUserFile } from '../../terminal/user-file.ts';
import { found } from '../api/answers.ts';
import { withTable } from '../api/open-api.ts';
import { GITLAB_FLAGS, readGitLabPlace } from '../reconcile/gitlab-flags.ts';
import { runsOf } from '../reconcile/gitlab-runs.ts';
import { progressOf } from '../reconcile/progress.ts';
import { money } from '../report/shadow-words.ts';
import { rulesFiles, SOURCE_FLAGS } from '../rules-flags.ts';
import { readStatement } from '../statement/statement.ts';
import { type BookedCharge, type ChargeComparison, compareCharges } from './recompute/compare-charges.ts';
import { bookOfDeployments, bookOfDocument } from './recompute/prices.ts';

const audit = command({
  name: 'audit',
  about: `Compares each with what the ledger charges, and names every job that differs, with both amounts and the likely reason. The prices
are those that were deployed, each since when it was seen; their hashes are checked first. Where none are stored, the policy's
count. The month must be younger than 90 days: its records are read.`,
  flags: {
    month: required(text('<month>', 'a month like 2026-10')),
    group: orElse(text('<id | path>', 'e.g. acme/payments; instance is everything'), 'instance'),
    ...GITLAB_FLAGS,
    ...SOURCE_FLAGS,
  },
  examples: [
    'tollgate audit --month 2026-10 --group acme --gitlab https://gitlab.example.com --token-file token',
  ],
  exits: { 0: 'every charge agrees', 1: 'GitLab or the ledger does not answer', 2: 'some differ' },
  run: async ({ flags }, io) => {
    const { month, group } = flags;
    const place = readGitLabPlace(flags, io);
    const { statement, stored } = await withTable(flags, io, async ({ api, directory }) => {
      const stated = await readStatement(api, month, { group, by: 'job' }, directory);
      const span = { from: String(stated.startMs), until: String(stated.endMs) };
      return { statement: stated, stored: await found(api.prices.$get({ query: span })) };
    });
    const { startMs, endMs, currency } = statement;
    const deployed = stored && stored.changes.length > 0 ? bookOfDeployments(stored) : undefined;
    const files = rulesFiles(flags, io);
    const readPolicy = () =>
      bookOfDocument(readUserFile(resolve(io.cwd, files.policy), `--policy "${files.policy}"`));
    const prices =
      deployed && stored
        ? { kind: 'deployed', priceTexts: stored.priceTexts.length, sinceMs: deployed.sinceMs }
        : { kind: 'document', file: files.policy };
    const booked = bookedCharges(statement);
    const progress = progressOf('jobs read from GitLab', io);
    const span = { fromMs: startMs, toMs: endMs, downToId: Math.min(...booked.keys()) };
    const runs = runsOf(span, place, progress.step);
    const own = `${statement.group.toLowerCase()}/`;
    const comparison = await compareCharges({
      ...{ startMs, endMs, runs, booked, prices: deployed?.book ?? readPolicy() },
      counts: (path) => group === 'instance' || path.toLowerCase().startsWith(own),
    });
    progress.done();
    print(io, flags, { month, group: statement.group, currency, prices, ...comparison }, (screen) =>
      auditText(statement, deployed?.sinceMs, comparison, screen),
    );
    return comparison.differences.length === 0 ? EXIT.ok : EXIT.wouldReject;
  },
});

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
  sinceMs: number | undefined,
  { jobs, bookedMicros, recomputedMicros, differences, open, edge, byRequest }: ChargeComparison,
  screen: Screen,
): string {
  const titles = [right('job'), amounts('charged'), amounts('recomputed'), 'project', 'why'];
  const rows = differences.map((each) => [
    String(each.jobId),
    ...[each.bookedMicros, each.recomputedMicros].map((micros) => money(micros, currency)),
    ...[each.projectPath, each.sentence].map(printable),
  ]);
  const notes = [
    sinceMs === undefined
      ? 'No deployment stored its prices: those of the policy document were taken.'
      : sinceMs > startMs &&
        `Prices are stored since ${instantText(sinceMs, zone)}: earlier jobs use the first prices.`,
    open > 0 && `${open} jobs still run: they were not compared.`,
    edge > 0 && `${edge} jobs were created before the month and are not charged in it: see the month before.`,
    byRequest > 0 &&
      `${byRequest} jobs of classes priced by what a job requests were taken at the rate of the books.`,
  ];
  return [
    `${screen.strong(`${printable(group)}, ${month}: the books charge ${money(bookedMicros, currency)}, recomputed ${money(recomputedMicros, currency)}`)}\n`,
    differences.length === 0
      ? `${screen.good(`${jobs} jobs, every charge agrees.`)}\n`
      : `${screen.bad(`${jobs} jobs, ${differences.length} differ:`)}\n${screen.firstRows(titles, rows, { max: 60 })}`,
    textLines(notes.map((note) => note && screen.warn(note))),
  ].join('');
}

export const commands = [audit];
