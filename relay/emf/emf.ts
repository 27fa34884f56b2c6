import { emfLine } from '../../functions/core/contract/index.ts';
import type { RelayObserver } from '../events.ts';
import type { RelayClock } from '../exchange.ts';
import { Minute } from './minute.ts';

export { isDeployment } from '../../functions/core/contract/index.ts';

/** CloudWatch's own resolution. */
export const WRITE_EVERY_MS = 60_000;

interface EmfDeps {
  readonly deployment: string;
  readonly clock: RelayClock;
  /** [0, 1) */
  readonly random: () => number;
  /** Writes a line with its end. */
  readonly write: (line: string) => void;
}

export interface EmfWriter {
  readonly observe: RelayObserver;
  /** Once the relay begins to stop: that its streams end is no news any more. */
  leave(): void;
  /** Writes the rest of the last minute; nothing after that. */
  stop(): void;
}

/** Adds up what the relay says and writes it every minute as metrics for CloudWatch. */
export function startEmf({ deployment, clock, random, write }: EmfDeps): EmfWriter {
  const minute = new Minute(random);
  let leaving = false;
  let stopped = false;
  let cancel = (): void => {};

  function writeMinute(): void {
    const measured = minute.take({ leaving });
    const line = emfLine(deployment, clock.nowMs(), measured);
    if (line !== undefined) write(`${line}\n`);
  }

  function plan(): void {
    cancel = clock.after(WRITE_EVERY_MS, () => {
      plan();
      writeMinute();
    });
  }

  plan();
  return {
    observe: (event) => minute.note(event),
    leave: () => {
      leaving = true;
    },
    stop: () => {
      if (stopped) return;
      stopped = true;
      cancel();
      writeMinute();
    },
  };
}
