import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess, answerOf } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  readActor,
  readRights,
} from '../budget/budget-flags.ts';
import { wideOrLong } from '../budget/wide-or-long.ts';
import { writtenPlan } from './plan-word.ts';

const HELP = `tollgate plan ls [flags]

Which plans of limits for a day to come are there? The newest first. Nothing in them is in force.

${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const planLsCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan ls',
  summary: 'Which plans of limits for a day to come are there?',
  help: HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, BUDGET_FLAGS);
    return withBudget(deps.open, values, io, async ({ api }) => {
      const plans = await answeredInProcess(api.plans.$get());
      if (values.json) io.out(`${JSON.stringify({ plans })}\n`);
      else if (plans.length === 0) io.out('There is no plan.\n');
      else {
        const rows = plans.map(({ id, name, from, amounts, changedBy }) =>
          [id, name, from, `${amounts}`, changedBy].map(printable),
        );
        io.out(wideOrLong(['id', 'plan', 'from', 'limits', 'by'], rows, io.columns, paintWhen(io.colours)));
      }
      return EXIT.ok;
    });
  },
});

export const planLsCommand: Command = planLsCommandOn(BUDGET_DEPS);

const NEW_HELP = `tollgate plan new <name> --from <day> [flags]

Begins a plan. It has the limits of which a period begins on that day: on 1 January those per month, quarter and year.

  <name>               such as "Year 2027"
  --from <day>         the first day of what it plans, such as 2027-01-01
  --actor <name>       who plans                   (default: the user of this machine)
  --as <role>          admin (the default) or finance
${BUDGET_FLAGS_HELP}

Exit codes: 0 begun, 1 the table does not answer, 3 wrong usage or no such day`;

export const planNewCommandOn = (deps: BudgetDeps): Command => ({
  name: 'plan new',
  summary: 'Begins a plan of limits for a day to come',
  help: NEW_HELP,
  run: async (args, io) => {
    const flags = { from: 'text', actor: 'text', as: 'text', ...BUDGET_FLAGS } as const;
    const { values, words } = readFlags(args, flags, { max: 1, what: 'one name' });
    const json = { name: words[0] ?? '', from: values.from ?? '' };
    const actor = readActor(values, deps);
    return withBudget(deps.open, values, io, async ({ apiOf, directory }) => {
      const { plans } = apiOf(actor, readRights(values, directory));
      const plan = writtenPlan(await answerOf(plans.$post({ json })));
      io.out(
        values.json
          ? `${JSON.stringify(plan)}\n`
          : `${plan.id}  ${printable(plan.name)}, from ${plan.from}\n`,
      );
      return EXIT.ok;
    });
  },
});

export const planNewCommand: Command = planNewCommandOn(BUDGET_DEPS);
