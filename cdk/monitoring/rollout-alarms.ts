/** Alarms that take a new version of a function back while it gets a tenth of the calls. */
import type { AlarmRow } from './admission-alarms.ts';
import type { RolledOut } from './series.ts';

const RUNBOOK = 'A rollout that was taken back';
/** Per cent of all answers, for a version that has a tenth of them. */
const SHARE_MAX = 5;
const REJECTED = '100 * FILL(rejected, 0) / requests';

const errors = (name: string, formula: string): AlarmRow => ({
  ...{ name, formula, runbook: RUNBOOK, label: 'Failed calls of the new version' },
  says: 'The new version fails.',
  periodMinutes: 1,
  periods: [2, 5],
});

export const ROLLOUT_ROWS: Readonly<Record<RolledOut, readonly AlarmRow[]>> = {
  admit: [
    errors('AdmitRollout', 'admitRolloutErrors'),
    {
      ...{ name: 'AdmitRolloutFallback', runbook: RUNBOOK, periodMinutes: 1, periods: [2, 5] },
      says: `More than ${SHARE_MAX} % of the answers came without the ledger while a new version rolled out.`,
      formula: 'IF(requests > 0, 100 * fallbackAnswers / requests, 0)',
      label: 'Answers without the ledger, % of requests',
      breach: ['above', SHARE_MAX],
    },
    {
      ...{ name: 'AdmitRolloutRejections', runbook: RUNBOOK, periodMinutes: 1 },
      says: `The share of rejected jobs is more than ${SHARE_MAX} points above that of the last hour.`,
      // The hour is the alarm's range; only its last five minutes count, or a jump would hold deployments back for an hour.
      formula: `IF(requests >= 20 && EPOCH(requests) > MAX(EPOCH(requests)) - 300, ${REJECTED} - AVG(${REJECTED}), 0)`,
      label: 'Rejected jobs, points above the hour',
      breach: ['above', SHARE_MAX],
      periods: [3, 60],
    },
  ],
  settle: [errors('SettleRollout', 'settleRolloutErrors')],
  // A broken page is answered.
  console: [errors('ConsoleRollout', 'FILL(consoleRolloutErrors, 0) + FILL(consoleBroken, 0)')],
};
