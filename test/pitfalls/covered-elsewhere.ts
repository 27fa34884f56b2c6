/** A pitfall that a test beside its code proves. */
export interface Covered {
  readonly pitfall: string;
  /** From `test/`. */
  readonly file: string;
  /** The test's name or table row, as it stands in the file. */
  readonly test: string;
}

const at = (pitfall: string, file: string, test: string): Covered => ({ pitfall, file, test });

const SETTLE = 'functions/core/truth/settle-truths.test.ts';
const HOLD = 'functions/core/ledger/hold.test.ts';
const LEAKS = 'functions/sweep/leaks.test.ts';
const STREAMS = 'relay/streams/faults.integ.test.ts';
const CALL = 'relay/admit/forward.test.ts';

export const COVERED_ELSEWHERE: readonly Covered[] = [
  at(
    'finished before the admit returns',
    SETTLE,
    'finished before its admission returned: the admission stands, and it is charged once',
  ),
  at(
    'Lambda times out after the commit',
    HOLD,
    'a caller that heard nothing may ask anew: it finds the first decision',
  ),
  at(
    'Lambda times out after the commit',
    HOLD,
    'fault 7: an answer that was lost after the write is found again: same answer, counters move once',
  ),
  at(
    'webhook off for 3 days',
    LEAKS,
    'webhook off for 3 days: every hold settles at GitLab’s duration, in lists of a hundred',
  ),
  at(
    'rejected by another controller after our admission',
    LEAKS,
    'rejected by another controller after our admission: released, though GitLab shows a start and a duration',
  ),
  at('runner_provisioning_timeout', LEAKS, 'runner_provisioning_timeout'),
  at(
    'runner dies',
    LEAKS,
    'runner dies: the hold stays while GitLab says running, and is charged what GitLab counts in the end',
  ),
  at(
    'a project deleted (404)',
    LEAKS,
    'project deleted (404): expires once due, and by setting is charged %s',
  ),
  at(
    'API token expired',
    LEAKS,
    'API token expired: nothing is freed, the run stops after a few tries and says so, and later all is made good',
  ),
  at(
    'sweep and webhook at the same moment',
    LEAKS,
    'sweep and webhook at the same moment: whoever comes second finds it done, and both count it once',
  ),
  at(
    'a price typo of 1000 times',
    'policies/prices/prices.test.ts',
    'a price typo of 1000 times is refused, with the class, both rates and the way out',
  ),
  at(
    'a price typo of 1000 times',
    'scripts/cli/policy/diff-prices.test.ts',
    'a price that is more than five times another one ends with 2 and says which class, from and to',
  ),
  at(
    'settle next month',
    'functions/core/ledger/contract.ts',
    'a job admitted in the last millisecond of a period settles there, weeks later',
  ),
  at(
    'Lambda cold',
    'relay/commit/group-commit.test.ts',
    'a second batch starts 250 ms after the first, and never a third',
  ),
  at(
    'Lambda 5xx',
    CALL,
    'fault 5: $step again and again: as many tries as the deadline has room for, then undecided, nothing quoted',
  ),
  at(
    'Lambda 5xx',
    'flow/outage.integ.test.ts',
    'while the function is down jobs run unmetered, and are charged when it is back',
  ),
  at('Lambda timeout', CALL, 'fault 5: $guarantee, and not asked again'),
  at(
    'Lambda timeout',
    'relay/commit/group-commit.test.ts',
    'a job whose time ran out in the queue is answered in time and not sent',
  ),
  at(
    'malformed documents of an editing surface',
    'functions/core/limits/publish-limits.test.ts',
    'an invalid document is refused as a whole and changes nothing',
  ),
  at(
    'malformed documents of an editing surface',
    'functions/core/limits/limit-store.test.ts',
    'a new set that cannot be read whole does not take effect in part',
  ),
  at(
    'SSM throttled',
    'functions/core/environment/secret-lines.test.ts',
    'while they cannot be read the last ones go on for an hour, asked for again every ten seconds at most',
  ),
  at(
    'relay restart with requests in flight',
    'flow/relay-killed.integ.test.ts',
    'fault 9: a relay killed after the ledger committed charges nobody twice, and its successor answers the same',
  ),
  at(
    'GitLab restart',
    STREAMS,
    'fault 4: a router that is down over %s and comes back on its port is found again',
  ),
  at(
    'stream half-open',
    STREAMS,
    'fault 3: a black hole under %s is noticed by keepalive, and healed without a restart',
  ),
  at(
    'a shadow rule throws',
    'policies/evaluate.property.test.ts',
    'a rule that only watches rejects nobody, also when it throws, in the function and in the relay',
  ),
];
