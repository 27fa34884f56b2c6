import type { LimitRequest } from '../../../functions/answers/limits/models.ts';
import { problemText } from '../../../policies/document/reading.ts';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import { DocumentError } from '../../policy/read-documents.ts';
import { type Command, EXIT, type TerminalIo } from '../../terminal/command.ts';
import { command, print } from '../../terminal/define-command.ts';
import { text, toggle, word } from '../../terminal/flags.ts';
import { paintWhen, printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { answeredInProcess, answerOf } from '../api/api-in-process.ts';
import { withBudget } from '../api/open-api.ts';
import { ACTOR_FLAG, BUDGET_FLAGS, readActor, readReason, subjectWord } from './arguments.ts';
import { amountDifferenceText } from './change-text.ts';

const budgetRequests = command({
  name: 'budget requests',
  about:
    'Lists requests for more, and their results; newest first. Requests are deleted 30 days after they were filed.',
  flags: { all: toggle('also those that are decided'), actor: ACTOR_FLAG, ...BUDGET_FLAGS },
  examples: ['tollgate budget requests --all'],
  run: async ({ flags }, io) => {
    const actor = readActor(flags, io);
    return withBudget(flags, io, async ({ apiOf, directory, policy }) => {
      const api = apiOf(actor);
      const found = await answeredInProcess(api.requests.$get());
      const requests = flags.all ? found : found.filter(({ state }) => state === 'pending');
      return print(io, flags, { requests }, () =>
        requests.length === 0
          ? `${flags.all ? 'There is no request.' : 'No request waits.'}\n`
          : requestsText(requests, (subject) => subjectWord(subject, directory), policy.currency, io),
      );
    });
  },
});

const deciding = (verb: 'approve' | 'decline'): Command =>
  command({
    name: `budget ${verb}`,
    about: `${verb === 'approve' ? 'Grants the request: it is live within five seconds.' : 'Declines the request, with a note for the requester.'} A request is decided by another person than its requester.`,
    words: { request: word('<request>', 'its id, from tollgate budget requests') },
    flags: {
      note: text('<text>', verb === 'approve' ? "the approver's note" : 'why not (needed)'),
      actor: ACTOR_FLAG,
      ...BUDGET_FLAGS,
    },
    examples: [`tollgate budget ${verb} r-3f2a --note "as discussed"`],
    exits: { 0: 'decided', 2: 'refused, decided before, or busy' },
    run: async ({ flags, words: { request: id } }, io) => {
      const { note } = flags;
      const json =
        verb === 'decline'
          ? { verdict: verb, note: readReason(note, 'note') }
          : { verdict: verb, ...withoutAbsent({ note }) };
      const actor = readActor(flags, io);
      return withBudget(flags, io, async ({ apiOf }) => {
        const { requests } = apiOf(actor);
        const answer = await answerOf(requests[':id'].decision.$post({ param: { id }, json }));
        if (!answer.ok) {
          const { error, problems } = answer.refused;
          if (problems !== undefined) throw new DocumentError(problems.map(problemText));
          if (flags.json) io.out(`${JSON.stringify({ outcome: error.code, ...answer.refused })}\n`);
          else io.err(`${id}: ${printable(`${error.message} ${error.remedy}`)}\n`);
          return EXIT.wouldReject;
        }
        const { live, ...request } = answer.body;
        const { state: outcome } = request;
        return print(
          io,
          flags,
          { outcome, request, pointer: live },
          () => `${id} ${outcome}${live ? `; it is live in set ${live.set}, edit ${live.edit}` : ''}\n`,
        );
      });
    },
  });

export const commands = [budgetRequests, deciding('approve'), deciding('decline')];

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
  return table(titles, rows, io.columns, paintWhen(io.colours).dim);
}
