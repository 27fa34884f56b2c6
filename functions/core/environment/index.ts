/** What others may use of this folder; its README says what it promises. */

export { type LedgerClock, systemClock } from './clock.ts';
export { consoleLog, type Log, logWith, silentLog } from './log.ts';
export { secretLines } from './secret-lines.ts';
export { type Environment, refuseInvalid, unset } from './settings.ts';
export { ssmText } from './ssm-text.ts';
