import type { LogEntry } from '../../../functions/answers/limits/edit-models.ts';
import { instantText } from '../../../policies/text/edge-text.ts';
import { type Command, EXIT, type ExitCode } from '../../terminal/command.ts';
import { readFlags, readWhole } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { answeredInProcess } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { rollupZone } from '../rollup-zone.ts';
import { BUDGET_DEPS, BUDGET_FLAGS, BUDGET_FLAGS_HELP, type BudgetDeps } from './budget-flags.ts';
import { changeRowsText } from './change-rows.ts';
import { knownSubject, SUBJECT_HELP, subjectOfWord } from './subject-word.ts';

const COUNT = 10;
const COUNT_MAX = 500;
const PAGE_MAX = 100;

const HELP = `tollgate budget history [<group>] [flags]

Who changed the limits, when, from what to what, why and where from; newest first. With a group: what was changed of it.

${SUBJECT_HELP}
  --count <n>          how many edits at most (default: ${COUNT})
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const historyCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget history',
  summary: 'Who changed the limits, when, from what to what, and why',
  help: HELP,
  run: async (args, io): Promise<ExitCode> => {
    const { values, words } = readFlags(
      args,
      { count: 'text', ...BUDGET_FLAGS },
      { max: 1, what: 'one group' },
    );
    const max = values.count === undefined ? COUNT : readWhole('count', values.count, 1, COUNT_MAX);
    const [word] = words;
    return withBudget(deps.open, values, io, async (budget) => {
      const { api, directory, policy } = budget;
      const subject = word === undefined ? undefined : subjectOfWord(word, directory);
      const zone = rollupZone(io);
      const entries: LogEntry[] = [];
      let before: number | undefined;
      do {
        const query = {
          ...(subject !== undefined && { subject }),
          ...(before !== undefined && { before: String(before) }),
          max: String(Math.min(PAGE_MAX, max - entries.length)),
        };
        const page = await answeredInProcess(api.limits.history.$get({ query }));
        entries.push(...page.entries);
        before = page.next;
      } while (before !== undefined && entries.length < max);
      // The log keeps deleted subjects; a subject it never had must exist.
      if (word !== undefined && entries.length === 0) await knownSubject(word, budget);
      if (values.json) io.out(`${JSON.stringify({ subject: subject ?? null, edits: entries })}\n`);
      else if (entries.length === 0) io.out('Nothing was ever changed here.\n');
      else {
        const paint = paintWhen(io.colours);
        for (const { edit, set, atMs, actor, why, source, rows, count } of entries) {
          const at = instantText(atMs, zone);
          const more = rows !== undefined ? '' : count === 0 ? GONE : tooMuch(subject);
          io.out(
            `${paint.strong(`${at}  ${printable(actor)}`)}: ${printable(why)}\n${paint.dim(`edit ${edit}, set ${set}, from ${printable(source)}, ${count} ${count === 1 ? 'change' : 'changes'}`)}\n${more}`,
          );
          if (rows !== undefined) io.out(changeRowsText(rows, policy.currency, io.columns, paint));
        }
      }
      return EXIT.ok;
    });
  },
});

export const historyCommand: Command = historyCommandOn(BUDGET_DEPS);

const GONE = '(what was changed cannot be told any more)\n';
const tooMuch = (subject: string | undefined): string =>
  subject === undefined
    ? '(too much to list: tollgate budget history <group> has what it changed there)\n'
    : '(too much to list)\n';
