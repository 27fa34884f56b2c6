/** What others may use of this folder; its README says what it promises. */
export { type AnnounceCrossingsDeps, announceCrossings } from './announce-crossings.ts';
export { KnownCrossings } from './announced.ts';
export { forecastLevelsOf, OVERDRAFT, thresholdLevelsOf } from './level.ts';
export { limitOf } from './limit-of.ts';
