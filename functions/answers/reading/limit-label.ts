import { placeOfSubject } from '../../../policies/limits/cap.ts';
import type { Directory } from '../../../policies/place/directory.ts';
import { subjectLabelOf } from './scope.ts';

/** A job that a limit counts. It knows paths that the directory may lack. */
interface LimitedJob {
  readonly rootId?: number;
  readonly groupId?: number;
  readonly projectPath?: string;
}

/**
 * Formats a limit for people: `project/7 money-month` → `acme/payments/checkout money-month`. Ids without a
 * known name stay.
 *
 * @param nameOf - names users, if GitLab can be asked
 */
export function limitLabel(
  limit: string,
  directory: Directory,
  job: LimitedJob = {},
  nameOf = (label: string): string => label,
): string {
  const subject = subjectOfLimit(limit);
  const place = placeOfSubject(subject);
  const label = nameOf(subjectLabelOf(subject, directory));
  const path = subjectLabelOf(place, directory) === place ? pathIn(job, place) : undefined;
  return `${path === undefined ? label : path + label.slice(place.length)}${limit.slice(subject.length)}`;
}

/** `group/101 money-month` → `group/101`. A job's name in it may have blanks, a limit's id has none. */
export const subjectOfLimit = (limit: string): string => limit.slice(0, limit.lastIndexOf(' '));

/** Path of a project or group of the job, if its project path contains it. */
function pathIn({ rootId, groupId, projectPath }: LimitedJob, place: string): string | undefined {
  if (projectPath === undefined) return undefined;
  if (place.startsWith('project/')) return projectPath;
  if (place === `group/${groupId}`) return projectPath.slice(0, projectPath.lastIndexOf('/'));
  return place === `group/${rootId}` ? projectPath.slice(0, projectPath.indexOf('/')) : undefined;
}
