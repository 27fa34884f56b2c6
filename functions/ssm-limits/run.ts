/** One invocation: a change event imports its parameter; the schedule imports all whose events were lost. */

import type { Directory } from '../../policies/directory.ts';
import { isRecord } from '../../policies/document/reading.ts';
import type { Log } from '../core/environment/environment.ts';
import type { Metrics } from '../core/metrics.ts';
import { METRIC_LIMITS_UNREADABLE } from '../names.ts';
import { type ImportDeps, importParameter, isSameVersion } from './import-parameter.ts';

interface RunDeps extends ImportDeps {
  readonly directory: () => Promise<Directory | undefined>;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A started import ends after it; the function has 290 s. */
const RUN_MS = 200_000;
const LINES_MAX = 20;

/** A run that fails counts like a refused parameter, so that the same alarm reports it. */
export async function runOn(event: unknown, deps: RunDeps): Promise<void> {
  const { path, log, metrics, clock } = deps;
  let refused = 0;
  const refuse = (parameter: string, version: number | undefined, problems: readonly string[]): void => {
    refused += 1;
    // Logged in every run until it is corrected or deleted, so that the alarm stays on.
    if (refused <= LINES_MAX)
      log.error('parameter refused, its last valid version stays', { parameter, version, problems });
  };
  try {
    const directory = await deps.directory();
    if (directory === undefined) {
      log.error('no parameter is imported: GitLab’s groups were never listed, so no path can be compared');
      refused = 1;
      return;
    }
    const endsAtMs = clock.monotonicMs() + RUN_MS;
    const { groups, misnamed } = await toImport(event, deps);
    for (const name of misnamed)
      refuse(name, undefined, [`ends with no group's id; expected a name such as ${path}/101`]);
    let imported = 0;
    let left = groups.length;
    for (const group of groups) {
      if (clock.monotonicMs() >= endsAtMs) break;
      left -= 1;
      const result = await importParameter(group, directory, deps);
      if (result.outcome === 'imported') imported += 1;
      if (result.outcome === 'refused') refuse(`${path}/${group}`, result.version, result.problems);
    }
    log.info('limits from parameters', { imported, refused, left });
  } catch (error) {
    refused = 1;
    const cause = error instanceof Error ? error.message : String(error);
    log.error('limits in Parameter Store not read, the last valid ones stay', { cause });
    throw error;
  } finally {
    if (refused > 0) metrics.add(METRIC_LIMITS_UNREADABLE, refused);
    metrics.flush();
  }
}

/** Nothing of an event but its name is used: it may be late or out of order. */
async function toImport(event: unknown, { path, parameters, imported }: ImportDeps) {
  const detail = isRecord(event) && event.source === 'aws.ssm' && isRecord(event.detail) ? event.detail : {};
  const changed = typeof detail.name === 'string' ? detail.name : '';
  if (changed.startsWith(`${path}/`)) {
    const group = groupOf(changed, path);
    return group === undefined ? { groups: [], misnamed: [changed] } : { groups: [group], misnamed: [] };
  }
  const [listed, known] = await Promise.all([parameters.list(path), imported.readAll()]);
  const byGroup = new Map(listed.map((each) => [groupOf(each.name, path), each]));
  const groups = new Set([...byGroup.keys(), ...known.keys()]);
  return {
    groups: [...groups].flatMap((group) =>
      group === undefined || isSameVersion(byGroup.get(group), known.get(group)) ? [] : group,
    ),
    misnamed: listed.flatMap(({ name }) => (groupOf(name, path) === undefined ? name : [])),
  };
}

/** `/tollgate/prod/limits/101`: 101. GitLab's ids begin with 1 and have no zeros before them. */
function groupOf(name: string, path: string): number | undefined {
  const last = name.slice(path.length + 1);
  const group = Number(last);
  return /^[1-9]\d{0,15}$/.test(last) && Number.isSafeInteger(group) ? group : undefined;
}
