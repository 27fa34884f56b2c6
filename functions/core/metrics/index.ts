/** Public exports of this folder; its README lists its promises. */
export { deployedMetrics, type Metrics } from './metrics.ts';
