const FOLDERS: Readonly<Record<string, string>> = {
  group: 'groups',
  project: 'projects',
  'runner-class': 'runner-classes',
};

/** Subjects without a page lead to the history. */
export function subjectPagePath(subject: string): string {
  if (subject === 'instance') return '/instance';
  const slash = subject.indexOf('/');
  const folder = FOLDERS[subject.slice(0, slash)];
  return folder === undefined ? '/history' : `/${folder}/${encodeURIComponent(subject.slice(slash + 1))}`;
}

export const jobPagePath = (jobId: number): string => `/jobs/${jobId}`;

export function shadowPagePath(subject: string): string {
  const [, kind, id] = /^(group|project)\/(\d+)$/.exec(subject) ?? [];
  return kind === undefined ? '/shadow' : `/shadow?${kind}=${id}`;
}

export const historyPagePath = (subject: string): string => `/history?subject=${encodeURIComponent(subject)}`;

export const REQUESTS_PAGE = '/requests';
export const BREAK_GLASS_PAGE = '/break-glass';

/** @param origin - `https://budget.example.com`; undefined if the deployment has no console: then there are no links. */
export const linkTo = (origin: string | undefined, path: string): string | undefined =>
  origin === undefined ? undefined : `${origin}${path}`;
