import { type Directory, pathKey } from '../../../../policies/place/directory.ts';
import { SUBJECTS_EXPECTED } from '../desk/subject-text.ts';
import type { Cells } from './columns.ts';
import type { CellRefusal } from './edit-entry.ts';
import { pathOf } from './export-limits.ts';
import { entryPlaceOf } from './placed-entries.ts';

/**
 * Finds the subject whose limit a row is. Ids decide and paths are labels: a path that nobody has any more belonged to a
 * group that was renamed since the export. A path that is somebody else's is a mistake.
 */
export function subjectOfRow(
  cells: Cells,
  directory: Directory | undefined,
  refuse: CellRefusal,
): string | undefined {
  const { subject = '', group_id: id = '', group_path: path = '' } = cells;
  if (id !== '' && !/^[1-9]\d{0,14}$/.test(id))
    return refuse('group_id', `'${id}'; expected GitLab's id of the group`);
  if (subject !== '' && entryPlaceOf(subject) === undefined)
    return refuse('subject', `'${subject}'; expected ${SUBJECTS_EXPECTED}`);
  if (subject !== '' && id !== '' && subject !== `group/${id}`)
    return refuse('subject', `'${subject}', but group_id is ${id}; leave one of them empty`);
  const named = subject === '' && id !== '' ? `group/${id}` : subject;
  if (named === '') return path === '' ? refuse('group_id', 'is empty; expected whose limit it is') : found();
  if (path !== '' && isOthers(named)) return undefined;
  return named;

  function found(): string | undefined {
    if (directory === undefined)
      return refuse('group_path', `'${path}': paths are not known here; give group_id`);
    const group = directory.groupByPath.get(pathKey(path));
    if (group !== undefined) return `group/${group.id}`;
    return refuse('group_path', `'${path}': no group has this path; correct it, or give group_id`);
  }

  function isOthers(name: string): boolean {
    if (!/^(?:group|project)\//.test(name)) {
      refuse('group_path', `'${path}', but subject is ${name}; leave one of them empty`);
      return true;
    }
    const byPath = name.startsWith('group/') ? directory?.groupByPath : directory?.projectByPath;
    const other = byPath?.get(pathKey(path));
    if (other === undefined || `${name.split('/')[0]}/${other.id}` === name) return false;
    const own = pathOf(name, directory);
    const is = own === undefined ? '' : `, which is ${own}`;
    refuse('group_path', `'${path}' is ${name.split('/')[0]}/${other.id}, but the row is about ${name}${is}`);
    return true;
  }
}
