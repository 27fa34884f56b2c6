import { z } from 'zod';
import type { Log } from '../environment/index.ts';
import { keptAnswers } from './kept-answers.ts';
import { readFound } from './rest-answers.ts';
import { type RestCallDeps, restCall } from './rest-call.ts';

/** `anna`; empty: GitLab has no such user any more. Missing: not answered. */
export type UserNames = (userIds: readonly number[]) => Promise<ReadonlyMap<number, string>>;

interface NamesOptions {
  /** Its token may read users. */
  readonly gitlab: RestCallDeps;
  readonly clock: { nowMs(): number; monotonicMs(): number };
  readonly log: Pick<Log, 'warn'>;
}

/** As GitLab bounds them. */
const Answer = z.object({ username: z.string().min(1).max(255) });

/**
 * Reads current user names from GitLab. They are cached in memory for minutes only, so renamed and deleted
 * users disappear here too.
 *
 * @see https://docs.gitlab.com/api/users/#retrieve-a-user
 */
export const userNames = ({ gitlab, ...options }: NamesOptions): UserNames =>
  keptAnswers<string>({ ...options, ask: (id) => nameOf(id, gitlab), unreadable: '', what: 'users' });

async function nameOf(id: number, gitlab: RestCallDeps): Promise<string> {
  const path = `/users/${id}`;
  const answer = await restCall(path, new URLSearchParams(), gitlab);
  if (answer.status === 404) return '';
  const { data } = Answer.safeParse(readFound(path, answer));
  return data?.username ?? '';
}
