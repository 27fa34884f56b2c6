import type { Exemption } from './match/exemption.ts';
import type { AdmissionRequest } from './request/request.ts';

/**
 * Who runs the controller. A policy that stopped their jobs could not be mended by a deploy, so every rule lets them
 * pass unless it says `binds_platform`. Their jobs are metered like all others.
 */
export interface Platform {
  /** Includes everything below. */
  readonly groups: readonly number[];
  readonly projects: readonly number[];
  /** What their deploy job looks like: validation asks every rule about it. */
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
