import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, EXIT, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { answerOf } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  readActor,
  readRights,
} from '../budget/budget-flags.ts';
import { DIALECT_FLAGS, DIALECT_HELP, readDialect } from '../budget/export-command.ts';
import { deliver } from '../statement/deliver.ts';
import { PLAN_HELP, planOfWord, writtenPlan } from './plan-word.ts';

const EXPORT_HELP = `tollgate plan export <plan> [flags]

All limits of a plan's day as CSV: a year of use, the forecast, what is in force, and in the column limit what is planned. Edit that
column in a spreadsheet (an amount, or a share such as +8%) and read it back with tollgate plan import.

${PLAN_HELP}
${DIALECT_HELP}
  --bom                begins with a byte order mark: Excel then reads umlauts
  --out <file>         writes it there
${BUDGET_FLAGS_HELP}

Exit codes: 0 written, 1 the table does not answer, 3 wrong usage`;

const BOM = '\ufeff';

export const planExportCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan export',
  summary: 'A plan as CSV, for a spreadsheet and back',
  help: EXPORT_HELP,
  run: async (args, io) => {
    const flags = { out: 'text', bom: 'switch', ...DIALECT_FLAGS, ...BUDGET_FLAGS } as const;
    const { values, words } = readFlags(args, flags, { max: 1, what: 'one plan' });
    const query = readDialect(values);
    const told = await withBudget(deps.open, values, io, async ({ api }) => {
      const plan = await planOfWord(words[0], api);
      const csv = await (await api.plans[':id'].file.$get({ param: { id: plan.id }, query })).text();
      return { plan: plan.id, csv };
    });
    const text = `${values.bom ? BOM : ''}${told.csv}`;
    await deliver(values.json ? `${JSON.stringify(told)}\n` : text, values.out, io);
    return EXIT.ok;
  },
});

export const planExportCommand: Command = planExportCommandOn(BUDGET_DEPS);

const IMPORT_HELP = `tollgate plan import <plan> <file.csv> [flags]

Writes the column limit of a file into a plan, all rows or none; nothing is in force by that. A row is found by group_id (else
group_path, or subject) and limit_id. An amount as it is in force takes the limit out of the plan, and so does an empty cell.

${PLAN_HELP}
${DIALECT_HELP}
  --actor <name>       who plans                   (default: the user of this machine)
  --as <role>          admin (the default) or finance
${BUDGET_FLAGS_HELP}

Exit codes: 0 written, 1 the table does not answer, 3 wrong usage or rows that cannot be read`;

export const planImportCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan import',
  summary: 'Reads planned amounts back from CSV, all rows or none',
  help: IMPORT_HELP,
  run: async (args, io) => {
    const flags = { actor: 'text', as: 'text', ...DIALECT_FLAGS, ...BUDGET_FLAGS } as const;
    const { values, words } = readFlags(args, flags, { max: 2, what: 'a plan and a file' });
    const [word, name] = words;
    if (name === undefined) throw new UsageError('expected a plan and a file, <file.csv>');
    const [query, actor, file] = [readDialect(values), readActor(values, deps), resolve(io.cwd, name)];
    const body = await readFile(file).catch((error: NodeJS.ErrnoException) => {
      throw new UsageError(`${file}: could not be read (${error.code ?? error.message})`);
    });
    return withBudget(deps.open, values, io, async ({ api, apiOf, directory }) => {
      const { id } = await planOfWord(word, api);
      const { plans } = apiOf(actor, readRights(values, directory));
      const init = { body, headers: { 'content-type': 'text/csv' } };
      const plan = writtenPlan(
        await answerOf(plans[':id'].file.$post({ param: { id }, query }, { init })),
        file,
      );
      io.out(
        values.json
          ? `${JSON.stringify(plan)}\n`
          : `limits planned: ${plan.amounts}; tollgate plan show ${id}\n`,
      );
      return EXIT.ok;
    });
  },
});

export const planImportCommand: Command = planImportCommandOn(BUDGET_DEPS);
