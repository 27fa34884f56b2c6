import type { Reason } from '../reason.ts';
import type { AdmissionRequest } from '../request.ts';
import type { ImageRule } from '../rule.ts';

/** A job with more forbidden images than this has been told enough. */
const REASONS_MAX = 5;

/**
 * Which container images a job may run; the same image is told once. An absent image is a missing field; absent
 * services are none, because GitLab's wire format cannot tell the two apart.
 */
export function image(rule: ImageRule, request: AdmissionRequest): readonly Reason[] {
  const reasons: Reason[] = [];
  if (rule.check.includes('image')) {
    const reason = request.image === undefined ? IMAGE_MISSING : rule.refuse(request.image);
    if (reason !== undefined) reasons.push(reason);
  }
  if (!rule.check.includes('services') || request.services === undefined) return reasons;
  for (const { name } of request.services) {
    const reason = rule.refuse(name);
    // Reasons are remembered per image, so an image that comes twice has the same one.
    if (reason !== undefined && !reasons.includes(reason) && reasons.length < REASONS_MAX)
      reasons.push(reason);
  }
  return reasons;
}

const IMAGE_MISSING: Reason = { code: 'FIELD_MISSING', field: 'image' };
