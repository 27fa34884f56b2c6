/** Which projects of a group, or of the instance, cost most on a day: a bounded list per day, of totals. */
import type { Log } from '../environment/index.ts';
import type { Consistency } from '../ledger/index.ts';
import type { UsageChange } from './apply-records.ts';
import { type RollupStore, readAt, type TopProjects } from './rollup-store.ts';
import { type UsageKey, usageName } from './usage.ts';

/** Pages show twenty; the others wait in case one above them shrinks. */
const TOP_MAX = 50;
const TRIES_MAX = 3;
const PROJECT = 'project/';

interface TopDeps {
  readonly store: RollupStore;
  readonly log: Log;
}

/**
 * Puts the totals of the projects that changed into the lists of everything above them. Totals, not differences: doing it
 * twice changes nothing. A project that fell off the list comes back with its next job; until then the end of the list,
 * never the totals in it, may be wrong. Nothing fails here.
 */
export async function updateTopProjects(
  changes: readonly UsageChange[],
  { store, log }: TopDeps,
): Promise<void> {
  let lists = listsOf(changes);
  try {
    for (let tries = 1; tries <= TRIES_MAX && lists.length > 0; tries += 1)
      lists = await updateOnce(lists, readAt(tries), store);
    if (lists.length > 0) log.warn('top projects not updated', { lists: lists.length, error: 'contended' });
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    log.warn('top projects not updated', { lists: lists.length, error: name });
  }
}

/** A list and the projects in it that changed. */
interface ChangedList {
  readonly key: UsageKey;
  readonly projectIds: ReadonlySet<number>;
}

async function updateOnce(
  lists: readonly ChangedList[],
  consistency: Consistency,
  store: RollupStore,
): Promise<readonly ChangedList[]> {
  // The lists first: a total read later is never older than one that is in the list already.
  const tops = await store.readTop(
    lists.map(({ key }) => key),
    consistency,
  );
  const keys = new Map<string, UsageKey>();
  for (const { key, projectIds } of lists)
    for (const id of projectIds) keys.set(...named({ subject: `${PROJECT}${id}`, day: key.day }));
  const tallies = await store.readUsage([...keys.values()]);
  const totals = new Map(
    [...keys.keys()].map((name, index) => {
      const tally = tallies[index];
      return [name, (tally?.get('settledMicros') ?? 0) + (tally?.get('heldMicros') ?? 0)];
    }),
  );
  const left: ChangedList[] = [];
  for (const [index, list] of lists.entries()) {
    const top = tops[index];
    if (top === undefined) continue;
    const after = withTotals(
      top,
      [...list.projectIds].map((projectId) => ({
        projectId,
        micros: totals.get(usageName({ subject: `${PROJECT}${projectId}`, day: list.key.day })) ?? 0,
      })),
    );
    if (JSON.stringify(after.projects) === JSON.stringify(top.projects)) continue;
    if (!(await store.writeTop(after))) left.push(list);
  }
  return left;
}

/** Most first; what costs nothing is not listed. Pure. */
function withTotals(top: TopProjects, totals: TopProjects['projects']): TopProjects {
  const all = new Map([...top.projects, ...totals].map(({ projectId, micros }) => [projectId, micros]));
  const projects = [...all]
    .map(([projectId, micros]) => ({ projectId, micros }))
    .filter(({ micros }) => micros > 0)
    .sort((a, b) => b.micros - a.micros || a.projectId - b.projectId)
    .slice(0, TOP_MAX);
  return { ...top, projects };
}

function listsOf(changes: readonly UsageChange[]): readonly ChangedList[] {
  const lists = new Map<string, { readonly key: UsageKey; readonly projectIds: Set<number> }>();
  for (const { day, subjects } of changes.flatMap(({ before, after }) =>
    before ? [before, after] : [after],
  )) {
    const project = subjects.find((subject) => subject.startsWith(PROJECT));
    if (project === undefined) continue;
    for (const subject of subjects) {
      if (subject !== 'instance' && !subject.startsWith('group/')) continue;
      const [name, key] = named({ subject, day });
      const list = lists.get(name) ?? { key, projectIds: new Set() };
      lists.set(name, list);
      list.projectIds.add(Number(project.slice(PROJECT.length)));
    }
  }
  return [...lists.values()];
}

const named = (key: UsageKey): [string, UsageKey] => [usageName(key), key];
