import type { KnownInstance } from '../../../functions/core/ledger/index.ts';
import { ENV_GITLAB_INSTANCE } from '../../../functions/names.ts';
import { PLAYED_GITLAB } from '../../local/options.ts';
import { UsageError } from '../../terminal/command.ts';
import type { LedgerPlace } from './ledger-flags.ts';

/** The opened instance. */
export interface NamedBooks {
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  /** The GitLab it is about, a host: begins every key. */
  readonly instance: string;
  /** GitLab's address, if stored. */
  readonly gitlabUrl?: string;
}

interface InstanceAsked {
  /** As the flag or the environment says it. */
  readonly told: string | undefined;
  /** Address of the GitLab that the command asks; undefined if it asks none, or if --instance names its books. */
  readonly gitlab: string | undefined;
  /** Stored instances. */
  readonly known: readonly KnownInstance[];
  readonly kind: LedgerPlace['kind'];
  /** For people: the ledger. */
  readonly where: string;
}

type Books = Omit<KnownInstance, 'openedAtMs'>;

/** The command asks a GitLab whose books are not in this ledger. */
export class NoBooksOfGitLab extends UsageError {}

/**
 * Chooses the books that a command reads: those of the GitLab it asks, those it names, or the latest.
 *
 * @throws {UsageError} with the names and the remedy, {NoBooksOfGitLab} where all books are those of other GitLabs.
 */
export function whichInstance(asked: InstanceAsked): Books {
  const { gitlab, known, where } = asked;
  if (gitlab === undefined) return namedOrLatest(asked);
  const { hostname } = new URL(gitlab);
  const own = known.filter((books) => isBooksOf(books, hostname));
  const chosen = known.length > 0 && own.length === 0 ? undefined : namedOrLatest({ ...asked, known: own });
  if (chosen !== undefined && isBooksOf(chosen, hostname)) return chosen;
  const others = chosen === undefined ? known : [chosen];
  throw new NoBooksOfGitLab(
    `--gitlab "${gitlab}": ${where} has books of ${namesOf(others)}, and none of ${hostname}; name the table of ${hostname} with --ledger, or say --instance ${others[0]?.instance} if both are one GitLab`,
  );
}

const namesOf = (books: readonly Books[]): string => books.map(({ instance }) => instance).join(' and ');

/** A GitLab may have been renamed: its keys keep the old host, and `gitlabUrl` has the new one. */
const isBooksOf = ({ instance, gitlabUrl }: Books, hostname: string): boolean =>
  hostname === instance || (gitlabUrl !== undefined && hostname === new URL(gitlabUrl).hostname);

function namedOrLatest({ told, known, kind, where }: InstanceAsked): Books {
  const names = namesOf(known);
  if (told !== undefined) {
    const found = known.find(({ instance }) => instance === told);
    // Books from before names were remembered.
    if (found !== undefined || known.length === 0) return found ?? { instance: told };
    throw new UsageError(
      `--instance "${told}": ${where} has books of ${names}, and none of ${told}; leave --instance (and $${ENV_GITLAB_INSTANCE}) away, or say --instance ${known[0]?.instance}`,
    );
  }
  const [latest, ...others] = known.toSorted((a, b) => b.openedAtMs - a.openedAtMs);
  if (kind === 'local') return latest ?? { instance: PLAYED_GITLAB };
  if (latest !== undefined && others.length === 0) return latest;
  throw new UsageError(
    latest === undefined
      ? `--instance is missing: expected the GitLab that ${where} is about, e.g. gitlab.example.com`
      : `--instance is missing: ${where} has books of ${names}; expected one of them`,
  );
}
