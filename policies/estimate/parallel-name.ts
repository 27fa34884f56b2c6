/** `rspec 3/50`, and `build: [linux, arm64]` as GitLab names the jobs of `parallel` and of its matrix. */
const SUFFIX = /(?: \d{1,3}\/\d{1,3}|: \[[^[\]]*\])$/;

/** The name all jobs of one `parallel` share; undefined where there is no such suffix. */
export function withoutParallelSuffix(jobName: string): string | undefined {
  const short = jobName.replace(SUFFIX, '');
  return short === jobName || short === '' ? undefined : short;
}
