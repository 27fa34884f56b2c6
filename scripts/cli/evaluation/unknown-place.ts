import type { Directory } from '../../../policies/directory.ts';
import { closest } from '../../../policies/document/reading.ts';
import { UsageError } from '../../terminal/command.ts';

/** @param asked - as it was typed: `--group acme/paymets`. @param known - paths as the directory has them. */
export function notInDirectory(asked: string, text: string, known: Iterable<string>): UsageError {
  const like = closest(text, [...known]);
  const hint = like === undefined ? `expected an id or a path of it` : `did you mean ${like}?`;
  return new UsageError(`${asked}: is not in the directory; ${hint}`);
}

/** Asks jobs about a group, and remembers whether any was of it. */
interface AskedGroup<Job> {
  readonly counts: (job: Job) => boolean;
  readonly check: () => void;
}

/** A group that is gone is known by its jobs alone, and still has statements. */
export function askedGroup<Job>(
  { counts, unknown }: { readonly counts: (job: Job) => boolean; readonly unknown: boolean },
  text: string,
  { groupByPath }: Directory,
): AskedGroup<Job> {
  let seen = !unknown;
  return {
    counts: (job) => {
      const isOf = counts(job);
      seen ||= isOf;
      return isOf;
    },
    check: () => {
      if (!seen) throw notInDirectory(`--group ${text}`, text, groupByPath.keys());
    },
  };
}

/** The flag's word for everything; a group with this name takes precedence. */
export const ALL_GROUPS = 'instance';

export const isAllGroups = (text: string, { groupByPath }: Directory): boolean =>
  text === ALL_GROUPS && !groupByPath.has(ALL_GROUPS);
