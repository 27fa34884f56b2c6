/** The product's processes over one table: two admit functions behind two relays, settlement with the sweep, and an auditor. */
import type { DecideDeps, Rules } from '../../../functions/core/admission/index.ts';
import { silentLog } from '../../../functions/core/environment/index.ts';
import { createLedger, type Ledger } from '../../../functions/core/ledger/index.ts';
import type { HandClock } from '../../local/clock.ts';
import { seededRandom } from '../../local/random.ts';
import { type Admissions, type AdmissionsWatch, twoRelays } from './admissions.ts';
import { ledgerEnds, type SimulatedEnds } from './ends.ts';
import type { ExpectedAnswers } from './expected-answers.ts';
import type { ExpectedWaits } from './expected-waits.ts';
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
  readonly waits: ExpectedWaits;
  readonly letGoOn: AdmissionsWatch['letGoOn'];
}

interface MonthProcesses {
  readonly relays: Admissions;
  readonly ends: SimulatedEnds;
  /** One more process. */
  readonly newLedger: () => Ledger;
}

export function monthProcesses(deps: MonthProcessesDeps): MonthProcesses {
  const { seed, parts, store, clock, inForce, gitlab, answers, waits, letGoOn } = deps;
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
    waiting: parts.waiting,
    watch: {
      asking: (relay, jobs, terms) => {
        const turnOf = (jobId: number) => waits.turnOf(relay, jobId, terms);
        const expected = answers.before(jobs, clock.nowMs(), turnOf);
        const faults = store.faults;
        const askedAtMs = clock.nowMs();
        return (outcomes) => {
          answers.after(expected, outcomes, store.faults > faults);
          expected.forEach(({ job, decision, isRepeated, waitMs }, index) => {
            const outcome = outcomes[index]?.outcome;
            if (outcome === 'waiting')
              waits.waits(relay, job, { askedAtMs, counters: decision.refusedBy, leftMs: waitMs });
            if (outcome === 'admitted' && !isRepeated) waits.admitted(relay, job, decision.ask);
          });
        };
      },
      answered: (relay, answer) => waits.answered(relay, answer),
      gone: (relay, jobId) => waits.gone(relay, jobId),
      letGoOn,
    },
  });
  const ends = ledgerEnds({ ledger: newLedger(), gitlab, clock, currentRules });
  return { relays, ends, newLedger };
}
