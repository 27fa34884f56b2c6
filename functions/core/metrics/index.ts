/** What others may use of this folder; its README says what it promises. */
export { deployedMetrics, type Metrics } from './metrics.ts';
