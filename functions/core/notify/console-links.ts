/** Where the console shows what a message is about. A deployment without an address of the console has no links. */

const FOLDERS: Readonly<Record<string, string>> = {
  group: 'groups',
  project: 'projects',
  'runner-class': 'runner-classes',
};

/** Path of a subject's page, as the console has it; what has no page of its own stands in the history. */
export function subjectPagePath(subject: string): string {
  if (subject === 'instance') return '/instance';
  const slash = subject.indexOf('/');
  const folder = FOLDERS[subject.slice(0, slash)];
  return folder === undefined ? '/history' : `/${folder}/${encodeURIComponent(subject.slice(slash + 1))}`;
}

/** What happened to one job, and why. */
export const jobPagePath = (jobId: number): string => `/jobs/${jobId}`;

/** What only watches would have rejected, below a group or of a project. */
export function shadowPagePath(subject: string): string {
  const [, kind, id] = /^(group|project)\/(\d+)$/.exec(subject) ?? [];
  return kind === undefined ? '/shadow' : `/shadow?${kind}=${id}`;
}

export const historyPagePath = (subject: string): string => `/history?subject=${encodeURIComponent(subject)}`;

export const REQUESTS_PAGE = '/requests';
export const BREAK_GLASS_PAGE = '/break-glass';

/** @param origin - `https://budget.example.com`; undefined: there is no console. */
export const linkTo = (origin: string | undefined, path: string): string | undefined =>
  origin === undefined ? undefined : `${origin}${path}`;
