/** The ledger cuts paths that make a record too large, to these lengths: a link made of one may lead nowhere. */
const CUT_LENGTHS: ReadonlySet<number> = new Set([60, 240]);

/** The job's page in GitLab, as far as its address is known. */
export function jobUrl(
  gitlabUrl: string | undefined,
  projectPath: string | undefined,
  jobId: number,
): string | undefined {
  if (gitlabUrl === undefined || projectPath === undefined || CUT_LENGTHS.has(projectPath.length))
    return undefined;
  return `${gitlabUrl}/${projectPath.split('/').map(encodeURIComponent).join('/')}/-/jobs/${jobId}`;
}
