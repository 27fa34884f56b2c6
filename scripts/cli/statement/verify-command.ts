import { type Command, EXIT, type ExitCode, type TerminalIo } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { type ApiClient, answeredInProcess, found } from '../api/api-in-process.ts';
import { withBooks } from '../api/open-api.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenLedger, openLedger } from '../ledger/open-ledger.ts';
import { RULES_FLAGS, RULES_FLAGS_HELP } from '../rules-flags.ts';
import { type Progress, progressOf } from '../truth/progress.ts';

const HELP = `tollgate statement verify [--group <id | path>] [flags]

Are the closed months as they were written? Recomputes the hash of every closed statement, follows each group's chain from
month to month, and looks for numbers that are missing or name another statement. Names the first one that is wrong.

  --group <id | path>  only this group's chain       (default: every group, and the list of numbers)
${LEDGER_FLAGS_HELP}
${RULES_FLAGS_HELP}
  --json               what was checked and found as one JSON object

Exit codes: 0 all are as they were written, 1 the ledger does not answer, 2 one is not, 3 wrong usage`;

interface BrokenStatement {
  readonly number: number;
  /** Absent: the number's group is unknown. */
  readonly subject?: string;
  readonly month?: string;
  readonly sentence: string;
}

interface VerifyReport {
  readonly checked: number;
  readonly broken?: BrokenStatement;
}

/** @param open - tests open a ledger of their own. */
export const verifyCommandOn = (open: OpenLedger): Command => ({
  name: 'statement verify',
  summary: 'Are the closed months as they were written? Hashes, chains and numbers',
  help: HELP,
  run: (args, io) => verify(args, io, open),
});

export const verifyCommand: Command = verifyCommandOn(openLedger);

async function verify(args: readonly string[], io: TerminalIo, open: OpenLedger): Promise<ExitCode> {
  const { values } = readFlags(args, { group: 'text', ...LEDGER_FLAGS, ...RULES_FLAGS } as const);
  const { group } = values;
  const report = await withBooks(open, values, io, async ({ api, directory }): Promise<VerifyReport> => {
    if (group === undefined) return verifyAll(api, progressOf('statements read', io));
    const months = await monthsOf(api, group);
    if (months === undefined) throw notInDirectory(`--group ${group}`, group, directory.groupByPath.keys());
    const { statements, broken } = months;
    return { checked: statements.length, ...(broken && { broken: brokenOf(group, broken) }) };
  });
  io.out(values.json ? `${JSON.stringify(report)}\n` : `${told(report, io)}\n`);
  return report.broken === undefined ? EXIT.ok : EXIT.wouldReject;
}

const monthsOf = (api: ApiClient, group: string) =>
  found(api['closed-statements'].$get({ query: { group } }));
type ClosedMonths = NonNullable<Awaited<ReturnType<typeof monthsOf>>>;

const numbersOf = (api: ApiClient, from: number) =>
  answeredInProcess(api['closed-statements'].numbers.$get({ query: { from: String(from) } }));
type NumbersPage = Awaited<ReturnType<typeof numbersOf>>;

/** The list of numbers says which statements there must be; each chain says whether they are as they were. */
async function verifyAll(api: ApiClient, progress: Progress): Promise<VerifyReport> {
  const broken: BrokenStatement[] = [];
  const numbers: NumbersPage['numbers'][number][] = [];
  for (let from: number | undefined = 1; from !== undefined; ) {
    const page: NumbersPage = await numbersOf(api, from);
    numbers.push(...page.numbers);
    const last = page.next === undefined ? page.last : page.next - 1;
    const given = new Set(page.numbers.map(({ number }) => number));
    for (let number = from; number <= last; number += 1)
      if (!given.has(number)) broken.push({ number, sentence: 'is missing in the list of numbers' });
    from = page.next;
  }
  let checked = 0;
  for (const [subject, own] of Map.groupBy(numbers, (each) => each.subject)) {
    const months = await monthsOf(api, subject.replace(/^group\//, ''));
    const kept = new Map(months?.statements.map(({ month, sha256 }) => [month, sha256]));
    for (const { number, month, sha256 } of own) {
      progress.step();
      if (!kept.has(month)) broken.push({ number, subject, month, sentence: 'is gone' });
      else if (kept.get(month) !== sha256)
        broken.push({ number, subject, month, sentence: 'is not the one that got this number' });
    }
    checked += kept.size;
    if (months?.broken !== undefined) broken.push(brokenOf(subject, months.broken));
  }
  progress.done();
  const [first] = broken.sort((a, b) => a.number - b.number);
  return { checked, ...(first !== undefined && { broken: first }) };
}

const SENTENCES: Readonly<Record<NonNullable<ClosedMonths['broken']>['cause'], string>> = {
  text: 'was changed after it was closed: its text has another hash',
  link: 'does not follow on the month before: that one was changed or is gone',
};

const brokenOf = (
  subject: string,
  { number, month, cause }: NonNullable<ClosedMonths['broken']>,
): BrokenStatement => ({ number, subject, month, sentence: SENTENCES[cause] });

function told({ checked, broken }: VerifyReport, { colours }: TerminalIo): string {
  const paint = paintWhen(colours);
  if (broken === undefined) return paint.good(`${checked} closed months are as they were written.`);
  const { number, subject, month, sentence } = broken;
  const whose = subject === undefined ? '' : `, ${printable(subject)} ${month},`;
  return paint.bad(`Statement ${number}${whose} ${sentence}.`);
}
