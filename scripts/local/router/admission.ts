import type { RouterClock } from '../clock/clock.ts';
import type { AdmitStream } from './admit-stream.ts';
import type { Controllers } from './controllers.ts';
import type { AskResult, JobResult, RouterCounters } from './counters.ts';
import type { WaitingStreams } from './waiting-streams.ts';

/** The decision about one job, as GitLab sees it. */
export interface AdmissionResult {
  readonly result: JobResult;
  /** The message for the job page when rejected, the failure when failed. */
  readonly reason?: string;
  /** The controller that stopped the job. */
  readonly controllerId?: number;
  readonly perController: readonly ControllerResult[];
  readonly latencyMs: number;
}

interface ControllerResult {
  readonly controllerId: number;
  /** Recorded, and without effect on the job. */
  readonly dryRun: boolean;
  readonly result: AskResult;
  readonly reason?: string;
  readonly latencyMs: number;
}

interface AdmissionParts {
  readonly controllers: Controllers;
  readonly streamsOf: (controllerId: number) => WaitingStreams<AdmitStream>;
  readonly counters: RouterCounters;
  readonly clock: RouterClock;
  /** Time that a job waits for an idle stream. */
  readonly findTimeoutMs: number;
  /** Controllers may be scoped to runners. */
  readonly runnerId?: number | undefined;
}

/** GitLab's own words when no controller is connected. */
const NOT_FOUND = 'Agent connection not found';

/**
 * Sends the request to every applicable controller, one after another, until an enabled one stops the job. The answer
 * of a dry-run controller is only recorded.
 */
export async function admitJob(question: Uint8Array, parts: AdmissionParts): Promise<AdmissionResult> {
  const startedMs = parts.clock.monotonicMs();
  const perController: ControllerResult[] = [];
  const applicable = parts.controllers.applicable(parts.runnerId);
  for (const { id, state } of applicable) {
    const asked = await askController(question, id, state === 'dry_run', parts);
    perController.push(asked);
    if (asked.dryRun || asked.result === 'admitted') continue;
    return finish(asked.result, asked);
  }
  return finish(applicable.length === 0 ? 'disabled' : 'admitted');

  function finish(result: JobResult, stoppedBy?: ControllerResult): AdmissionResult {
    parts.counters.job_router_admission_control_total[result] += 1;
    return {
      result,
      ...(stoppedBy?.reason !== undefined && { reason: stoppedBy.reason }),
      ...(stoppedBy !== undefined && { controllerId: stoppedBy.controllerId }),
      perController,
      latencyMs: parts.clock.monotonicMs() - startedMs,
    };
  }
}

async function askController(
  question: Uint8Array,
  controllerId: number,
  dryRun: boolean,
  parts: AdmissionParts,
): Promise<ControllerResult> {
  const startedMs = parts.clock.monotonicMs();
  const stream = await parts.streamsOf(controllerId).take(parts.findTimeoutMs);
  if (stream !== undefined) parts.counters.streams.asked += 1;
  const outcome = (await stream?.ask(question)) ?? { result: 'lost' as const, reason: NOT_FOUND };
  const result = outcome.result === 'lost' ? 'failed' : outcome.result;
  parts.counters.job_router_admission_control_requests_total[result][dryRun ? 'true' : 'false'] += 1;
  return {
    controllerId,
    dryRun,
    result,
    ...('reason' in outcome && { reason: outcome.reason }),
    latencyMs: parts.clock.monotonicMs() - startedMs,
  };
}
