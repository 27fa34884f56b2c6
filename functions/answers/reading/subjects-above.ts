import { subjectKey } from '../../../policies/limits/limits.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import type { PlacedGroup } from '../../../policies/place/placement.ts';

/** The groups a subject stands in, topmost first, a group itself last; empty for what stands in none. */
export function placedChainOf(
  subject: string,
  { chainById, projectById }: Directory,
): readonly PlacedGroup[] {
  const [kind, id] = subject.split('/');
  if (kind === 'group') return chainById.get(Number(id)) ?? [];
  const groupId = kind === 'project' ? projectById.get(Number(id))?.groupId : undefined;
  return groupId === undefined ? [] : (chainById.get(groupId) ?? []);
}

/** Closest first, the instance last, without itself. */
export function subjectsAbove(subject: string, directory: Directory): readonly string[] {
  if (subject === 'instance') return [];
  const groups = placedChainOf(subject, directory)
    .map(({ id }) => subjectKey({ kind: 'group', id }))
    .filter((each) => each !== subject);
  return [...groups.reverse(), 'instance'];
}
