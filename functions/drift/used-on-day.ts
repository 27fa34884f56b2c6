/**
 * Reads a day's use of groups, projects and classes. It descends only into groups with jobs, so a quiet tree
 * is cheap.
 */
import type { Directory } from '../../policies/place/directory.ts';
import { eachRow, packedSums, type Sheet, type SheetKind, sumOfTally, WHOLE } from '../core/sheets/index.ts';
import { formerRootsIn, type RollupStore, type UsageTally } from '../core/usage/index.ts';

interface DayAsk {
  readonly usage: Pick<RollupStore, 'readUsage'>;
  readonly directory: Directory;
  readonly classNames: readonly string[];
  /** As it was packed before: what was in it is looked at again, wherever it has moved since. */
  readonly known: readonly (Sheet | undefined)[];
  /** True to read every personal namespace. */
  readonly withPersonal: boolean;
}

type DaySheets = Readonly<Record<'group' | 'project' | 'class', Pick<Sheet, 'bytes' | 'later' | 'names'>>>;

/** Twenty requests of a hundred keys. */
const PART_KEYS = 2_000;

/** @throws {LedgerError} */
export async function usedOnDay(
  day: string,
  { usage, directory, classNames, known, withPersonal }: DayAsk,
): Promise<DaySheets> {
  const read = async (subjects: ReadonlyMap<number, string>): Promise<Map<number, UsageTally>> => {
    const found = new Map<number, UsageTally>();
    const all = [...subjects];
    for (let from = 0; from < all.length; from += PART_KEYS) {
      const part = all.slice(from, from + PART_KEYS);
      const tallies = await usage.readUsage(part.map(([, subject]) => ({ subject, day })));
      for (const [index, [id]] of part.entries()) {
        const tally = tallies[index];
        if (tally !== undefined && tally.size > 0) found.set(id, tally);
      }
    }
    return found;
  };
  const below = Map.groupBy(directory.groupById.values(), ({ parentId = WHOLE }) => parentId);
  const groups = await read(new Map([[WHOLE, 'instance']]));
  const seen = new Set<number>([WHOLE]);
  let next = [
    ...rowsOf(known, 'group'),
    ...formerRootsIn(groups.get(WHOLE) ?? new Map()),
    ...(below.get(WHOLE) ?? []).filter(({ personal }) => withPersonal || !personal).map(({ id }) => id),
  ].filter((id) => !seen.has(id));
  while (next.length > 0) {
    for (const id of next) seen.add(id);
    const found = await read(new Map(next.map((id) => [id, `group/${id}`])));
    for (const [id, tally] of found) groups.set(id, tally);
    const children = [...found.keys()].flatMap((id) => (below.get(id) ?? []).map((group) => group.id));
    next = [...new Set(children)].filter((id) => !seen.has(id));
  }
  const projectIds = new Set(rowsOf(known, 'project'));
  for (const { id, groupId } of directory.projectById.values()) if (groups.has(groupId)) projectIds.add(id);
  const projects = await read(new Map([...projectIds].map((id) => [id, `project/${id}`])));
  const names = [...new Set([...classNames, ...namesOf(known), ''])];
  const classes = await read(new Map(names.map((name, id) => [id, `runner-class/${name}`])));
  return {
    group: packedTallies(groups),
    project: packedTallies(projects),
    class: { ...packedTallies(classes), names },
  };
}

const packedTallies = (tallies: ReadonlyMap<number, UsageTally>) =>
  packedSums(new Map([...tallies].map(([id, tally]) => [id, sumOfTally(tally)])));

function rowsOf(known: DayAsk['known'], of: SheetKind): readonly number[] {
  const ids: number[] = [];
  for (const sheet of known) if (sheet?.kind === of) eachRow(sheet.bytes, (id) => ids.push(id));
  return ids;
}

const namesOf = (known: DayAsk['known']): readonly string[] =>
  known.flatMap((sheet) => (sheet?.kind === 'class' ? (sheet.names ?? []) : []));
