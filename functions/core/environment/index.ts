/** Public exports of this folder; its README lists its promises. */
export { atOnce } from './at-once.ts';
export { groupTokens } from './group-tokens.ts';
export { consoleLog, type LedgerClock, type Log, logWith, silentLog, systemClock } from './machine.ts';
export { secretLines } from './secret-lines.ts';
export { controllerIdIn, type Environment, refuseInvalid, unset } from './settings.ts';
export { ssmText } from './ssm-text.ts';
