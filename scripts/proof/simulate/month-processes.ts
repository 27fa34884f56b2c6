/** The product's processes over one table: two admit functions behind two relays, settlement with the sweep, and an auditor. */
import type { DecideDeps, Rules } from '../../../functions/core/admission/index.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type Ledger } from '../../../functions/core/ledger/index.ts';
import type { HandClock } from '../../local/clock/hand-clock.ts';
import { seededRandom } from '../../local/seeded-random.ts';
import { type Admissions, type AdmissionsWatch, twoRelays } from './admissions.ts';
import { ledgerEnds, type SimulatedEnds } from './ends.ts';
import type { ExpectedAnswers } from './expected-answers.ts';
import type { EditionInForce } from './in-force.ts';
import type { Parts } from './parts.ts';
import type { SimulatedGitLab } from './simulated-gitlab.ts';
import type { WatchedStore } from './watched-store.ts';

interface MonthProcessesDeps {
  readonly seed: number;
  readonly parts: Parts;
  readonly store: WatchedStore;
  readonly clock: HandClock;
  readonly inForce: EditionInForce;
  readonly gitlab: SimulatedGitLab;
  readonly answers: ExpectedAnswers;
  readonly letGoOn: AdmissionsWatch['letGoOn'];
}

interface MonthProcesses {
  readonly relays: Admissions;
  readonly ends: SimulatedEnds;
  /** One more process. */
  readonly newLedger: () => Ledger;
}

export function monthProcesses(deps: MonthProcessesDeps): MonthProcesses {
  const { seed, parts, store, clock, inForce, gitlab, answers, letGoOn } = deps;
  const table = parts.table(store);
  let tokens = 0;
  const newToken = (): string => {
    tokens += 1;
    return `t${tokens}`;
  };
  // Each its own numbers; the workload, the limits and the table's faults have the first ones.
  let drawn = 2;
  const newRandom = (): (() => number) => {
    drawn += 1;
    return seededRandom(seed + drawn);
  };
  const newLedger = (): Ledger =>
    parts.ledger(createLedger({ store: table, clock, random: newRandom(), newToken }), clock);
  const currentRules = async (): Promise<Rules> => parts.rules(inForce.now.rules);
  const newFunction = (): DecideDeps => ({ ledger: newLedger(), currentRules, clock, log: silentLog });
  const relays = twoRelays({
    functions: [newFunction(), newFunction()],
    clock,
    inForce,
    random: newRandom(),
    watch: {
      asking: (jobs) => {
        const expected = answers.before(jobs, clock.nowMs());
        const faults = store.faults;
        return (outcomes) => answers.after(expected, outcomes, store.faults > faults);
      },
      letGoOn,
    },
  });
  const ends = ledgerEnds({ ledger: newLedger(), gitlab, clock, currentRules });
  return { relays, ends, newLedger };
}
