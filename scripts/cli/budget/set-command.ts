import type { OwnLimit } from '../../../functions/answers/limits/budgets-model.ts';
import { readWrittenAmount } from '../../../policies/document/written.ts';
import { OUTAGE_POLICIES } from '../../../policies/limits/limit.ts';
import { MODES } from '../../../policies/mode.ts';
import { isAtOnce, readUnits, writtenUnits } from '../../../policies/units/unit.ts';
import { type Command, UsageError } from '../../terminal/command.ts';
import { type FlagValues, readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
import type { SentEdit } from '../api/edit-answer.ts';
import { type AmountWords, readAmountWords } from './amount-words.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS_HELP,
} from './budget-flags.ts';
import { readDayFlag } from './day-flag.ts';
import { EDITING_FLAGS, editCommand } from './edit-command.ts';
import { pickLimit } from './pick-limit.ts';
import { SUBJECT_HELP, subjectOfWord } from './subject-word.ts';

/** Takes a field out. */
const NONE = 'none';

const HELP = `tollgate budget set <group> <amount> [flags]

Sets a limit, or changes fields of one: in force everywhere within five seconds, without a deploy. What is not named
stays. With --dry-run: what would change, and which jobs of the last 30 days would have failed.

${SUBJECT_HELP}
  <amount>             500 EUR/month, 1000 min/week, 20 jobs, 100 starts/hour, 64 cpu, 256Gi memory; 0 EUR/month blocks,
                       unlimited EUR/month lifts this level. A bare 500 changes the one limit there is
  --limit <id>         which limit, where a group has several: money-month
  --zone <zone>        where the period begins and ends, e.g. Europe/Berlin
  --soft <amount>      80% or an amount: from there on the owner is warned
  --grace <amount>     10% or an amount on top, for pipelines that run already
  --carry <amount>     20% or an amount: the most of the rest that the next period has on top
  --overdraft <what>   absorb, carry or alert
  --mode <mode>        ${MODES.join(', ')}
  --when-unreachable <what>   while the limit cannot be asked: ${OUTAGE_POLICIES.join(', ')}; room: what was last known to be left
  --wait <duration>    20s: how long a job is kept waiting for a slot, CPU, memory or a start, rather than rejected at once
  --cohort <name>      limits of one cohort and unit use each other's idle jobs, CPU or memory
  --borrow, --lend <amount>   how far above its own, how much of its own at most (all): 50% or an amount
  --thresholds <list>  50,75,90,100: percent at which the owner is told; "80,forecast 100" also by the forecast
  --owner, --contact, --cost-center, --note <text>   about the limit; --note stands on it, --reason in the change log
  --from, --until <day>                              it asks nothing before and after; days are meant whole, in the
                                                     time zone of the limit
                       "${NONE}" takes a field out
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const FIELD_FLAGS = {
  limit: 'text',
  zone: 'text',
  soft: 'text',
  grace: 'text',
  carry: 'text',
  overdraft: 'text',
  mode: 'text',
  'when-unreachable': 'text',
  wait: 'text',
  cohort: 'text',
  borrow: 'text',
  lend: 'text',
  thresholds: 'text',
  owner: 'text',
  contact: 'text',
  'cost-center': 'text',
  note: 'text',
  from: 'text',
  until: 'text',
} as const;

const WORDS = { max: 4, what: 'a group and an amount such as 500 EUR/month' };

export const setCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget set',
  summary: 'Sets a limit without a deploy; --dry-run shows which jobs would have failed',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, { ...FIELD_FLAGS, ...EDITING_FLAGS }, WORDS);
    const [word, ...amountWords] = words;
    if (word === undefined) throw new UsageError(`expected ${WORDS.what}`);
    const fields = fieldsOf(values);
    if (amountWords.length === 0 && Object.keys(fields).length === 0)
      throw new UsageError(`expected ${WORDS.what}, or a field such as --mode`);
    return editCommand(values, io, deps, async (budget) => {
      const { policy, directory } = budget;
      const subject = subjectOfWord(word, directory);
      const written: Partial<AmountWords> =
        amountWords.length === 0 ? {} : readAmountWords(amountWords, policy.currency);
      const standing = await pickLimit(subject, { ...written, word, id: values.limit }, budget);
      const unit = written.unit ?? standing?.kind;
      if (unit === undefined)
        throw new UsageError(
          `${word} has no limit like this yet: expected its unit, e.g. 500 ${policy.currency}/month`,
        );
      if (standing === undefined && written.amount === undefined)
        throw new UsageError(`${word} has no limit like this yet: expected an amount`);
      if (standing === undefined && written.per === undefined && !isAtOnce(unit))
        throw new UsageError(
          `${word} has no limit like this yet: expected a period, e.g. 500 ${policy.currency}/month`,
        );
      const id = values.limit ?? standing?.id;
      const edit: SetLimit = {
        kind: 'set',
        subject,
        ...(id !== undefined && { limit: id }),
        unit,
        ...(written.amount !== undefined && {
          amount: amountOf(written.amount, standing, policy.currency),
        }),
        ...(written.per !== undefined && { per: written.per }),
        ...fields,
      };
      return [edit];
    });
  },
});

export const setCommand: Command = setCommandOn(BUDGET_DEPS);

/** A share refers to the limit's current amount. @throws {UsageError} */
function amountOf(written: string, standing: OwnLimit | undefined, currency: string): string {
  if (!written.endsWith('%')) return written;
  const read = readWrittenAmount(written, { currency, was: standing && plainAmount(standing) });
  if (read.ok) return read.text;
  throw new UsageError(read.message);
}

/** As limits.yaml has it; undefined: it has no end, or none that a decimal can say. */
function plainAmount({ amount, kind }: OwnLimit): string | undefined {
  if (amount === 'unlimited') return undefined;
  const written = writtenUnits(amount, kind);
  const read = readUnits(written, kind);
  return read.ok && read.amount === amount ? written : undefined;
}

type SetLimit = Extract<SentEdit, { kind: 'set' }>;
type Fields = Omit<SetLimit, 'kind' | 'subject' | 'limit' | 'unit' | 'amount' | 'per'>;

function fieldsOf(values: FlagValues<typeof FIELD_FLAGS>): Fields {
  const text = (value: string | undefined): string | null | undefined => (value === NONE ? null : value);
  const day = (flag: string, value: string | undefined): string | null | undefined =>
    value === undefined || value === NONE ? text(value) : readDayFlag(flag, value);
  const fields = {
    zone: text(values.zone),
    soft: text(values.soft),
    grace: text(values.grace),
    carry: text(values.carry),
    overdraft: chosen('overdraft', values.overdraft, ['absorb', 'carry', 'alert']),
    mode: chosen('mode', values.mode, MODES),
    when_unreachable: chosen('when-unreachable', values['when-unreachable'], OUTAGE_POLICIES),
    wait: text(values.wait),
    cohort: text(values.cohort),
    borrow: text(values.borrow),
    lend: text(values.lend),
    thresholds: thresholdsOf(values.thresholds),
    owner: text(values.owner),
    contact: text(values.contact),
    cost_center: text(values['cost-center']),
    reason: text(values.note),
    from: day('from', values.from),
    until: day('until', values.until),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}

function chosen<Choice extends string>(
  flag: string,
  value: string | undefined,
  choices: readonly Choice[],
): Choice | null | undefined {
  return value === undefined ? undefined : value === NONE ? null : readChoice(flag, value, choices);
}

const thresholdsOf = (value: string | undefined): (number | string)[] | null | undefined =>
  value === undefined
    ? undefined
    : value === NONE
      ? null
      : value.split(',').map((each) => readThreshold(each.trim()));

const readThreshold = (word: string): number | string =>
  /^forecast \d{1,4}$/.test(word) ? word : readWhole('thresholds', word, 1, 1_000);
