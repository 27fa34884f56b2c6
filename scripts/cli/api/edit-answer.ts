/** Sends edits of limits to the API and reads the result. */
import { etagOf, outcomeAnswer } from '../../../functions/console/api/edits.ts';
import type { ApplyOutcome } from '../../../functions/core/limits/index.ts';
import { type SetView, setShown } from '../limits/live-set.ts';
import { type ApiAnswer, type ApiClient, answeredInProcess, type answerOf } from './api-in-process.ts';

type EditsCall = ApiClient['limits']['edits']['$post'];
type LiveSetAnswer = Awaited<ReturnType<typeof liveOf>>;

/** One edit as it is sent. */
export type SentEdit = Parameters<EditsCall>[0]['json']['edits'][number];

/** Result of edits. */
export type EditAnswer = Awaited<ReturnType<typeof answerOf<Awaited<ReturnType<EditsCall>>>>>;

/** The header of every call about edits: the set they are of. */
export const ofSet = (set: string | undefined) => ({ 'if-match': etagOf(set) });

/** Undefined: no set was ever live. */
export async function liveSet(api: ApiClient): Promise<SetView | undefined> {
  return setAnswered(await liveOf(api));
}

const liveOf = (api: ApiClient) => answeredInProcess(api.limits.$get());

/** Access to the table shows everything. */
export function setAnswered({ set, edit = 0, atMs = 0, ...change }: LiveSetAnswer): SetView | undefined {
  const { actor = '', why = '', source = '', base } = change;
  if (set === undefined) return undefined;
  return setShown({ set, edit }, { atMs, actor, why, source, ...(base !== undefined && { base }) });
}

/** The same answer to what the desk was asked itself. */
export function answerOfDesk(outcome: ApplyOutcome): EditAnswer {
  const { status, body } = outcomeAnswer(outcome, () => true);
  const answer: ApiAnswer<unknown> =
    status === 200 || status === 202 ? { ok: true, body } : { ok: false, status, refused: body };
  return answer as EditAnswer;
}
