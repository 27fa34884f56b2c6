/** What others may use of this folder; its README says what it promises. */
export {
  ALERT_CHANNELS,
  ALERT_MEASURES,
  type AlertedLevel,
  type AlertMark,
  type AlertMarkStore,
  type ChannelOutcome,
  dynamoAlertMarks,
} from './alert-marks.ts';
export { type AnnounceCrossingsDeps, announceCrossings } from './announce-crossings.ts';
export { KnownCrossings } from './announced.ts';
export { forecastLevelsOf, OVERDRAFT, thresholdLevelsOf } from './level.ts';
export { limitOf } from './limit-of.ts';
