import type { LimitRequest } from '../../../functions/answers/limits/edit-models.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { type Command, EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { type ApiRefusal, answeredInProcess, answerOf } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import {
  BUDGET_DEPS,
  BUDGET_FLAGS,
  BUDGET_FLAGS_HELP,
  type BudgetDeps,
  readActor,
  readReason,
  readRights,
} from './budget-flags.ts';
import { amountDifferenceText } from './change-rows.ts';
import { subjectWord } from './subject-word.ts';
import { wideOrLong } from './wide-or-long.ts';

const WHO_FLAGS = { actor: 'text', as: 'text' } as const;
const WHO_HELP = `  --actor <name>       who decides                 (default: the user of this machine)
  --as <role>          admin (the default), finance, owner:<group> or viewer`;

const LIST_HELP = `tollgate budget requests [flags]

Who asked for more, and what became of it; newest first. Requests go 30 days after they were filed.

  --all                also those that are decided
${WHO_HELP}
${BUDGET_FLAGS_HELP}

Exit codes: 0 told, 1 the table does not answer, 3 wrong usage`;

export const requestsCommandOn = (deps: BudgetDeps): Command => ({
  name: 'budget requests',
  summary: 'Who asked for more and waits for approval?',
  help: LIST_HELP,
  run: async (args, io) => {
    const { values } = readFlags(args, { all: 'switch', ...WHO_FLAGS, ...BUDGET_FLAGS });
    const actor = readActor(values, deps);
    return withBudget(deps.open, values, io, async ({ apiOf, directory, policy }) => {
      const api = apiOf(actor, readRights(values, directory));
      const found = await answeredInProcess(api.requests.$get());
      const requests = values.all ? found : found.filter(({ state }) => state === 'pending');
      if (values.json) io.out(`${JSON.stringify({ requests })}\n`);
      else if (requests.length === 0) io.out(values.all ? 'Nobody asked for more.\n' : 'No request waits.\n');
      else io.out(requestsText(requests, (subject) => subjectWord(subject, directory), policy.currency, io));
      return EXIT.ok;
    });
  },
});

export const requestsCommand: Command = requestsCommandOn(BUDGET_DEPS);

const decideHelp = (verb: 'approve' | 'decline'): string => `tollgate budget ${verb} <request> [flags]

${verb === 'approve' ? 'Gives what was asked for: the grant is live within five seconds.' : 'Says no, with a note for whoever asked.'} Nobody decides about a request of their own.

  <request>            its id, from tollgate budget requests
  --note <text>        ${verb === 'approve' ? 'what the approver adds' : 'why not (needed)'}
${WHO_HELP}
${BUDGET_FLAGS_HELP}

Exit codes: 0 decided, 1 the table does not answer, 2 refused, decided by somebody else, or busy, 3 wrong usage`;

const decideCommandOn = (verb: 'approve' | 'decline', deps: BudgetDeps): Command => ({
  name: `budget ${verb}`,
  summary: verb === 'approve' ? 'Gives what somebody asked for' : 'Declines what somebody asked for',
  help: decideHelp(verb),
  run: async (args, io) => {
    const flags = { note: 'text', ...WHO_FLAGS, ...BUDGET_FLAGS } as const;
    const { values, words } = readFlags(args, flags, { max: 1, what: 'the id of one request' });
    const [id] = words;
    if (id === undefined) throw new UsageError('expected the id of a request, from tollgate budget requests');
    const { note } = values;
    const json =
      verb === 'decline'
        ? { verdict: verb, note: readReason(note, 'note') }
        : { verdict: verb, ...(note !== undefined && { note }) };
    const actor = readActor(values, deps);
    return withBudget(deps.open, values, io, async ({ apiOf, directory }) => {
      const { requests } = apiOf(actor, readRights(values, directory));
      const answer = await answerOf(requests[':id'].decision.$post({ param: { id }, json }));
      if (!answer.ok) return tellUndecided(id, answer.refused, values.json, io);
      const { live, ...request } = answer.body;
      const { state: outcome } = request;
      if (values.json) io.out(`${JSON.stringify({ outcome, request, pointer: live })}\n`);
      else io.out(`${id} ${outcome}${live ? `; it is live in set ${live.set}, edit ${live.edit}` : ''}\n`);
      return EXIT.ok;
    });
  },
});

export const approveCommandOn = (deps: BudgetDeps): Command => decideCommandOn('approve', deps);
export const declineCommandOn = (deps: BudgetDeps): Command => decideCommandOn('decline', deps);
export const approveCommand: Command = approveCommandOn(BUDGET_DEPS);
export const declineCommand: Command = declineCommandOn(BUDGET_DEPS);

/** @throws {DocumentError} with every problem. */
function tellUndecided(id: string, refused: ApiRefusal, json: boolean, io: TerminalIo): ExitCode {
  const { error, problems } = refused;
  if (problems !== undefined) throw new DocumentError(problems.map(problemText));
  if (json) io.out(`${JSON.stringify({ outcome: error.code, ...refused })}\n`);
  else io.err(`${id}: ${printable(`${error.message} ${error.remedy}`)}\n`);
  return EXIT.wouldReject;
}

/** `+200`, or of an edit `500.00 EUR → 900.00 EUR`. */
function wantedText({ amount, edit }: LimitRequest, currency: string): string {
  if (edit === undefined) return `+${String(amount).replace(/^\+/, '')}`;
  const row = edit.rows.find(({ field }) => field === 'amount') ?? edit.rows[0];
  if (row === undefined) return `${edit.count} changes`;
  const more = edit.count > 1 ? `, ${edit.count - 1} more` : '';
  const field = row.field === 'amount' ? '' : `${row.field} `;
  return `${field}${amountDifferenceText(row, currency)}${more}`;
}

function requestsText(
  requests: readonly LimitRequest[],
  labelOf: (subject: string) => string,
  currency: string,
  io: Pick<TerminalIo, 'columns' | 'colours'>,
): string {
  const titles = ['id', 'state', 'group', 'limit', 'amount', 'from', 'until', 'by', 'why'];
  const rows = requests.map((request) => {
    const { id, state, subject, limit, from = '', until = '', requestedBy, reason } = request;
    const wanted = wantedText(request, currency);
    return [id, state, labelOf(subject), limit, wanted, from, until, requestedBy, reason].map(printable);
  });
  return wideOrLong(titles, rows, io.columns, paintWhen(io.colours));
}
