import type { Reading } from '../../document/reading.ts';
import { IMAGE_KEYS, readImageJudge } from '../../images/image-judge.ts';
import type { ServiceRequest } from '../../request/request.ts';
import type { ImageReason } from '../image/image-text.ts';
import type { Check, FieldMissingReason, StatelessRuleKind } from '../rule-kind.ts';
import type { ServiceLimit } from './services-text.ts';

/** A request with more services is not read at all. */
const SERVICES_MAX = 100;
/** A job with more wrong services than this has been told enough. */
const REASONS_MAX = 5;

/** Which services a job may run beside its own container, and how many. */
export const services: StatelessRuleKind<ImageReason | ServiceLimit> = {
  class: 'security',
  keys: [...IMAGE_KEYS, 'max'],
  read: readServices,
  alsoReads: 'services',
};

/**
 * Absent services are none, because GitLab's wire format cannot tell the two apart. The field is missing where it is not
 * known what a service's image will be and only a deny list or `docker_in_docker: false` could tell.
 */
function readServices(reading: Reading): Check<ImageReason | ServiceLimit> {
  const judge = readImageJudge(reading, 'service');
  const max = reading.at('max').isThere
    ? reading.at('max').integer(`how many services, from 0 to ${SERVICES_MAX}`, 0, SERVICES_MAX)
    : undefined;
  if (judge === undefined && !reading.at('max').isThere)
    reading.refuse('has nothing to check; expected allow, deny, tags, max or docker_in_docker: false');
  return ({ request: { services: asked = [] } }) => {
    const reasons: (ImageReason | ServiceLimit | FieldMissingReason)[] = [];
    // First, so that it is told however many images are wrong.
    if (max !== undefined && asked.length > max)
      reasons.push({ code: 'SERVICE_LIMIT', services: asked.length, servicesMax: max });
    for (const image of imagesOf(asked)) {
      if (reasons.length >= REASONS_MAX) break;
      reasons.push(...(judge?.(image) ?? []));
    }
    return reasons.slice(0, REASONS_MAX);
  };
}

/** Each once: an image that comes twice is told once. */
const imagesOf = (asked: readonly ServiceRequest[]): ReadonlySet<string> =>
  new Set(asked.map(({ name }) => name));
