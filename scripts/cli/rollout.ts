import type {
  RolloutClassRow,
  RolloutForecast,
  RolloutMovedView,
  RolloutReportedView,
  RolloutRow,
  RolloutStepRow,
  RolloutView,
} from '../../functions/answers/rollout/model.ts';
import {
  planMoves,
  type RolloutMove,
  rolloutNeedText,
} from '../../functions/answers/rollout/rollout-moves.ts';
import { ENV_THRESHOLDS_TOPIC } from '../../functions/names.ts';
import { DAY_MS } from '../../policies/limits/calendar.ts';
import type { Mode } from '../../policies/mode.ts';
import { ROLLOUT_CLASSES, type RolloutStep } from '../../policies/rollout-step.ts';
import { withoutAbsent } from '../../policies/without-absent.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../terminal/command.ts';
import { choice, command, print, severalWords, text, toggle, type ValuesOf } from '../terminal/define.ts';
import { printable, right, type Screen, screenOf } from '../terminal/table.ts';
import {
  type ApiClient,
  allPages,
  answerOf,
  countToTheEnd,
  ifMatchSet,
  readInProcess,
} from './api/answers.ts';
import { type BudgetContext, withBudget } from './api/open-api.ts';
import {
  ACTOR_FLAG,
  BASE_FLAG,
  BUDGET_FLAGS,
  parseSubject,
  REASON_FLAG,
  readActor,
  readReason,
} from './budget/arguments.ts';
import { printRefusal } from './budget/change-text.ts';
import { editBase } from './budget/edits.ts';
import { shadowCount } from './report/shadow-words.ts';

const GROUPS_MAX = 100;
const GROUPS = severalWords(
  '[<group> …]',
  "a path, GitLab's id, instance (for all that have no step of their own), or project/7",
  [0, GROUPS_MAX],
);

const listing = (name: 'rollout' | 'rollout ls'): Command =>
  command({
    name,
    about: `The steps are off, shadow, reported (shadow, and the owner has the shadow report), warn and enforce, for rules of cost (money,
minutes) and of capacity (jobs at once). A group inherits its parent's step. Days are those with jobs since the step began,
"asked" is the share of jobs with an admission request.`,
    words: { groups: { ...GROUPS, help: `only these: ${GROUPS.help}` } },
    flags: BUDGET_FLAGS,
    examples: [`tollgate ${name} acme/payments instance`],
    run: ({ flags, words: { groups } }, io) =>
      withBudget(flags, io, async (budget) => {
        const whole = await readRollout(budget.api);
        const rows = groups.length === 0 ? whole.rows : await readNamedRows(groups, budget.api, budget);
        return print(io, flags, { ...whole, rows, total: rows.length }, (screen) =>
          rolloutTable(rows, screen, whole.nowMs),
        );
      }),
  });

const MOVE_FLAGS = {
  all: toggle('all groups that tollgate rollout lists'),
  class: choice('<class>', 'only rules of (default: both): ', ROLLOUT_CLASSES),
  reason: REASON_FLAG,
  actor: ACTOR_FLAG,
  base: BASE_FLAG,
  ...BUDGET_FLAGS,
};
const MOVE_EXITS = { 0: 'moved', 2: 'a group stays, or it was refused' } as const;

const rolloutNext = command({
  name: 'rollout next',
  about: `The steps are off → shadow → reported → warn → enforce. Lists what others lack. From shadow the next step is the report:
tollgate rollout report.`,
  words: { groups: GROUPS },
  flags: {
    force: toggle(
      'moves them although something is missing, from shadow to warn without a report; the log lists what was missing',
    ),
    'dry-run': toggle('shows what would move and writes nothing'),
    ...MOVE_FLAGS,
  },
  examples: ['tollgate rollout next --all --class cost --dry-run'],
  exits: MOVE_EXITS,
  run: ({ flags, words }, io) => {
    const { force, class: only, all, 'dry-run': dryRun } = flags;
    const step = { direction: 'next' as const, force, ...withoutAbsent({ only }), ...(all && { all: true }) };
    return move(step, words.groups, flags, io, dryRun);
  },
});

const BACK_TO = ['warn', 'shadow', 'off'] as const satisfies readonly Mode[];

const rolloutBack = command({
  name: 'rollout back',
  about: `The steps are enforce → warn → reported → shadow. It has no requirement but the right to do so. Groups below with a step of
their own keep it.`,
  words: { groups: GROUPS },
  flags: {
    to: choice(
      '<mode>',
      'off takes a group or project out of the rollout. Groups that are there already stay. One of ',
      BACK_TO,
    ),
    ...MOVE_FLAGS,
  },
  examples: ['tollgate rollout back acme/payments --reason "release week"'],
  exits: MOVE_EXITS,
  run: ({ flags, words }, io) => {
    const step = { direction: 'back' as const, ...withoutAbsent({ only: flags.class, to: flags.to }) };
    return move(step, words.groups, flags, io);
  },
});

function move(
  step: RolloutMove,
  groups: readonly string[],
  flags: ValuesOf<typeof MOVE_FLAGS> & { readonly json: boolean },
  io: TerminalIo,
  dryRun = false,
): Promise<ExitCode> {
  const which = readSelection(groups, flags.all);
  const actor = readActor(flags, io);
  const why = dryRun ? 'dry run' : readReason(flags.reason);
  return withBudget(flags, io, async (budget) => {
    const api = budget.apiOf(actor);
    const base = await editBase(budget, flags.base);
    const rows = which === 'all' ? (await readRollout(api)).rows : await readNamedRows(which, api, budget);
    const forecast = step.direction === 'next' ? await countForecast(rows, step, api, io) : undefined;
    const screen = screenOf(io);
    if (forecast !== undefined && !flags.json) io.out(forecastText(forecast, screen));
    const format = { currency: budget.currency, json: flags.json, io };
    let view: Pick<RolloutMovedView, 'moved' | 'held' | 'set' | 'edit' | 'outcome'>;
    if (dryRun) {
      const { moved, held } = planMoves(rows, step);
      view = { outcome: 'unchanged', moved, held };
    } else {
      const json = {
        subjects: which === 'all' ? ('all' as const) : rows.map(({ subject }) => subject),
        direction: step.direction,
        ...(step.direction === 'next' ? { force: step.force } : withoutAbsent({ to: step.to })),
        ...(step.only !== undefined && { class: step.only }),
        why,
      };
      const answer = await answerOf(api.rollout.moves.$post({ header: ifMatchSet(base.set), json }));
      if (!answer.ok) return printRefusal(answer, base.set, format);
      view = answer.body;
    }
    const { moved, held, set, edit } = view;
    print(io, flags, { ...view, dryRun, forecast: forecast ?? null }, () => {
      if (moved.length + held.length === 0)
        return 'There is no step left in this direction; nothing was written.\n';
      const live = edit === undefined ? '' : `${screen.good('live')}  set ${set}, edit ${edit}\n`;
      return `${stepsText(moved, screen)}${live}`;
    });
    if (held.length > 0 && !flags.json) io.err(`${heldText(held, screen)}${REMEDY}`);
    return held.length > 0 ? EXIT.wouldReject : EXIT.ok;
  });
}

const REMEDY =
  'Send the report with tollgate rollout report, wait for what is missing, or say --force: the log will list what was missing.\n';

async function countForecast(rows: readonly RolloutRow[], move: RolloutMove, api: ApiClient, io: TerminalIo) {
  const subjects = [...new Set(planMoves(rows, move).moved.map(({ subject }) => subject))];
  const counted = subjects.includes('instance') ? ['instance'] : subjects.slice(0, GROUPS_MAX);
  if (counted.length === 0) return undefined;
  return countToTheEnd(
    async (query) => {
      const response = await api.rollout.forecast.$post({ query, json: { subjects: counted } });
      return response.status === 429 ? undefined : readInProcess(Promise.resolve(response));
    },
    (forecast) => forecast,
    io,
  );
}

const REPORTS_MAX = 20;

const rolloutReport = command({
  name: 'rollout report',
  about: `It is the report of the last two weeks, and the step "reported". Without a topic of owners nothing is sent or recorded, and the
text is shown instead.`,
  words: {
    groups: { ...GROUPS, help: "a path, GitLab's id, project/7, or instance, whose owner is finance" },
  },
  flags: {
    all: toggle('all groups of tollgate rollout in shadow whose owner has no report yet'),
    topic: text('<arn>', `the SNS topic of owners (default: $${ENV_THRESHOLDS_TOPIC})`),
    informed: toggle('records that you informed the owners yourself; sends nothing'),
    reason: text('<text>', 'for the change log (default: shadow report)'),
    actor: ACTOR_FLAG,
    base: text('none', 'no set of limits was ever published, and this begins the first'),
    ...BUDGET_FLAGS,
    console: text('<url>', 'address of the console, for the link in the message'),
  },
  examples: ['tollgate rollout report acme/payments --topic arn:aws:sns:eu-west-1:123456789012:owners'],
  exits: {
    0: 'sent',
    1: 'the table or the topic does not answer',
    2: 'an owner could not be informed, or it was refused',
  },
  run: ({ flags, words }, io) => {
    const which = readSelection(words.groups, flags.all);
    const actor = readActor(flags, io);
    const why = readReason(flags.reason ?? 'shadow report');
    const topic = flags.topic ?? (io.env[ENV_THRESHOLDS_TOPIC] || undefined);
    return withBudget({ ...flags, topic }, io, async (budget) => {
      const api = budget.apiOf(actor);
      const base = await editBase(budget, flags.base);
      const format = { currency: budget.currency, json: flags.json, io };
      const rows =
        which === 'all'
          ? (await readRollout(api)).rows.filter(({ classes }) =>
              classes.some(({ step }) => step === 'shadow'),
            )
          : await readNamedRows(which, api, budget);
      const subjects = rows.map(({ subject }) => subject);
      const reports: Report[] = [];
      for (let start = 0; start < subjects.length; start += REPORTS_MAX) {
        const part = subjects.slice(start, start + REPORTS_MAX);
        const json = { subjects: part, informed: flags.informed, why };
        const answer = await answerOf(api.rollout.reports.$post({ json }));
        if (!answer.ok) return printRefusal(answer, base.set, format);
        reports.push(...answer.body.reports);
      }
      print(io, flags, { reports }, (screen) =>
        reports.length === 0 ? 'No owner needs a report.\n' : reportsText(reports, screen),
      );
      const unsent = reports.filter(({ outcome }) => outcome === 'no-topic').length;
      if (unsent > 0 && !flags.json) io.err(NO_WAY);
      return unsent > 0 ? EXIT.wouldReject : EXIT.ok;
    });
  },
});

type Report = RolloutReportedView['reports'][number];

const NO_WAY = `Nothing was sent, and nothing was written down: name the topic of owners with --topic, or inform them yourself and add --informed.\n`;

const WORDS: Readonly<Record<Report['outcome'], string>> = {
  sent: 'sent to',
  'sent-before': 'sent within the last hour to',
  informed: 'informed by you:',
  'no-topic': 'not sent to',
};

const reportsText = (reports: readonly Report[], screen: Screen): string =>
  reports
    .map(({ subject, path, owner, contact, outcome, title, text }) => {
      const who = `${printable(owner)}${contact === undefined ? '' : ` (${printable(contact)})`}`;
      const line = `${screen.strong(printable(rolloutName({ subject, path })))}  ${WORDS[outcome]} ${who}\n`;
      return outcome === 'no-topic' ? `${line}\n${printable(title)}\n\n${text}\n\n` : line;
    })
    .join('');

const PAGE_ROWS = '100';

async function readRollout(api: ApiClient): Promise<RolloutView> {
  const pages = await allPages((from) =>
    readInProcess(api.rollout.$get({ query: { max: PAGE_ROWS, ...from } })),
  );
  const { next: _next, ...first } = pages[0];
  return { ...first, rows: pages.flatMap(({ rows }) => rows) };
}

async function readNamedRows(
  words: readonly string[],
  api: ApiClient,
  { directory }: Pick<BudgetContext, 'directory'>,
): Promise<readonly RolloutRow[]> {
  const rows: RolloutRow[] = [];
  for (const word of words) {
    const query = { subject: parseSubject(word, directory) };
    const [row] = (await readInProcess(api.rollout.$get({ query }))).rows;
    if (row === undefined)
      throw new UsageError(`"${word}": no group or project that can be rolled out; see tollgate rollout`);
    rows.push(row);
  }
  return rows;
}

function readSelection(words: readonly string[], all: boolean): readonly string[] | 'all' {
  if (all && words.length > 0) throw new UsageError(`--all "${words[0]}": expected no group`);
  if (!all && words.length === 0) throw new UsageError('expected a group, or --all');
  return all ? 'all' : words;
}

export const commands = [listing('rollout'), listing('rollout ls'), rolloutNext, rolloutBack, rolloutReport];

const COUNTS = ['days', 'jobs', 'violations', 'asked'].map(right);
const TITLES = ['group', 'rules', 'step', 'since', ...COUNTS, 'the next step needs'];

function rolloutTable(rows: readonly RolloutRow[], screen: Screen, nowMs: number): string {
  const cells = rows.flatMap((row) =>
    row.classes.map((each, index) => [
      ...[index === 0 ? rolloutName(row) : '', each.class, painted(each.step, screen)],
      ...[
        sinceText(each, row, nowMs),
        String(each.days),
        shadowCount(each.jobs),
        shadowCount(each.wouldFail),
      ],
      ...[each.coveragePercent === undefined ? '–' : `${each.coveragePercent} %`, nextText(each, screen)],
    ]),
  );
  return screen.table(TITLES, cells);
}

const rolloutName = ({ subject, path }: Pick<RolloutRow, 'subject' | 'path'>): string =>
  subject === 'instance' ? subject : path;

const painted = (step: RolloutStep, screen: Screen): string =>
  step === 'enforce' ? screen.good(step) : step === 'warn' ? screen.warn(step) : step;

function sinceText({ from, fromPath, sinceMs }: RolloutClassRow, { subject }: RolloutRow, nowMs: number) {
  if (from !== undefined && from !== subject) return `as ${from === 'instance' ? from : (fromPath ?? from)}`;
  return sinceMs === undefined ? '' : `${Math.floor((nowMs - sinceMs) / DAY_MS)} days`;
}

function nextText({ next, needs }: RolloutClassRow, screen: Screen): string {
  if (next === undefined) return '';
  return `${next}: ${missingTexts(needs).join('; ') || screen.good('ready')}`;
}

const missingTexts = (needs: RolloutClassRow['needs']): readonly string[] =>
  needs.filter(({ met }) => !met).map(rolloutNeedText);

function stepsText(moved: readonly RolloutStepRow[], screen: Screen): string {
  const rows = moved.map((step) => [
    ...[rolloutName(step), step.class, `${step.from} → ${step.to}`],
    step.unmet.length === 0 ? '' : `forced: ${step.unmet.join('; ')}`,
  ]);
  return screen.table([{}, {}, {}, {}], rows);
}

function forecastText({ jobs, wouldFail, days, rows }: RolloutForecast, screen: Screen): string {
  const head = `If enforced now: ${shadowCount(wouldFail)} of ${shadowCount(jobs)} jobs of the last ${days} days would have failed that run as it is.\n`;
  const shown = rows.map(({ path, rule, limitLabel = '', code, jobs: count, examples: [example] }) => [
    ...[path, rule, `${code}  ${limitLabel}`, shadowCount(count)],
    ...[example?.url ?? (example === undefined ? '' : `job ${example.jobId}`)],
  ]);
  return `${head}${screen.table([{}, {}, {}, { align: 'right' }, {}], shown)}`;
}

const heldText = (held: readonly RolloutRow[], screen: Screen): string =>
  held
    .map((row) => {
      const missing = row.classes.flatMap(({ needs }) => missingTexts(needs));
      return `${screen.bad('stays')}  ${printable(rolloutName(row))}: ${[...new Set(missing)].join('; ')}\n`;
    })
    .join('');
