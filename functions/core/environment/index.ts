/** Public exports of this folder; its README lists its promises. */
export {
  atOnce,
  consoleLog,
  type LedgerClock,
  type Log,
  logWith,
  silentLog,
  systemClock,
} from './environment.ts';
export { groupTokens, secretLines, ssmText } from './secrets.ts';
export {
  controllerIdIn,
  type Environment,
  readAdmitConfig,
  readDirectoryConfig,
  readDoctorConfig,
  readDriftConfig,
  readRequeueConfig,
  readRollupConfig,
  readSettleConfig,
  readSweepConfig,
  readWatchdogConfig,
  refuseInvalid,
  unset,
  usageZone,
} from './settings.ts';
