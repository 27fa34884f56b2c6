/** `TOLLGATE_TEST_RUNS=full`: properties run as often as they can say something new. Otherwise as `npm test` has time for. */
export const FULL = process.env.TOLLGATE_TEST_RUNS === 'full';
const SHARE = 5;

/** How often a property of many or long runs is tried: `full` times, or a fifth of that. */
export const propertyRuns = (full: number): number => (FULL ? full : Math.ceil(full / SHARE));
