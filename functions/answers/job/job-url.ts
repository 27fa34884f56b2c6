import type { Directory } from '../../../policies/place/directory.ts';

/** The ledger cuts paths that make a record too large, to these lengths: a link made of one may lead nowhere. */
const CUT_LENGTHS: ReadonlySet<number> = new Set([60, 240]);

/** The job's page in GitLab, as far as its address is known: a path of the directory is whole. */
export function reportJobUrl(
  gitlabUrl: string | undefined,
  {
    jobId,
    projectId,
    projectPath,
  }: { readonly jobId: number; readonly projectId?: number; readonly projectPath?: string },
  { projectById }: Directory,
): string | undefined {
  const known = projectId === undefined ? undefined : projectById.get(projectId)?.path;
  const recorded = projectPath !== undefined && CUT_LENGTHS.has(projectPath.length) ? undefined : projectPath;
  const path = known || recorded;
  if (gitlabUrl === undefined || path === undefined || path === '') return undefined;
  return `${gitlabUrl}/${path.split('/').map(encodeURIComponent).join('/')}/-/jobs/${jobId}`;
}
