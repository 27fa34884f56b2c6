import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import {
  type CsvProblem,
  csvProblemText,
  importLimits,
  type LiveLimits,
  readRows,
  totalChanges,
  understoodText,
  writtenTotals,
} from '../../../functions/core/limits/index.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type FlagValues, readFlags } from '../../terminal/flags.ts';
import { paintWhen } from '../../terminal/paint.ts';
import { withBudget } from '../api/open-api.ts';
import { setShown } from '../limits/live-set.ts';
import { setText } from '../limits/set-text.ts';
import { rollupZone } from '../rollup-zone.ts';
import { backtestEdit } from './backtest-edit.ts';
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
import { editBase, NONE } from './edit-command.ts';
import { DIALECT_FLAGS, DIALECT_HELP, readDialect } from './export-command.ts';
import { tellOutcome } from './tell-outcome.ts';
import { tellPreview } from './tell-preview.ts';
import { totalsText } from './totals-text.ts';

const HELP = `tollgate budget import <file.csv> [--dry-run | --apply] [flags]

Reads limits back from CSV: all rows are checked first, and then all are made live or none. Without --apply it shows
what would change, the totals before and after, and which jobs of the last 30 days would have failed.

A row is found by group_id (else group_path, or subject) and limit_id; an empty limit_id is made from unit and period.
An empty cell takes the field out, a column that is not there changes nothing. Limits the file does not name stay.

  --apply              makes them live
  --prune              takes limits out that the file does not name
${DIALECT_HELP}
${EDIT_FLAGS_HELP.replace('(default: whatever is live now;', '(default: that of the column version;')}
${BUDGET_FLAGS_HELP}

${EDIT_EXITS}`;

const FLAGS = {
  apply: 'switch',
  'dry-run': 'switch',
  prune: 'switch',
  ...DIALECT_FLAGS,
  ...EDIT_FLAGS,
  ...BUDGET_FLAGS,
} as const;

type ImportFlags = FlagValues<typeof FLAGS> & { readonly json: boolean };

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
    const rows = readRows(await bytesOf(file), dialect);
    if (!rows.ok) throw invalid(file, rows.problems);
    return withBudget(deps.open, values, io, async (budget) => {
      const rights = readRights(values, budget.directory);
      const on = await editBase(budget, values.base);
      const base = versionOf(rows.version, on.set, values.base);
      const before = await budget.desk.at(base);
      if (before === undefined) return tellGone(base, on.live, values, io);
      const { policy, directory } = budget;
      const read = importLimits(rows.rows, {
        document: before.document,
        policy,
        directory,
        dialect,
        prune: values.prune,
      });
      if (!read.ok) throw invalid(file, read.problems);
      const edits = [{ kind: 'replace', document: read.document }] as const;
      const telling = { currency: policy.currency, json: values.json, io };
      const confirmed = values.confirm && { confirmed: true };
      const who = { actor, why, rights, source: `file ${basename(file)}`.slice(0, 200), ...confirmed };
      if (values.apply) return tellOutcome(await budget.desk.apply(edits, { ...who, base }), base, telling);
      const preview = await budget.desk.preview(edits, base);
      const stale = preview.outcome === 'valid' && preview.stale;
      const isEdit = preview.outcome === 'valid' && !stale && preview.rows.length > 0;
      const lived = isEdit
        ? await backtestEdit({ before: on.limits, after: read.limits }, budget, io)
        : undefined;
      const totals = totalChanges(before.limits, read.limits, io.nowMs());
      const notes = [...rows.notes.map((note) => `file: ${note}`), ...read.understood.map(understoodText)];
      const told = { rowsRead: rows.rows.length, notes, unnamed: read.unnamed, pruned: values.prune };
      if (!values.json && !stale)
        io.out(totalsText(totals, told, policy.currency, io.columns, paintWhen(io.colours)));
      return tellPreview(preview, lived, { base, live: on.live }, telling, {
        totals: writtenTotals(totals),
        ...told,
      });
    });
  },
});

export const importCommand: Command = importCommandOn(BUDGET_DEPS);

async function bytesOf(file: string): Promise<Uint8Array> {
  return readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file}: could not be read (${error.code ?? error.message})`);
  });
}

const invalid = (file: string, problems: readonly CsvProblem[]): DocumentError =>
  new DocumentError(problems.map((each) => `${file}: ${csvProblemText(each)}`));

/** What the file is an edit of. @throws {UsageError} where it does not say, or says something else than `--base`. */
function versionOf(
  version: string | undefined,
  set: string | undefined,
  flag: string | undefined,
): string | undefined {
  if (version !== undefined && flag !== undefined && flag !== version)
    throw new UsageError(
      `--base ${flag}: the file was exported from set ${version}; leave --base out, or empty the column version if you know better`,
    );
  if (version !== undefined) return version === NONE ? undefined : version;
  if (flag !== undefined || set === undefined) return set;
  throw new UsageError(
    `the file does not say which set it is an edit of: leave the column version in it, or say --base ${set} if you mean the live one`,
  );
}

/** It was replaced so long ago that it is gone, or never was. */
function tellGone(
  base: string | undefined,
  live: LiveLimits | undefined,
  { json }: Pick<ImportFlags, 'json'>,
  io: TerminalIo,
): ExitCode {
  const shown = live && setShown(live.pointer, live.change);
  if (json)
    io.out(
      `${JSON.stringify({ outcome: 'stale', base: base ?? null, live: shown ?? null, mine: null, theirs: null })}\n`,
    );
  else
    io.err(
      `Nothing was changed: the file was exported from set ${base}, which is not live any more, and too old to compare with.\n${shown === undefined ? '' : setText(shown, rollupZone(io), paintWhen(io.colours))}Export again, and make the changes there.\n`,
    );
  return EXIT.wouldReject;
}
