import type { OwnLimit } from '../../../functions/answers/budgets/model.ts';
import { readWrittenAmount } from '../../../policies/document/written.ts';
import { type LimitField, limitFields } from '../../../policies/limits/limit-fields.ts';
import { isAtOnce, readUnits, writtenUnits } from '../../../policies/units/unit.ts';
import { type Command, UsageError } from '../../terminal/command.ts';
import { readChoice, readFlags, readWhole } from '../../terminal/flags.ts';
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

const FIELDS = limitFields.filter(({ flag }) => flag !== undefined);
const VALUES: Readonly<Record<LimitField['type'], string>> = {
  part: 'share or amount',
  choice: 'word',
  word: 'word',
  text: 'text',
  day: 'day',
  percents: 'list',
};
const FIELDS_HELP = FIELDS.map(({ flag, type, choices, help }) => {
  const said = choices === undefined ? help : `${help} ${choices.join(', ')}`;
  const lines = said.match(/.{1,95}(?:\s|$)/g) ?? [];
  return [`  --${flag} <${VALUES[type]}>`, ...lines.map((line) => `${' '.repeat(23)}${line.trimEnd()}`)].join(
    '\n',
  );
}).join('\n');

const HELP = `tollgate budget set <group> <amount> [flags]

Sets a limit, or changes fields of one: in force everywhere within five seconds, without a deploy. What is not named
stays. With --dry-run: what would change, and which jobs of the last 30 days would have failed.

${SUBJECT_HELP}
  <amount>             500 EUR/month, 1000 min/week, 20 jobs, 100 starts/hour, 64 cpu, 256Gi memory; 0 EUR/month blocks,
                       unlimited EUR/month lifts this level. A bare 500 changes the one limit there is
  --limit <id>         which limit, where a group has several: money-month
${FIELDS_HELP}
                       "${NONE}" takes a field out
  --dry-run            shows what would change and writes nothing
${EDIT_FLAGS_HELP}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const FIELD_FLAGS: Readonly<Record<string, 'text'>> = Object.fromEntries(
  FIELDS.map(({ flag }) => [flag, 'text']),
);

const WORDS = { max: 4, what: 'a group and an amount such as 500 EUR/month' };

export const setCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget set',
  summary: 'Sets a limit without a deploy; --dry-run shows which jobs would have failed',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, { limit: 'text', ...FIELD_FLAGS, ...EDITING_FLAGS }, WORDS);
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

function fieldsOf(values: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(
    FIELDS.flatMap((field) => {
      const value = values[field.flag ?? ''];
      return typeof value === 'string' ? [[field.name, value === NONE ? null : readField(field, value)]] : [];
    }),
  );
}

/** @throws {UsageError} */
function readField({ type, flag = '', choices = [] }: LimitField, value: string): unknown {
  switch (type) {
    case 'choice':
      return readChoice(flag, value, choices);
    case 'percents':
      return (value.match(/forecast +\d+|[^\s,]+/g) ?? []).map((each) =>
        readThreshold(each.replace(/ +/, ' ')),
      );
    case 'day':
      return readDayFlag(flag, value);
    default:
      return value;
  }
}

const readThreshold = (word: string): number | string =>
  /^forecast \d{1,4}$/.test(word) ? word : readWhole('thresholds', word, 1, 1_000);
