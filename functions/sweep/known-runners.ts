import type { SweepRun } from './sweep-run.ts';

/** GitLab lists a hundred runners a page: ten thousand runners. */
const PAGES_MAX = 100;

interface KnownRunners {
  readonly runnerIds: readonly number[];
  /** GitLab listed them all: a runner that is not among them is gone. */
  readonly complete: boolean;
}

/** The instance's runners as GitLab lists them now; if it does not list them all, those known from before as well. */
export async function knownRunners(
  { asking, memory }: SweepRun,
  marked: Iterable<number>,
): Promise<KnownRunners> {
  const runnerIds = new Set<number>();
  let page: string | undefined;
  for (let pages = 1; pages <= PAGES_MAX; pages += 1) {
    const answer = await asking.runners(page);
    if (answer.kind !== 'said') break;
    for (const runnerId of answer.value.runnerIds) runnerIds.add(runnerId);
    page = answer.value.next;
    if (page === undefined) return { runnerIds: [...runnerIds], complete: true };
  }
  for (const runnerId of [...marked, ...memory.runners]) runnerIds.add(runnerId);
  return { runnerIds: [...runnerIds], complete: false };
}
