import type { FleetListing, MannedRunner } from './read-fleet.ts';
import { registrationOf } from './runner-findings.ts';

/** Steps of one runner's migration; each requires the previous. */
export type MigrationStep =
  /** GitLab makes a runner like it, with an authentication token. */
  | 'create'
  /** The new token has to get into the configuration of every manager, by hand. */
  | 'install'
  /** Some managers still work under the old token: the new runner was heard, and fewer managers use it. */
  | 'finish'
  /** Everything works under the new token: the old runner takes no more jobs. */
  | 'pause'
  /** Nothing uses the old one any more; deleting it is left to people. */
  | 'delete';

export interface RunnerMove {
  readonly from: MannedRunner;
  readonly step: MigrationStep;
  /** Absent: it is not made yet. */
  readonly to?: MannedRunner;
}

/** In the new runner's maintenance note: a later call finds by it what an earlier one made. */
export const successorNote = (runnerId: number): string => `tollgate: in place of runner ${runnerId}`;

/**
 * Lists runners to register again: those with a registration token, and `named` ones of unknown origin.
 *
 * @param named - runner ids; empty: all.
 */
export function migrationsOf({ runners }: FleetListing, named: ReadonlySet<number>): readonly RunnerMove[] {
  const successors = new Map<string, MannedRunner>();
  for (const each of runners)
    if (registrationOf(each) !== 'registration_token')
      successors.set(each.runner.maintenanceNote?.split('\n')[0] ?? '', each);
  return runners.flatMap((from): readonly RunnerMove[] => {
    const isNamed = named.has(from.runner.id);
    const isMeant = named.size === 0 ? registrationOf(from) === 'registration_token' : isNamed;
    if (!isMeant || registrationOf(from) === 'authentication_token') return [];
    const to = successors.get(successorNote(from.runner.id));
    return [{ from, step: stepOf(from, to), ...(to !== undefined && { to }) }];
  });
}

function stepOf(from: MannedRunner, to: MannedRunner | undefined): MigrationStep {
  if (to === undefined) return 'create';
  if (from.runner.paused) return 'delete';
  const heard = new Set(to.managers.map(({ systemId }) => systemId));
  if (heard.size === 0) return 'install';
  // A manager keeps its system id under the new token. Those that were not heard for a week do not count.
  const left = from.managers.filter(({ status, systemId }) => status !== 'stale' && !heard.has(systemId));
  return left.length > 0 ? 'finish' : 'pause';
}
