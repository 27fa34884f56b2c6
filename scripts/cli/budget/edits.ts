import type { BacktestAnswer, OwnLimit } from '../../../functions/answers/limits/models.ts';
import { readWrittenAmount } from '../../../policies/document/written.ts';
import { type LimitField, limitFields } from '../../../policies/limits/limit-fields.ts';
import { shellWord } from '../../../policies/text/plain-text.ts';
import { isAtOnce, SCALED_KINDS, writtenUnits } from '../../../policies/unit.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import {
  type Command,
  DocumentError,
  EXIT,
  type ExitCode,
  type TerminalIo,
  UsageError,
} from '../../terminal/command.ts';
import {
  type CommandRow,
  choice,
  command,
  type Flag,
  type FlagTable,
  optionalWord,
  type Parsed,
  readChoice,
  readWhole,
  severalWords,
  text,
  toggle,
  type ValuesOf,
  type WordTable,
  word,
} from '../../terminal/define.ts';
import { screenOf } from '../../terminal/table.ts';
import { answerOf, countToTheEnd, ifMatchSet, liveSet, type SentEdit } from '../api/answers.ts';
import { type BudgetContext, withBudget } from '../api/open-api.ts';
import { rollupZone } from '../ledger-flags.ts';
import { NOTHING_LIVE, setText } from '../limits/set-view.ts';
import {
  type AmountWords,
  EDIT_EXITS,
  EDIT_FLAGS,
  neededLimit,
  parseSubject,
  pickLimit,
  readActor,
  readAmountWords,
  readDayFlag,
  readReason,
  SUBJECT_HELP,
} from './arguments.ts';
import {
  editProblemText,
  type OutcomeFormat,
  printOutcome,
  printPreview,
  printRefusal,
} from './change-text.ts';

type EditFlags = ValuesOf<typeof EDIT_FLAGS> & { readonly json: boolean };
type EditsMade = readonly SentEdit[] | Promise<readonly SentEdit[]>;

/** A command that makes edits, or shows them with --dry-run. @param edits - {UsageError} for an edit that makes no sense */
export const editing = <const Flags extends FlagTable, const Words extends WordTable>({
  edits,
  flags,
  ...row
}: Omit<CommandRow<Flags, Words>, 'run' | 'exits'> & {
  readonly edits: (
    input: Parsed<Flags & typeof EDIT_FLAGS, Words>,
    budget: BudgetContext,
    io: TerminalIo,
  ) => EditsMade;
}): Command =>
  command<Flags & typeof EDIT_FLAGS, Words>({
    ...row,
    flags: { ...(flags ?? ({} as Flags)), ...EDIT_FLAGS },
    exits: EDIT_EXITS,
    run: async (input, io) => {
      const values = input.flags as unknown as EditFlags;
      const actor = readActor(values, io);
      const why = values['dry-run'] && values.reason === undefined ? 'dry run' : readReason(values.reason);
      return withBudget(values, io, async (budget) => {
        const base = await editBase(budget, values.base);
        return makeEdit({ edits: await edits(input, budget, io), actor, why }, base, values, budget, io);
      });
    },
  });

type EditBase = Awaited<ReturnType<typeof editBase>>;

/** `--base` of the first set, and the value that takes a field out. */
const NONE = 'none';

/** @param base - `--base`; absent: the published set. @throws {Error} with the remedy, if no set was ever published. */
export async function editBase(
  { api, packedFile, own }: Pick<BudgetContext, 'api' | 'packedFile' | 'own'>,
  base: string | undefined,
) {
  const live = await liveSet(api);
  if (live === undefined && base !== NONE)
    throw new Error(
      `${NOTHING_LIVE}\nMake them live first: ${own} limits publish ${shellWord(packedFile)} --why "first set"; or say --base ${NONE}, and the first set is ${packedFile} with this edit`,
    );
  return { live, set: base === NONE ? undefined : (base ?? live?.set) };
}

async function makeEdit(
  { edits: made, actor, why }: { edits: readonly SentEdit[]; actor: string; why: string },
  { live, set }: EditBase,
  flags: Pick<EditFlags, 'confirm' | 'dry-run' | 'json'>,
  { apiOf, currency }: BudgetContext,
  io: TerminalIo,
): Promise<ExitCode> {
  const { limits } = apiOf(actor);
  const format: OutcomeFormat = { currency, json: flags.json, io };
  const [header, edits] = [ifMatchSet(set), [...made]];
  if (!flags['dry-run']) {
    const json = { edits, why, confirmed: flags.confirm };
    return printOutcome(await answerOf(limits.edits.$post({ header, json })), set, format);
  }
  const shown = await answerOf(limits.preview.$post({ header, json: { edits } }));
  if (!shown.ok) return printRefusal(shown, set, format);
  const preview = shown.body;
  if (preview.outcome === 'invalid') throw new DocumentError(preview.problems.map(editProblemText));
  const shownSet = { base: set, live };
  if (preview.stale || preview.rows.length === 0) return printPreview(preview, undefined, shownSet, format);
  const replayed = await countToTheEnd(
    (query) => answerOf(limits.backtest.$post({ header, query, json: { edits } })),
    (answer) => (answer.ok && answer.body.outcome === 'counted' ? answer.body : undefined),
    io,
  );
  if (!replayed.ok) return printRefusal(replayed, set, format);
  return printPreview(preview, countedJobs(replayed.body), shownSet, format);
}

/**
 * `wouldFail` under the edited limits, `wouldFailNow` under those as they are, `failed` really; `wouldWait` get their room within
 * the `wait` of an edited limit. `jobsRead`: records of all subjects. Undefined: nothing could be counted.
 */
export function countedJobs(answer: BacktestAnswer) {
  if (answer.outcome !== 'counted') return undefined;
  const { jobs, wouldFail, wouldFailNow, wouldWait, failed } = answer.all;
  const { days, jobsRead } = answer;
  return { days, jobsRead, jobs, wouldFail, wouldFailNow, failed, ...withoutAbsent({ wouldWait }) };
}

const FIELDS = limitFields.filter(({ flag }) => flag !== undefined);
const VALUES: Readonly<Record<LimitField['type'], string>> = {
  part: '<amount>',
  choice: '<word>',
  word: '<word>',
  text: '<text>',
  day: '<day>',
  percents: '<list>',
};

const FIELD_FLAGS: Readonly<Record<string, Flag>> = Object.fromEntries(
  FIELDS.map((field) => {
    const { flag = '', type, choices, help } = field;
    const about = choices === undefined ? help : `${help} ${choices.join(', ')}`;
    return [flag, text(VALUES[type], about, (given) => (given === NONE ? null : readField(field, given)))];
  }),
);

function readField({ type, flag = '', choices = [] }: LimitField, given: string): unknown {
  switch (type) {
    case 'choice':
      return readChoice(flag, given, choices);
    case 'percents':
      return (given.match(/forecast +\d+|[^\s,]+/g) ?? []).map((each) => {
        const threshold = each.replace(/ +/, ' ');
        return /^forecast \d{1,4}$/.test(threshold) ? threshold : readWhole(flag, threshold, 1, 1_000);
      });
    case 'day':
      return readDayFlag(given, flag);
    default:
      return given;
  }
}

type Fields = Omit<
  Extract<SentEdit, { kind: 'set' }>,
  'kind' | 'subject' | 'limit' | 'unit' | 'amount' | 'per'
>;

const budgetSet = editing({
  name: 'budget set',
  about: `It is in force everywhere within five seconds. Fields that are not named stay; "none" takes a field out.`,
  words: {
    group: word('<group>', SUBJECT_HELP),
    amount: severalWords(
      '<amount>',
      '500 EUR/month, 1000 min/week, 20 jobs, 100 starts/hour, 64 cpu, 256Gi memory; 0 EUR/month blocks, unlimited EUR/month lifts this level. A bare 500 changes the only limit of the group',
      [0, 3],
    ),
  },
  expects: 'a group and an amount such as 500 EUR/month',
  flags: { limit: text('<id>', 'which limit, if a group has several: money-month'), ...FIELD_FLAGS },
  examples: [
    'tollgate budget set acme/payments 9 EUR/month --reason "budget 2027"',
    'tollgate budget set acme/payments +20% --dry-run',
  ],
  edits: async ({ flags, words: { group, amount: amountWords } }, budget) => {
    const { currency } = budget;
    const given: Readonly<Record<string, unknown>> = flags;
    const fields: Fields = Object.fromEntries(
      FIELDS.flatMap(({ name, flag = '' }) => (given[flag] === undefined ? [] : [[name, given[flag]]])),
    );
    if (amountWords.length === 0 && Object.keys(fields).length === 0)
      throw new UsageError('expected a group and an amount such as 500 EUR/month, or a field such as --mode');
    const subject = parseSubject(group, budget.directory);
    const written: Partial<AmountWords> =
      amountWords.length === 0 ? {} : readAmountWords(amountWords, currency);
    const { amount, per } = written;
    const current = await pickLimit(subject, { ...written, word: group, id: flags.limit }, budget);
    const unit = written.unit ?? current?.kind;
    const missing = (what: string): UsageError =>
      new UsageError(`${group} has no limit like this yet: expected ${what}`);
    if (unit === undefined) throw missing(`its unit, e.g. 500 ${currency}/month`);
    if (current === undefined && amount === undefined) throw missing('an amount');
    if (current === undefined && per === undefined && !isAtOnce(unit))
      throw missing(`a period, e.g. 500 ${currency}/month`);
    const limit = flags.limit ?? current?.id;
    const read = amount === undefined ? undefined : resolveShare(amount, current, currency);
    return [{ kind: 'set', subject, unit, ...withoutAbsent({ limit, amount: read, per }), ...fields }];
  },
});

function resolveShare(written: string, current: OwnLimit | undefined, currency: string): string {
  if (!written.endsWith('%')) return written;
  const was =
    current && current.amount !== 'unlimited' ? writtenUnits(current.amount, current.kind) : undefined;
  const read = readWrittenAmount(written, { currency, was });
  if (read.ok) return read.text;
  throw new UsageError(read.message);
}

const budgetRemove = editing({
  name: 'budget remove',
  about: `Its counter is kept for the period.`,
  words: { group: word('<group>', SUBJECT_HELP), limit: word('<limit>', 'its id: money-month') },
  examples: ['tollgate budget remove acme/payments money-month --reason "reorganized"'],
  edits: async ({ words: { group, limit: id } }, budget) => {
    const subject = parseSubject(group, budget.directory);
    const limit = await neededLimit(subject, { word: group, id }, budget);
    return [{ kind: 'remove', subject, limit: limit.id }];
  },
});

const budgetScale = editing({
  name: 'budget scale',
  about: `Unlimited ones, 0 and caps stay.`,
  words: {
    group: word(
      '<group>',
      "a full path such as acme/payments, or GitLab's id; also a project, or instance: all",
    ),
    share: word('<share>', '+8%, -12.5%'),
  },
  expects: 'a group and a share such as +8%',
  flags: {
    unit: choice('<unit>', 'limits of this kind (default: money): ', SCALED_KINDS),
    round: text('<step>', 'to the nearest multiple: 10, 0.5 (default: to the last digit)'),
    only: toggle('its own limits, without those below it'),
  },
  examples: ['tollgate budget scale acme +8% --round 10 --dry-run'],
  edits: ({ flags: { unit, round, only }, words: { group, share: by } }, { directory }) => {
    const subject = parseSubject(group, directory);
    return [{ kind: 'scale', subject, by, ...withoutAbsent({ unit, round }), ...(only && { below: false }) }];
  },
});

const EDIT_MAX = 999_999_999;
const WHY_CHARACTERS_MAX = 500;

const budgetUndo = command({
  name: 'budget undo',
  about: `That is an edit of its own: if it raises a limit, another person has to approve it.`,
  words: {
    edit: optionalWord(
      '<edit>',
      'its number, from tollgate budget history; refused if it is not the last one (default: the last one)',
    ),
  },
  flags: EDIT_FLAGS,
  examples: ['tollgate budget undo 42 --dry-run'],
  exits: EDIT_EXITS,
  run: async ({ flags, words }, io) => {
    const named = words.edit === undefined ? undefined : readWhole('edit', words.edit, 1, EDIT_MAX);
    const actor = readActor(flags, io);
    return withBudget(flags, io, async (budget) => {
      const live = await liveSet(budget.api);
      if (live === undefined) throw new UsageError(NOTHING_LIVE);
      const { set, edit } = live;
      if ((flags.base ?? set) !== set || (named ?? edit) !== edit) {
        const text = `Nothing was changed: others edited since, and only the last edit is taken back.\n${setText(live, rollupZone(io), screenOf(io))}`;
        if (flags.json) io.out(`${JSON.stringify({ outcome: 'stale', live })}\n`);
        else io.err(text);
        return EXIT.wouldReject;
      }
      const usual = `undoes edit ${edit}: ${live.why}`.slice(0, WHY_CHARACTERS_MAX);
      const why = flags.reason === undefined ? usual : readReason(flags.reason);
      return makeEdit({ edits: [{ kind: 'undo', edit }], actor, why }, { live, set }, flags, budget, io);
    });
  },
});

export const commands = [budgetSet, budgetRemove, budgetScale, budgetUndo];
