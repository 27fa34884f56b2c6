import type { DeployedEvidence, HealthView } from '../answers/health/evidence.ts';
import { HEALTH_ALARM } from '../answers/health/judged.ts';
import type { dynamoHealthLook } from '../answers/health/read-health.ts';
import type { Log } from '../core/environment/environment.ts';
import type { Metrics } from '../core/metrics.ts';
import { METRIC_HEALTH_PROBLEMS } from '../names.ts';

interface LookDeps {
  readonly read: () => Promise<HealthView>;
  readonly deployed: DeployedEvidence;
  readonly kept: Pick<ReturnType<typeof dynamoHealthLook>, 'write'>;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Result of a health check. */
interface LookReport {
  readonly findings: number;
  readonly problems: number;
  /** Problems without another alarm. */
  readonly alarming: number;
}

/**
 * Runs one health check: a line per problem, the metric, zero included, and the stored result. @throws
 * {LedgerError}
 */
export async function look({ read, deployed, kept, metrics, log }: LookDeps): Promise<LookReport> {
  const view = await read();
  const { findings, problems } = view;
  const alarming = findings.filter(({ alarm }) => alarm === HEALTH_ALARM).length;
  for (const { about, severity, text, remedy } of findings)
    if (severity === 'problem' || severity === 'warning')
      log.warn(`health: ${severity}`, { about, found: text, ...(remedy !== undefined && { remedy }) });
  const report = { findings: findings.length, problems, alarming };
  log.info('health', report);
  metrics.add(METRIC_HEALTH_PROBLEMS, alarming);
  metrics.flush();
  await kept.write({ view, deployed });
  return report;
}
