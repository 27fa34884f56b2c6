/** API calls of the rollout commands. */
import type { RolloutRow, RolloutView } from '../../../functions/answers/rollout/model.ts';
import { EXIT, type ExitCode, type TerminalIo, UsageError } from '../../terminal/command.ts';
import { type ApiClient, answeredInProcess } from '../api/api-in-process.ts';
import type { BudgetContext } from '../api/open-api.ts';
import { subjectOfWord } from '../budget/subject-word.ts';

const PAGE_ROWS = '100';

/** Reads all rows. */
export async function wholeRollout(api: ApiClient): Promise<RolloutView> {
  let page = await answeredInProcess(api.rollout.$get({ query: { max: PAGE_ROWS } }));
  const rows = [...page.rows];
  while (page.next !== undefined) {
    page = await answeredInProcess(api.rollout.$get({ query: { max: PAGE_ROWS, cursor: page.next } }));
    rows.push(...page.rows);
  }
  return { ...page, rows };
}

/** Returns the named rows. @throws {UsageError} if one does not exist. */
export async function namedRows(
  words: readonly string[],
  api: ApiClient,
  { directory }: Pick<BudgetContext, 'directory'>,
): Promise<readonly RolloutRow[]> {
  const rows: RolloutRow[] = [];
  for (const word of words) {
    const subject = subjectOfWord(word, directory);
    const view = await answeredInProcess(api.rollout.$get({ query: { subject } }));
    const [row] = view.rows;
    if (row === undefined)
      throw new UsageError(`"${word}": no group or project that can be rolled out; see tollgate rollout`);
    rows.push(row);
  }
  return rows;
}

/** Groups, or `--all` and none. @throws {UsageError} */
export function readWhich(words: readonly string[], all: boolean): readonly string[] | 'all' {
  if (all && words.length > 0) throw new UsageError(`--all "${words[0]}": expected no group beside it`);
  if (!all && words.length === 0) throw new UsageError('expected a group, or --all');
  return all ? 'all' : words;
}

interface Refusable {
  readonly ok: boolean;
  readonly status: number;
  json(): Promise<unknown>;
}

/** Prints a refusal; undefined: accepted. */
export async function toldRefusal(
  response: Refusable,
  json: boolean,
  io: TerminalIo,
): Promise<ExitCode | undefined> {
  if (response.ok || ![403, 409, 412, 428].includes(response.status)) return undefined;
  const body = (await response.json()) as {
    readonly error: { readonly message: string; readonly remedy: string };
    readonly lockout?: readonly string[];
  };
  if (json) io.out(`${JSON.stringify(body)}\n`);
  else io.err([`${body.error.message} ${body.error.remedy}`, ...(body.lockout ?? []), ''].join('\n'));
  return EXIT.wouldReject;
}
