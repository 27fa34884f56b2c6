import { type Command, type DeskIo, EXIT, type ExitCode } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { count } from '../report/shadow-words.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';
import { FORECASTS_MAX, forecasts } from './forecasts.ts';
import { type Budget, withBudget } from './open-budget.ts';
import { limitsInForce, percentOf, type Standing, standings, subjectLimits } from './standing.ts';
import { type ShownStanding, standingJson, standingsText } from './standing-text.ts';
import { knownSubject } from './subject-word.ts';

/** Two or three screens; --all and --json have the rest. */
const ROWS_SHOWN = 100;

const HELP = `tollgate budget ls [flags]

How do the limits stand? Used (final), held by running jobs, and left; the fullest first, or with --forecast those that run out first.
Amounts are those in force now: with grants and what was carried over.

  --group <group>      only this group and what is below it: a path or GitLab's id
  --over <percent>     only limits of which at least so much is used and held
  --forecast           when they run out, by the usage of the last four weeks
  --all                every row, not only the first ${ROWS_SHOWN}
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

const FLAGS = { group: 'text', over: 'text', forecast: 'switch', all: 'switch', ...BUDGET_FLAGS } as const;

export const lsCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget ls',
  summary: 'How do the limits stand? Used, held, left, and when they run out',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, FLAGS);
    const over =
      values.over === undefined ? undefined : readWhole('over', values.over.replace(/%$/, ''), 0, 1_000);
    return withBudget(deps.open, values, io, async (budget) => {
      const nowMs = io.nowMs();
      const live = await budget.desk.live();
      const set = live?.limits ?? budget.packed.limits;
      const group =
        values.group === undefined ? undefined : knownSubject(values.group, { ...budget, limits: set });
      const limits = await limitsInForce(set, budget, nowMs);
      const wanted = belowGroup(group, budget);
      const asked = subjectLimits(limits, budget.directory, nowMs, wanted, group !== undefined).filter(
        ({ limit }) => limit.mode !== 'off',
      );
      const found = (await standings(asked, budget, nowMs))
        .filter((each) => isOver(each, over))
        .toSorted(fullestFirst);
      const told = values.forecast ? await forecasts(found, budget, io) : undefined;
      const shown = found.map((each, index): ShownStanding => ({ ...each, forecast: told?.[index] }));
      const sorted = values.forecast ? shown.toSorted(runsOutFirst) : shown;
      return tell(sorted, { ...values, isPacked: live === undefined }, budget, io);
    });
  },
});

export const lsCommand: Command = lsCommandOn(BUDGET_DEPS);

interface HowToTell {
  readonly json: boolean;
  readonly all: boolean;
  readonly forecast: boolean;
  /** No set was ever published. */
  readonly isPacked: boolean;
}

function tell(
  shown: readonly ShownStanding[],
  { json, all, forecast, isPacked }: HowToTell,
  { policy: { currency }, directory }: Budget,
  io: DeskIo,
): ExitCode {
  if (json) {
    const limits = shown.map((each) => standingJson(each, directory));
    io.out(`${JSON.stringify({ currency, limits })}\n`);
    return EXIT.ok;
  }
  const paint = paintWhen(io.colours);
  const rows = all ? shown : shown.slice(0, ROWS_SHOWN);
  if (rows.length === 0) io.out('No limit is like this.\n');
  else io.out(standingsText(rows, directory, { currency, forecast, columns: io.columns, paint }));
  const notes = [
    ...(rows.length < shown.length
      ? [`… and ${count(shown.length - rows.length)} more: --all shows them`]
      : []),
    ...(forecast && shown.length > FORECASTS_MAX
      ? [`forecasts are of the ${FORECASTS_MAX} fullest only`]
      : []),
    ...(isPacked ? ['no set was ever published: these are those of policies/limits.yaml'] : []),
  ];
  io.out(notes.map((note) => paint.dim(`${note}\n`)).join(''));
  return EXIT.ok;
}

/** A group with everything below it; projects of its groups are below it, too. */
function belowGroup(group: string | undefined, { directory }: Budget): (subject: string) => boolean {
  if (group === undefined) return () => true;
  const id = Number(group.split('/')[1]);
  const isBelow = (groupId: number | undefined): boolean =>
    groupId !== undefined && (directory.chainById.get(groupId) ?? []).some((each) => each.id === id);
  return (subject) => {
    if (subject === group) return true;
    const [kind, of] = subject.split('/');
    if (!group.startsWith('group/')) return false;
    if (kind === 'group') return isBelow(Number(of));
    return kind === 'project' && isBelow(directory.projectById.get(Number(of))?.groupId);
  };
}

/** A limit of 0, and one that is past its end, is over whatever was asked. */
const isOver = (standing: Standing, percent: number | undefined): boolean =>
  percent === undefined || (percentOf(standing) ?? (standing.limit.amount === 0 ? 100 : -1)) >= percent;

const fullestFirst = (a: Standing, b: Standing): number =>
  (percentOf(b) ?? -1) - (percentOf(a) ?? -1) || (a.subject < b.subject ? -1 : 1);

const runsOutFirst = (a: ShownStanding, b: ShownStanding): number => runsOutMs(a) - runsOutMs(b);

/** Finite, so that those that last can be told from those nobody knows about. */
const runsOutMs = ({ forecast }: ShownStanding): number =>
  forecast === undefined ? 9e15 : forecast.outcome === 'lasts' ? 8e15 : forecast.atMs;
