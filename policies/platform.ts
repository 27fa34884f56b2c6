import type { Exemption } from './match/match.ts';
import type { AdmissionRequest } from './request/request.ts';

/** Rules let the controller's own jobs pass, so that a bad policy can be repaired by a deploy. */
export interface Platform {
  readonly groups: readonly number[];
  readonly projects: readonly number[];
  readonly job: Omit<AdmissionRequest, 'jobId'>;
}

export const NO_PLATFORM: Platform = { groups: [], projects: [], job: {} };

const REASON = 'platform';

export function platformExemptions({ groups, projects }: Platform): readonly Exemption[] {
  const exemptions: Exemption[] = [];
  if (groups.length > 0)
    exemptions.push({ conditions: { groups: groups.map((id) => ({ id, subtree: true })) }, reason: REASON });
  if (projects.length > 0)
    exemptions.push({ conditions: { projects: projects.map((id) => ({ id })) }, reason: REASON });
  return exemptions;
}
