import type { SweepReport } from '../../functions/sweep/report.ts';

interface Sweeper {
  /** One more run, after the one that may be under way. */
  once(): Promise<void>;
  /** Ends that it told the ledger first, in all runs. */
  readonly runs: () => number;
  stop(): Promise<void>;
}

/**
 * The schedule. A deployment sweeps every minute; on a clock that runs 600 times as fast that would be ten times a second,
 * so here half an hour passes between two runs. The program is the same.
 */
export const SWEEP_EVERY_MS = 3_000;

export function startSweeper(sweep: () => Promise<SweepReport>, onTrouble: (text: string) => void): Sweeper {
  let runs = 0;
  let last: Promise<void> = Promise.resolve();
  let busy = false;
  const once = (): Promise<void> => {
    last = last.then(async () => {
      busy = true;
      try {
        const { gitlabSilent } = await sweep();
        if (gitlabSilent) onTrouble('sweep: GitLab does not answer, holds stay as they are');
        runs += 1;
      } catch (error) {
        onTrouble(`sweep: ${error instanceof Error ? error.message : String(error)}; the next one goes on`);
      }
      busy = false;
    });
    return last;
  };
  const timer = setInterval(() => {
    if (!busy) void once();
  }, SWEEP_EVERY_MS);
  return {
    once,
    runs: () => runs,
    stop: () => {
      clearInterval(timer);
      return last;
    },
  };
}
