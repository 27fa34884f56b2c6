import type {
  RolloutForecast,
  RolloutMovedView,
  RolloutRow,
} from '../../../functions/answers/rollout/model.ts';
import { planMoves, type RolloutMove } from '../../../functions/answers/rollout/rollout-moves.ts';
import { NO_SET } from '../../../functions/core/limits/index.ts';
import { MODES, type Mode } from '../../../policies/mode.ts';
import { ROLLOUT_CLASSES } from '../../../policies/rollout-step.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { type ApiClient, answeredInProcess } from '../api/api-in-process.ts';
import { countToTheEnd } from '../api/count-to-the-end.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  readActor,
  readReason,
  readRights,
} from '../budget/budget-flags.ts';
import { editBase } from '../budget/edit-command.ts';
import { namedRows, readWhich, toldRefusal, wholeRollout } from './rollout-rows.ts';
import { forecastText, heldText, stepsText } from './rollout-text.ts';

const MOVE_FLAGS = {
  all: 'switch',
  class: 'text',
  reason: 'text',
  actor: 'text',
  as: 'text',
  base: 'text',
  ...BUDGET_FLAGS,
} as const;

const MOVE_HELP = `  <group>              a path, GitLab's id, instance (for all that have no step of their own), or project/7
  --all                everybody of tollgate rollout
  --class <class>      only rules of cost, or of capacity   (default: both)
  --reason <text>      why, for the change log (needed)
  --actor <name>       who changes it              (default: the user of this machine)
  --as <role>          admin (the default) or finance, who takes steps on and none back
  --base <set>         the set this is an edit of; refused if another is live   (default: whatever is live now;
                       none: no set was ever published, and this begins the first)
${BUDGET_FLAGS_HELP}`;

const EXITS =
  'Exit codes: 0 moved, 1 the table does not answer, 2 somebody stays or the desk refused, 3 wrong usage';

const NEXT_HELP = `tollgate rollout next <group> … | --all [--force] [flags]

One step on: off → shadow → reported → warn → enforce. Shows which jobs of the last week would have failed if it were
enforced now, and moves whoever has what the step needs; who has not stays, and the answer says what is missing. From
shadow the next step is the report: tollgate rollout report. What was taken out of the rollout is not part of --all.

  --force              moves them although something is missing, from shadow to warn without a report; the log says
                       what was missing
  --dry-run            shows what would move and writes nothing
${MOVE_HELP}

${EXITS}`;

const BACK_HELP = `tollgate rollout back <group> … | --all [--to <mode>] [flags]

One step back, at once: enforce → warn → reported → shadow. It needs nothing but the right to do so. What is below and has
a step of its own keeps it.

  --to <mode>          back to warn, shadow or off at once; off takes a group or project out of the rollout, and what
                       goes no further already stays
${MOVE_HELP}

${EXITS}`;

const WORDS = { max: 100, what: 'groups' };

export const rolloutNextCommandOn = (deps: BudgetDeps): Command => ({
  name: 'rollout next',
  summary: 'One step on for groups that have what it needs; shows which jobs would have failed',
  help: NEXT_HELP,
  run: async (args, io) => {
    const flags = { ...MOVE_FLAGS, force: 'switch', 'dry-run': 'switch' } as const;
    const { values, words } = readFlags(args, flags, WORDS);
    const which = readWhich(words, values.all);
    const move: RolloutMove = {
      direction: 'next',
      force: values.force,
      ...readClass(values.class),
      ...(values.all && { all: true }),
    };
    return moved(deps, io, { values, which, move, dryRun: values['dry-run'] });
  },
});

export const rolloutBackCommandOn = (deps: BudgetDeps): Command => ({
  name: 'rollout back',
  summary: 'One step back for groups, at once and whatever is missing',
  help: BACK_HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, { ...MOVE_FLAGS, to: 'text' }, WORDS);
    const which = readWhich(words, values.all);
    const to = readMode(values.to);
    const move: RolloutMove = {
      direction: 'back',
      ...readClass(values.class),
      ...(to !== undefined && { to }),
    };
    return moved(deps, io, { values, which, move, dryRun: false });
  },
});

export const rolloutNextCommand: Command = rolloutNextCommandOn(BUDGET_DEPS);
export const rolloutBackCommand: Command = rolloutBackCommandOn(BUDGET_DEPS);

function readClass(text: string | undefined): Pick<RolloutMove, 'only'> {
  const only = ROLLOUT_CLASSES.find((each) => each === text);
  if (text !== undefined && only === undefined)
    throw new UsageError(
      `--class "${text}": expected ${ROLLOUT_CLASSES.join(' or ')}; security rules have no steps`,
    );
  return only === undefined ? {} : { only };
}

function readMode(text: string | undefined): Mode | undefined {
  const to = MODES.find((mode) => mode === text && mode !== 'enforce');
  if (text !== undefined && to === undefined)
    throw new UsageError(`--to "${text}": expected warn, shadow or off; tollgate rollout next goes on`);
  return to;
}

interface MoveAsked {
  readonly values: ReturnType<typeof readFlags<typeof MOVE_FLAGS>>['values'];
  readonly which: readonly string[] | 'all';
  readonly move: RolloutMove;
  readonly dryRun: boolean;
}

function moved(deps: BudgetDeps, io: TerminalIo, asked: MoveAsked): Promise<ExitCode> {
  const { values, which, move, dryRun } = asked;
  const actor = readActor(values, deps);
  const why = dryRun ? 'dry run' : readReason(values.reason);
  return withBudget(deps.open, values, io, async (budget) => {
    const api = budget.apiOf(actor, readRights(values, budget.directory));
    const base = await editBase(budget, values.base);
    const rows = which === 'all' ? (await wholeRollout(api)).rows : await namedRows(which, api, budget);
    const forecast = move.direction === 'next' ? await forecastOf(rows, move, api, io) : undefined;
    const paint = paintWhen(io.colours);
    if (forecast !== undefined && !values.json) io.out(forecastText(forecast, io.columns));
    const view = dryRun
      ? { outcome: 'unchanged' as const, ...planned(rows, move) }
      : await applied(api, rows, asked, { why, set: base.set ?? NO_SET }, io);
    if (typeof view === 'number') return view;
    if (values.json) io.out(`${JSON.stringify({ ...view, dryRun, forecast: forecast ?? null })}\n`);
    else {
      const nothing = view.moved.length + view.held.length === 0;
      if (nothing) io.out('There is no step left in this direction; nothing was written.\n');
      if (view.moved.length > 0) io.out(stepsText(view.moved, io.columns));
      if (view.edit !== undefined) io.out(`${paint.good('live')}  set ${view.set}, edit ${view.edit}\n`);
      if (view.held.length > 0) io.err(`${heldText(view.held, paint)}${REMEDY}`);
    }
    return view.held.length > 0 ? EXIT.wouldReject : EXIT.ok;
  });
}

const REMEDY =
  'Send the report with tollgate rollout report, wait for what is missing, or say --force: the log will say what was missing.\n';

type MovedView = Pick<RolloutMovedView, 'moved' | 'held' | 'set' | 'edit' | 'outcome'>;

function planned(rows: readonly RolloutRow[], move: RolloutMove): Pick<MovedView, 'moved' | 'held'> {
  const { moved: steps, held } = planMoves(rows, move);
  return { moved: steps, held };
}

/** Forecast for the moved subjects; undefined: none, or rate-limited. */
async function forecastOf(
  rows: readonly RolloutRow[],
  move: RolloutMove,
  api: ApiClient,
  io: TerminalIo,
): Promise<RolloutForecast | undefined> {
  const subjects = [...new Set(planMoves(rows, move).moved.map(({ subject }) => subject))];
  // The instance includes all others.
  const asked = subjects.includes('instance') ? ['instance'] : subjects.slice(0, WORDS.max);
  if (asked.length === 0) return undefined;
  return countToTheEnd(
    async (query) => {
      const response = await api.rollout.forecast.$post({ query, json: { subjects: asked } });
      return response.status === 429 ? undefined : answeredInProcess(Promise.resolve(response));
    },
    (forecast) => forecast,
    io,
  );
}

async function applied(
  api: ApiClient,
  rows: readonly RolloutRow[],
  { values, which, move }: MoveAsked,
  { why, set }: { readonly why: string; readonly set: string },
  io: TerminalIo,
): Promise<MovedView | ExitCode> {
  const response = await api.rollout.moves.$post({
    header: { 'if-match': `"${set}"` },
    json: {
      subjects: which === 'all' ? 'all' : rows.map(({ subject }) => subject),
      direction: move.direction,
      ...(move.direction === 'next' ? { force: move.force } : move.to !== undefined && { to: move.to }),
      ...(move.only !== undefined && { class: move.only }),
      why,
    },
  });
  return (await toldRefusal(response, values.json, io)) ?? answeredInProcess(Promise.resolve(response));
}
