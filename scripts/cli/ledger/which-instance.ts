import type { KnownInstance } from '../../../functions/core/ledger/index.ts';
import { ENV_GITLAB_INSTANCE } from '../../../functions/names.ts';
import { PLAYED_GITLAB } from '../../local/whose-jobs.ts';
import { UsageError } from '../../terminal/command.ts';
import type { LedgerFlags, LedgerPlace } from './ledger-flags.ts';

/** Whose books were opened. */
export interface NamedBooks {
  /** For people: `table tollgate-ledger`. */
  readonly description: string;
  /** The GitLab it is about, a host: begins every key. */
  readonly instance: string;
  /** Where that GitLab answers, if the ledger remembers it. */
  readonly gitlabUrl?: string;
}

interface InstanceAsked {
  /** As the flag or the environment says it. */
  readonly told: string | undefined;
  /** What the ledger remembers. */
  readonly known: readonly KnownInstance[];
  readonly kind: LedgerPlace['kind'];
  /** For people: the ledger. */
  readonly where: string;
}

/**
 * The GitLab whose books are meant. Under another name everybody would find empty books and believe them, so a name that the
 * ledger does not know is refused. Several on one machine: those that were written to last.
 *
 * @throws {UsageError} with the names and the remedy.
 */
export function whichInstance({
  told,
  known,
  kind,
  where,
}: InstanceAsked): Omit<KnownInstance, 'openedAtMs'> {
  const names = known.map(({ instance }) => instance).join(' and ');
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

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Refuses to compare books with another GitLab than theirs: every job of the one would be missing in the other.
 *
 * @throws {UsageError} unless the hosts agree, or the flag says that this GitLab is the one of these books.
 */
export function checkSameGitLab(
  baseUrl: string,
  { instance, gitlabUrl, description }: NamedBooks,
  flags: Pick<LedgerFlags, 'instance'>,
): void {
  const { hostname } = new URL(baseUrl);
  const own = gitlabUrl === undefined ? instance : new URL(gitlabUrl).hostname;
  if (flags.instance !== undefined || hostname === instance || hostname === own || LOOPBACK.test(hostname))
    return;
  throw new UsageError(
    `--gitlab "${baseUrl}": ${description} is about ${instance}; say --gitlab https://${own}, or --instance ${instance} if ${hostname} is another address of the same GitLab`,
  );
}
