/** The console beside a run: when it starts, what it is loaded with, and what people are told of it. */

import type { Rules } from '../../functions/admit/decide.ts';
import type { RulesInForce } from '../../functions/admit/rules-in-force.ts';
import { isRecord } from '../../policies/document/reading.ts';
import type { LimitSet } from '../../policies/limits/limits.ts';
import { readYaml } from '../policy/yaml-document.ts';
import type { FastClock } from './fast-clock.ts';
import type { LocalLedger } from './ledger-source.ts';
import type { StartOptions } from './options.ts';
import { startUsageCounter } from './usage-counter.ts';

export interface RunConsole {
  /** Puts it on the ledger, with a month before today if one was asked for. @returns what to tell people */
  open(ledger: LocalLedger, rulesFor: RulesInForce['rulesFor']): Promise<Readonly<Record<string, string>>>;
  readonly url: string;
  /** Waits until all jobs are counted in what it shows of the past. */
  counted(): Promise<void>;
  stop(): Promise<void>;
}

/** Undefined: nobody is there to look at it. */
export async function startRunConsole(
  options: StartOptions,
  rules: Rules,
  clock: FastClock,
  onTrouble: (text: string) => void,
): Promise<RunConsole | undefined> {
  if (options.router !== undefined || options.json) return undefined;
  // Whoever runs without it does not wait for its parts to load.
  const { startLocalConsole } = await import('./local-console.ts');
  const { policy, limits, directory } = rules;
  const { value } = readYaml(options.limitsFile);
  const zone = zoneOf(limits);
  const limitsDocument = isRecord(value) ? value : {};
  const served = await startLocalConsole({
    policy,
    directory,
    limits,
    limitsDocument,
    zone,
    clock,
    onTrouble,
  });
  let counted = async (): Promise<void> => {};
  return {
    url: served.url,
    counted: () => counted(),
    stop: served.stop,
    async open(ledger, rulesFor) {
      const people = served.people.map(({ username }) => username);
      const facts = { console: served.url, 'sign in': `as ${people.join(', ')}; no password` };
      const startCounting = () => startUsageCounter({ ledger, directory, zone, clock, onTrouble });
      if (!options.console || directory === undefined) {
        counted = startCounting().idle;
        served.open(ledger);
        return facts;
      }
      const { loadPastMonth, PAST_DAYS } = await import('./past-month.ts');
      const { jobIds } = await loadPastMonth({ ledger, rulesFor, directory, nowMs: clock.nowMs() });
      // All of them at once: day by day would write the same items again and again.
      const usage = startCounting();
      usage.written(jobIds);
      counted = usage.idle;
      await counted();
      served.open(ledger);
      const loaded = jobIds.length === 0 ? 'there already' : `${jobIds.length} made-up jobs`;
      return { ...facts, loaded: `the ${PAST_DAYS} days before today: ${loaded}` };
    },
  };
}

/** The days of usage begin where periods do. */
function zoneOf({ bySubject }: LimitSet): string {
  const limits = [...bySubject.values()].flat();
  return limits.find(({ per, zone }) => per === 'month' && zone !== 'UTC')?.zone ?? 'UTC';
}
