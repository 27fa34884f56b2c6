import { basename, resolve } from 'node:path';
import type { WrittenTotal } from '../../../functions/answers/limits/models.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { amountText } from '../../../policies/unit-texts.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { DocumentError, EXIT, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { command, orElse, readChoice, text, toggle, word } from '../../terminal/define.ts';
import { amounts, printable, right, screenOf, textLines } from '../../terminal/table.ts';
import { readUserBytes } from '../../terminal/user-file.ts';
import { answerOf, countToTheEnd, ifMatchSet, liveSet } from '../api/answers.ts';
import { withBudget } from '../api/open-api.ts';
import { NOTHING_LIVE } from '../limits/set-view.ts';
import { shadowCount } from '../report/shadow-words.ts';
import { deliver } from '../statement/deliver.ts';
import { BUDGET_FLAGS, EDIT_EXITS, EDIT_FLAGS, readActor, readReason } from './arguments.ts';
import { editProblemText, printOutcome, printPreview, printRefusal } from './change-text.ts';
import { countedJobs, editBase } from './edits.ts';

const DIALECT_FLAGS = {
  delimiter: orElse(
    text('<sign>', ', or ; (with decimals like 500,25)', (given, flag) =>
      readChoice(flag, given, [',', ';']),
    ),
    ',',
  ),
};

const dialectOf = ({ delimiter }: { readonly delimiter: string }) => ({
  dialect: delimiter === ';' ? ('semicolon' as const) : ('comma' as const),
});

const BOM = '\ufeff';

const budgetExport = command({
  name: 'budget export',
  about: `Leave the column version alone: it shows the import whether others changed the limits meanwhile. Grants, freezes and
rollouts are not in the file. An import ignores last_year_mean, last_year_most and forecast. An apostrophe keeps spreadsheets
from running a text.`,
  flags: {
    ...DIALECT_FLAGS,
    bom: toggle('begins with a byte order mark: Excel then reads umlauts'),
    out: text('<file>', 'writes it there'),
    ...BUDGET_FLAGS,
  },
  examples: ["tollgate budget export --delimiter ';' --bom --out limits.csv"],
  exits: { 0: 'written', 1: 'the table does not answer, or no set was published' },
  run: async ({ flags }, io) => {
    const exported = await withBudget(flags, io, async ({ api }) => {
      const live = await liveSet(api);
      if (live === undefined) throw new Error(NOTHING_LIVE);
      const csv = await (await api['limits.csv'].$get({ query: dialectOf(flags) })).text();
      return { set: live.set, csv };
    });
    const written = `${flags.bom ? BOM : ''}${exported.csv}`;
    deliver(flags.json ? `${JSON.stringify(exported)}\n` : written, flags.out, io);
    return EXIT.ok;
  },
});

const NAME_CHARACTERS_MAX = 100;

const budgetImport = command({
  name: 'budget import',
  about: `Without --apply it shows what would change. A row is found by group_id (else group_path, or subject) and limit_id. An
empty cell takes the field out; a missing column or limit changes nothing.`,
  words: { file: word('<file.csv>', 'as tollgate budget export writes it') },
  flags: {
    apply: toggle('makes them live'),
    prune: toggle('removes limits that the file does not name'),
    from: text(
      '<day>',
      'in force from that day on, e.g. 2027-01-01: limits that differ end the day before, and the new ones begin. A period of each must begin on that day. It is one edit, which tollgate budget undo takes back',
    ),
    ...DIALECT_FLAGS,
    ...EDIT_FLAGS,
    base: text('<set>', 'the set the file is an edit of (default: that of the column version)'),
  },
  examples: [
    'tollgate budget import limits.csv',
    'tollgate budget import limits.csv --apply --from 2027-01-01 --reason "budget 2027"',
  ],
  exits: EDIT_EXITS,
  run: async ({ flags, words }, io) => {
    if (flags.apply && flags['dry-run']) throw new UsageError('--apply and --dry-run: expected one');
    const actor = readActor(flags, io);
    const why = flags.apply ? readReason(flags.reason) : 'dry run';
    const file = resolve(io.cwd, words.file);
    const bytes = readUserBytes(file);
    return withBudget(flags, io, async (budget) => {
      const { apiOf, currency } = budget;
      const { live, set } = await editBase(budget, flags.base);
      const { limits } = apiOf(actor);
      const format = { currency, json: flags.json, io };
      const query = {
        ...{ ...dialectOf(flags), why, name: basename(file).slice(0, NAME_CHARACTERS_MAX) },
        ...withoutAbsent({ from: flags.from }),
        ...(flags.prune && { prune: 'yes' as const }),
        ...(flags.confirm && { confirmed: 'yes' as const }),
        ...(!flags.apply && { dry_run: 'yes' as const, backtest: 'yes' as const }),
      };
      const headers = { 'content-type': 'text/csv', ...(flags.base !== undefined && ifMatchSet(set)) };
      const request = { init: { body: bytes, headers } };
      const answer = await countToTheEnd(
        (on) => answerOf(limits.import.$post({ query: { ...query, ...on }, header: {} }, request)),
        (read) => {
          const backtest = read.ok && 'backtest' in read.body ? read.body.backtest : undefined;
          return backtest?.outcome === 'counted' ? backtest : undefined;
        },
        io,
      );
      if (!answer.ok) {
        const { error, problems } = answer.refused;
        if (error.code === 'base_missing')
          throw new UsageError(
            `the file does not say which set it is an edit of: leave the column version in it, or say --base ${set} if you mean the live one`,
          );
        if (problems !== undefined)
          throw new DocumentError(problems.map(({ path, message }) => problemIn(file, path, message)));
        return printRefusal(answer, set, format);
      }
      const { body } = answer;
      if (body.outcome === 'invalid') throw new DocumentError(body.problems.map(editProblemText));
      if (body.outcome !== 'valid') return printOutcome({ ok: true, body }, set, format);
      const { base, totals, rowsRead, understood, unnamed, backtest, ...preview } = body;
      const notes = [...body.notes.map((note) => `file: ${note}`), ...understood.map(({ text }) => text)];
      const read = { totals, rowsRead, notes, unnamed, pruned: flags.prune };
      if (!flags.json && !preview.stale) io.out(totalsText(read, currency, io));
      const replayed = preview.rows.length > 0 && backtest !== undefined ? countedJobs(backtest) : undefined;
      return printPreview(preview, replayed, { base, live }, format, read);
    });
  },
});

/** `limits.csv: line 7, limit: …`; the API names a line and a column of it. */
function problemIn(file: string, [line, column]: readonly (string | number)[], message: string): string {
  const place = typeof line === 'number' && line > 0 ? `line ${line}` : 'file';
  return `${file}: ${place}${column === undefined ? '' : `, ${column}`}: ${message}`;
}

const NOTES_SHOWN = 20;

interface ImportRead {
  readonly totals: readonly WrittenTotal[];
  readonly rowsRead: number;
  readonly notes: readonly string[];
  readonly unnamed: readonly unknown[];
  readonly pruned: boolean;
}

function totalsText(read: ImportRead, currency: string, io: TerminalIo): string {
  const { totals, rowsRead, notes, unnamed, pruned } = read;
  const screen = screenOf(io);
  const rows = totals.map(({ kind, per, unit, since, zone, before, after }) => {
    const text = (amount: bigint): string => amountText(Number(amount), unit, currency);
    const [was, is] = [BigInt(before.amount), BigInt(after.amount)];
    return [
      per === null ? kind : `${kind} per ${per}`,
      since === null ? 'now' : `from ${instantText(Date.parse(since), zone ?? 'UTC')}`,
      ...[shadowCount(before.limits), text(was), shadowCount(after.limits), text(is)],
      is === was ? '' : `${is > was ? '+' : ''}${text(is - was)}`,
    ];
  });
  const titles = [
    ...['totals', 'in force', right('limits'), amounts('live now'), right('limits')],
    ...[amounts('would be'), amounts('change')],
  ];
  const lines = [
    `${shadowCount(rowsRead)} rows read`,
    ...notes.slice(0, NOTES_SHOWN).map(printable),
    unnamed.length > 0 &&
      `${shadowCount(unnamed.length)} limits are not in the file and ${pruned ? screen.warn('are taken out') : 'stay (--prune takes them out)'}`,
  ];
  return `${textLines(lines)}${screen.table(titles, rows)}\n`;
}

export const commands = [budgetExport, budgetImport];
