import type { JobEnd, Ledger } from '../../../functions/core/ledger/index.ts';
import type { Clock } from '../../local/clock/clock.ts';

/** As it is deployed: each shard hands over so many ends, or what came within so long. */
const BATCH = 100;
const WINDOW_MS = 1_000;
/** A shard stands for a partition, and a job from question to end writes about twelve units besides the index. */
const SHARD_JOBS_PER_SECOND = 80;
/** An empty shard is looked at again, and an end that was not taken comes again. */
const PAUSE_MS = 100;

interface ModelledStream {
  /** The job ended: one of the shards hands it over. */
  push(end: JobEnd): void;
  stop(): void;
}

/** The table's stream with one reader for each shard, as many as the load has partitions. */
export function modelledStream(deps: {
  readonly newLedger: () => Pick<Ledger, 'settle'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: () => number;
  readonly jobsPerSecond: number;
  readonly onSettled?: (ends: number) => void;
}): ModelledStream {
  const { clock, random, jobsPerSecond, onSettled } = deps;
  const shards = Array.from({ length: Math.ceil(jobsPerSecond / SHARD_JOBS_PER_SECOND) }, (): JobEnd[] => []);
  let stopped = false;
  const read = async (ends: JobEnd[]): Promise<void> => {
    const ledger = deps.newLedger();
    while (!stopped) {
      if (ends.length === 0) await clock.sleep(PAUSE_MS * (0.5 + random()));
      else if (ends.length < BATCH) await clock.sleep(WINDOW_MS);
      const batch = ends.splice(0, BATCH);
      if (batch.length === 0) continue;
      const outcomes = await ledger.settle(batch);
      onSettled?.(outcomes.filter((outcome) => outcome === 'applied').length);
      const again = batch.filter((_, index) => outcomes[index] === 'undecided');
      if (again.length > 0) await clock.sleep(PAUSE_MS);
      ends.unshift(...again);
    }
  };
  for (const ends of shards) void read(ends);
  return {
    push: (end) => void shards[Math.floor(random() * shards.length)]?.push(end),
    stop: () => {
      stopped = true;
    },
  };
}
