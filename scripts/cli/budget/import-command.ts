import { basename, resolve } from 'node:path';
import { DocumentError } from '../../policy/read-documents.ts';
import { type Command, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { readUserBytes } from '../../terminal/user-file.ts';
import { answerOf } from '../api/api-in-process.ts';
import { countToTheEnd } from '../api/count-to-the-end.ts';
import { ofSet } from '../api/edit-answer.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  EDIT_EXITS,
  EDIT_FLAGS,
  EDIT_FLAGS_HELP,
  readActor,
  readReason,
  readRights,
} from './budget-flags.ts';
import { countedJobs, editBase } from './edit-command.ts';
import { DIALECT_FLAGS, DIALECT_HELP, readDialect } from './export-command.ts';
import { editProblemText, tellOutcome, tellRefusal } from './tell-outcome.ts';
import { tellPreview } from './tell-preview.ts';
import { totalsText } from './totals-text.ts';

const HELP = `tollgate budget import <file.csv> [--dry-run | --apply] [flags]

Reads limits back from CSV: all rows are checked first, and then all are made live or none. Without --apply it shows
what would change, the totals before and after, and which jobs of the last 30 days would have failed.

A row is found by group_id (else group_path, or subject) and limit_id; an empty limit_id is made from unit and period.
An empty cell takes the field out, a column that is not there changes nothing. Limits the file does not name stay.
The columns last_year_mean, last_year_most and forecast are ignored, and so is what was typed into them.

  --apply              makes them live
  --prune              takes limits out that the file does not name
  --from <day>         in force from that day on, e.g. 2027-01-01: limits that differ end the day before, and the new ones
                       begin. A period of each must begin on that day; one edit, which tollgate budget undo takes back
${DIALECT_HELP}
${EDIT_FLAGS_HELP.replace('(default: whatever is live now;', '(default: that of the column version;')}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const FLAGS = {
  apply: 'switch',
  'dry-run': 'switch',
  prune: 'switch',
  from: 'text',
  ...DIALECT_FLAGS,
  ...EDIT_FLAGS,
  ...BUDGET_FLAGS,
} as const;

/** Stands in the log. */
const NAME_CHARACTERS_MAX = 100;

export const importCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget import',
  summary: 'Reads limits back from CSV: checked as a whole, shown with totals, all or nothing',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, FLAGS, { max: 1, what: 'one file, <file.csv>' });
    const [word] = words;
    if (word === undefined) throw new UsageError('expected a file, <file.csv>');
    if (values.apply && values['dry-run'])
      throw new UsageError('--apply and --dry-run: expected one of them');
    const dialect = readDialect(values);
    const actor = readActor(values, deps);
    const why = values.apply ? readReason(values.reason) : 'dry run';
    const file = resolve(io.cwd, word);
    const bytes = readUserBytes(file);
    return withBudget(deps.open, values, io, async (budget) => {
      const { apiOf, directory, policy } = budget;
      const { live, set } = await editBase(budget, values.base);
      const { limits } = apiOf(actor, readRights(values, directory));
      const format = { currency: policy.currency, json: values.json, io };
      const asked = {
        ...{ ...dialect, why, name: basename(file).slice(0, NAME_CHARACTERS_MAX) },
        ...(values.prune && { prune: 'yes' as const }),
        ...(values.from !== undefined && { from: values.from }),
        ...(values.confirm && { confirmed: 'yes' as const }),
        ...(!values.apply && { dry_run: 'yes' as const, backtest: 'yes' as const }),
      };
      const headers = { 'content-type': 'text/csv', ...(values.base !== undefined && ofSet(set)) };
      const answer = await countToTheEnd(
        (on) =>
          answerOf(
            limits.import.$post(
              { query: { ...asked, ...on }, header: {} },
              { init: { body: bytes, headers } },
            ),
          ),
        ({ ok, ...told }) => {
          const counted = 'body' in told && 'backtest' in told.body ? told.body.backtest : undefined;
          return counted?.outcome === 'counted' ? counted : undefined;
        },
        io,
      );
      if (!answer.ok) {
        const { error, problems } = answer.refused;
        if (error.code === 'base_missing') throw new UsageError(noVersion(set));
        if (problems !== undefined)
          throw new DocumentError(problems.map(({ path, message }) => problemIn(file, path, message)));
        return tellRefusal(answer, set, format);
      }
      const { body } = answer;
      if (body.outcome === 'invalid') throw new DocumentError(body.problems.map(editProblemText));
      if (body.outcome !== 'valid') return tellOutcome({ ok: true, body }, set, format);
      const { base, totals, rowsRead, notes, understood, unnamed, backtest, ...preview } = body;
      const read = {
        rowsRead,
        notes: [...notes.map((note) => `file: ${note}`), ...understood.map(({ text }) => text)],
        ...{ unnamed, pruned: values.prune },
      };
      if (!values.json && !preview.stale)
        io.out(totalsText(totals, read, policy.currency, io.columns, paintWhen(io.colours)));
      const lived = preview.rows.length > 0 && backtest !== undefined ? countedJobs(backtest) : undefined;
      return tellPreview(preview, lived, { base, live }, format, { totals, ...read });
    });
  },
});

export const importCommand: Command = importCommandOn(BUDGET_DEPS);

/** `limits.csv: line 7, limit: …`, as the API names the place: a line, and a column of it. */
function problemIn(file: string, [line, column]: readonly (string | number)[], message: string): string {
  const place = typeof line === 'number' && line > 0 ? `line ${line}` : 'file';
  return `${file}: ${place}${column === undefined ? '' : `, ${column}`}: ${message}`;
}

const noVersion = (set: string | undefined): string =>
  `the file does not say which set it is an edit of: leave the column version in it, or say --base ${set} if you mean the live one`;
