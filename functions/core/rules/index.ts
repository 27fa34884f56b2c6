/** Public exports of this folder; its README lists its promises. */
export { readAdmitConfig } from './config.ts';
export { deployedRules } from './deployed-rules.ts';
export { type LimitsInForce, type RulesFile, readPackedPrices, readPackedRules } from './rules-file.ts';
export { type RulesInForce, rulesInForce } from './rules-in-force.ts';
