import type { ExpandedPipeline } from '../cli/pipeline/expanded-pipeline.ts';

/** What people are told about the pipeline that is replayed: how much of it, and what it leaves open. */
export function pipelineFacts(
  path: string,
  { jobs, notFetched }: Pick<ExpandedPipeline, 'jobs' | 'notFetched'>,
): Readonly<Record<string, string>> {
  const ruled = jobs.filter(({ dependsOn }) => dependsOn !== undefined).length;
  return {
    pipeline: `${path}, ${jobs.length} jobs`,
    ...(ruled > 0 && {
      // Sources and branches are drawn by lot here, so no one run of the pipeline is the right one.
      rules: `${ruled} of them depend on rules; each runs as if all that the file leaves open held (see npx tollgate check)`,
    }),
    ...(notFetched.length > 0 && {
      'not read': `${notFetched.length} includes that only GitLab can fetch`,
    }),
  };
}
