/** Writes a note in a merge request with the token of the group that agreed to it. A failure is an outcome, and tried again by a later run. */
import type { LedgerClock } from '../core/environment/index.ts';
import { GitLabError, keepNote, type OwnNote, type RestCallDeps } from '../core/gitlab/index.ts';

type NoteOutcome =
  | { readonly outcome: 'kept' }
  /** It may or may not be written; who tries again finds it. */
  | {
      readonly outcome: 'failed';
      readonly why: string;
      readonly status?: number;
      /** GitLab wants to be left alone for so long. */
      readonly retryAfterMs?: number;
    };

/** @param endMs - on the monotonic clock: nothing is asked of GitLab after it. */
export type NoteWriter = (
  groupId: number,
  note: OwnNote,
  text: string,
  endMs: number,
) => Promise<NoteOutcome>;

interface NoteWriterDeps extends Pick<RestCallDeps, 'fetch' | 'random' | 'timeout'> {
  readonly gitlabUrl: string;
  /** Undefined: the group gave none, or it cannot be read. */
  readonly tokenOf: (groupId: number) => Promise<string | undefined>;
  readonly clock: LedgerClock;
}

const TIMEOUT_MS = 4_000;
const DEADLINE_MS = 8_000;

export const noteWriter =
  ({ gitlabUrl, tokenOf, clock, fetch, ...rest }: NoteWriterDeps): NoteWriter =>
  async (groupId, note, text, endMs) => {
    const token = await tokenOf(groupId);
    if (token === undefined) return { outcome: 'failed', why: "the group's token cannot be read" };
    const inTime: typeof fetch = (input, init) =>
      clock.monotonicMs() < endMs ? fetch(input, init) : Promise.reject(new Error('the run is over'));
    try {
      await keepNote(text, note, {
        ...{ baseUrl: gitlabUrl, token: async () => token, fetch: inTime, clock, ...rest },
        ...{ timeoutMs: TIMEOUT_MS, deadlineMs: DEADLINE_MS },
      });
      return { outcome: 'kept' };
    } catch (error) {
      if (!(error instanceof GitLabError)) throw error;
      const { code, status, retryAfterMs } = error;
      return {
        ...{ outcome: 'failed', why: code },
        ...(status !== undefined && { status }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    }
  };
