/** A project as the directory knows it. */
export interface PipelineProject {
  readonly id: number;
  /** `group/subgroup/project`. */
  readonly path: string;
  readonly namespaceId: number;
  readonly rootNamespaceId: number;
  /** @default 'private' */
  readonly visibility?: string;
}

/** One pipeline of one project: what its jobs have in common. */
export interface PipelineRun {
  readonly project: PipelineProject;
  readonly pipelineId: number;
  readonly source: string;
  readonly ref: string;
  readonly refProtected: boolean;
  readonly sha: string;
  readonly userId: number;
}

/** People who start pipelines; few enough that the same ones come again. */
const USERS = 24;
const SOURCES = [
  'push',
  'push',
  'push',
  'merge_request_event',
  'merge_request_event',
  'schedule',
  'web',
] as const;

export function newPipelineRun(
  project: PipelineProject,
  pipelineId: number,
  random: () => number,
): PipelineRun {
  const source = pick(SOURCES, random);
  const onMain = source === 'schedule' || random() < 0.4;
  return {
    project,
    pipelineId,
    source,
    ref: onMain ? 'main' : `feature/${Math.floor(random() * 900) + 100}`,
    refProtected: onMain,
    sha: hex(40, random),
    userId: 1_000 + Math.floor(random() * USERS),
  };
}

/** One of a list that is not empty. */
export function pick<T>(from: readonly T[], random: () => number): T {
  const one = from[Math.floor(random() * from.length)];
  if (one === undefined) throw new Error('nothing to pick from: the list is empty');
  return one;
}

const hex = (length: number, random: () => number): string =>
  Array.from({ length }, () => Math.floor(random() * 16).toString(16)).join('');
